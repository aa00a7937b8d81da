"""Kubernetes, as the suite sees it: pods that share the home, and pods that the task is handed to.

PADDOCK_TEST_K8S names the kubeconfig of a cluster of tests/cluster/kubernetes.py; where its node has containers,
PADDOCK_TEST_K8S_IMAGE names their image. Until `start_worker` the engine is away, and what is submitted waits; a
worker's slots are the room that the node has.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from paddock.queue import engine
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.show.view import Entry
from paddock.record.layout import Home
from paddock.work.launch.engines import launcher
from paddock.work.launch.tending import tend
from tests.cluster.apiserver import make_room, remove
from tests.cluster.kubelet import ADDRESS, in_containers
from tests.conformance.backend import LOST, PAUSE, QUICK, REQUEUE, Backend
from tests.waiting import DEADLINE, until

KUBECONFIG = os.environ.get("PADDOCK_TEST_K8S", "")
IMAGE = os.environ.get("PADDOCK_TEST_K8S_IMAGE", "")
HOST = ADDRESS if IMAGE else "127.0.0.1"  # what a pod reaches this machine by
_LOOK_SECONDS = 0.5
_TIMES = 4  # what a worker would have: pods take a while to come
# What takes room. How many processors it has a kubelet knows better than we, but not how many accelerators.
ROOM = ("--gpus", "1") if IMAGE else ("--cpus", "1")


class KubernetesBackend(Backend):
    """Pods that see the home run a worker for one task each."""

    name = "kubernetes"
    capabilities = frozenset({PAUSE, LOST, REQUEUE})  # the order in which they start is the scheduler's

    def __init__(self, program: Any, home: Home) -> None:
        super().__init__(program, home)
        self.config = KUBECONFIG
        self.mark = secrets.token_hex(3)
        self._away = home.path.parent / "away.kubeconfig"
        nobody = {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}
        context = {"cluster": "nowhere", "user": "nobody", "namespace": "default"}
        config = {
            "clusters": [{"name": "nowhere", "cluster": nobody}],
            "users": [{"name": "nobody", "user": {"token": "none"}}],
            "contexts": [{"name": "test", "context": context}],
        }
        self._away.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "test", **config}))
        self._looked = 0.0
        self._here(False)
        self._url = self._make_url()

    def _make_url(self) -> str:
        self._claim("home", str(self.home.path))
        return self._with(f"home=home-{self.mark}:{self.home.path}")

    def _claim(self, name: str, path: str) -> None:
        """A directory of this machine, as a claim that pods can name."""
        about = {"metadata": {"name": f"{name}-{self.mark}"}}
        room = {"storage": "1Gi"}
        common = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            **about,
            "spec": {**common, "capacity": room, "hostPath": {"path": path}},
        }
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            **about,
            "spec": {**common, "resources": {"requests": room}, "volumeName": f"{name}-{self.mark}"},
        }
        for one in (volume, claim):
            self.kubectl("create", "-f", "-", given=json.dumps(one))
        # A pod that comes before is put aside by the scheduler, for up to a minute.
        phase = ("get", "pvc", f"{name}-{self.mark}", "-o", "jsonpath={.status.phase}")
        until(lambda: self.kubectl(*phase) == "Bound", pause=0.1)

    def _with(self, *options: str) -> str:
        program = os.path.join(os.path.dirname(sys.executable), "paddock")
        where = ["image=tests/none:1", f"program={program}"]
        if IMAGE:  # what the tests' tasks write is looked for here
            self._claim("work", str(self.program.cwd))
            quick = ",".join(f"{key}={value}" for key, value in QUICK.items())  # all who share a home agree on these
            where = [f"image={IMAGE}", "pull=Never", f"volumes=work-{self.mark}:{self.program.cwd}", f"env={quick}"]
        return "k8s://test/default?" + "&".join([*where, *options])

    @property
    def url(self) -> str:
        return self._url

    @property
    def queue(self) -> DirectoryQueue:
        return find_queue(self.url, self.home)

    def kubectl(self, *arguments: str, given: str = "") -> str:
        argv = ["kubectl", f"--kubeconfig={self.config}", *arguments]
        return subprocess.run(argv, input=given, check=True, capture_output=True, text=True).stdout

    def _here(self, here: bool) -> None:
        self.here = here
        self.program.environment["KUBECONFIG"] = self.config if here else str(self._away)

    def close(self) -> None:
        if self.queue.exists():
            remove(self.config, f"paddock.dev/queue={self._identity()}")
        super().close()

    def _identity(self) -> str:
        with contextlib.suppress(OSError):
            return (self.queue.path / ".k8s-queue").read_text().strip()
        return "none"

    # Tasks

    def _one(self, command: str, options: tuple[str, ...]) -> str:
        # A check runs in the pod, beside the work of others: it takes no room.
        room = () if "--chk" in options else ROOM
        return super()._one(command, (*options, *room))

    def grid(self, word: str, count: int, command: str) -> list[str]:
        found = self.program(
            *("submit", "-q", "--no-snapshot", *ROOM, "-Q", self.url, "--grid", f"{word}=0..{count - 1}"),
            *("--", command),
        )
        assert found.code == 0, found.err
        return list(found.out.split())

    def look(self) -> dict[str, Entry]:
        """Whoever looks sees to it."""
        if self.here and time.monotonic() - self._looked > _LOOK_SECONDS:
            with self._cluster():
                found = tend(self.queue, launcher(engine.parse(self.url), self.home), "k8s")
            assert found.trouble is None, found.trouble
            self._looked = time.monotonic()
        return super().look()

    @contextlib.contextmanager
    def _cluster(self) -> Iterator[None]:
        before = os.environ.get("KUBECONFIG")
        os.environ["KUBECONFIG"] = self.config
        try:
            yield
        finally:
            os.environ.pop("KUBECONFIG")
            if before is not None:
                os.environ["KUBECONFIG"] = before

    # Workers

    def start_worker(self, *options: str) -> Any:
        slots = int(options[options.index("--slots") + 1]) * _TIMES if "--slots" in options else 1
        make_room(self.config, **({"gpus": slots} if IMAGE else {"cpus": slots}))
        self._here(True)
        self.look()

    def lives(self, pid: str) -> bool:
        """In a container it has a number of its own."""
        return in_containers(pid) if IMAGE else super().lives(pid)

    def _pods(self) -> list[str]:
        return self.kubectl("get", "pods", "-l", f"paddock.dev/queue={self._identity()}", "-o", "name").split()

    def kill_worker(self, worker: Any) -> None:
        """The node is gone, and its pod with it. Somebody had seen it run: an old server says nothing of it later."""
        self.until(lambda: "active" in {entry.state for entry in self.look().values()})
        self.kubectl("delete", *self._pods(), "--grace-period=0", "--force")

    def stop_worker(self, worker: Any) -> None:
        """The Job is taken away: its pod has its time to give the task back."""
        self._here(False)
        jobs = self.kubectl("get", "jobs", "-l", f"paddock.dev/queue={self._identity()}", "-o", "name").split()
        self.kubectl("delete", *jobs, "--cascade=foreground", "--wait=true", f"--timeout={DEADLINE:.0f}s")
        self.until(lambda: not self._pods())


class HandedOverBackend(KubernetesBackend):
    """Pods that see nothing of ours: tasks travel in ConfigMaps, and runs through a server."""

    name = "kubernetes-handed-over"
    capabilities = frozenset({LOST})  # what a pod has begun cannot be held; it says what became of it when it has ended

    def _make_url(self) -> str:
        with socket.socket() as one:
            one.bind((HOST, 0))
            address = f"{HOST}:{one.getsockname()[1]}"
        self._server = self.program.start("serve", "--address", address, start_new_session=True)
        token = self.home.path / "server" / "token"
        until(token.exists)
        data = json.dumps({"stringData": {"token": token.read_text().strip()}, "kind": "Secret", "apiVersion": "v1"})
        secret = {**json.loads(data), "metadata": {"name": f"token-{self.mark}"}}
        self.kubectl("create", "-f", "-", given=json.dumps(secret))
        return self._with(f"server=http://{address}", f"token=token-{self.mark}/token")

    def _one(self, command: str, options: tuple[str, ...]) -> str:
        return super()._one(f"cd {self.program.cwd}\n{command}", options)

    def grid(self, word: str, count: int, command: str) -> list[str]:
        return super().grid(word, count, f"cd {self.program.cwd}; {command}")

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._server.send_signal(signal.SIGINT)
            self._server.communicate(timeout=DEADLINE)

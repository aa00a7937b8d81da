"""A node of Kubernetes without containers: it registers itself, runs the command of each pod that the scheduler gives
it as a local process, and reports how that goes. For tests: images are names and nothing else.

    NODE_SERVER=https://... NODE_TOKEN=... python -m tests.cluster.node DIRECTORY NAME GPUS

Volumes are directories that are bound to their paths in a mount namespace of the pod's own, so it wants root. An image
named `no/such...` cannot be pulled. What a pod printed is served as a kubelet does it, so that `kubectl logs` works.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.cluster.apiserver import MERGE, Server, room
from tests.cluster.nodelogs import serve

BEAT_SECONDS = 5.0
_OVERDUE = {"reason": "DeadlineExceeded", "message": "Pod was active on the node longer than the specified deadline"}


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Pod:
    """One pod: a thread that runs it from its volumes to its end."""

    def __init__(self, node: Node, spec: dict[str, Any]) -> None:
        self.node, self.spec = node, spec
        about = spec["metadata"]
        self.uid, self.name, self.namespace = about["uid"], about["name"], about["namespace"]
        self.directory = node.directory / self.uid
        self.log = self.directory / "log"
        self.over = threading.Event()
        self.ending = threading.Event()
        self.process: subprocess.Popen[bytes] | None = None
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"

    def end(self, grace: float) -> None:
        """The pod was deleted."""
        if self.ending.is_set():
            return
        self.ending.set()
        threading.Thread(target=self._end, args=(grace,), daemon=True).start()

    def _end(self, grace: float) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGTERM)
            if not self.over.wait(grace):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
        self.over.wait(5)
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
        with contextlib.suppress(OSError):
            self.node.server.call("DELETE", self.path, {"apiVersion": "v1", "kind": "DeleteOptions", **options})

    def _run(self) -> None:
        container = self.spec["spec"]["containers"][0]
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            if container["image"].startswith("no/such"):
                self._wait_in_vain(container)
                return
            mounts = self._mounts(container)
            environment = self._environment(container)
            if mounts is None or environment is None or self.ending.is_set():
                return
            self._work(container, mounts, environment)
        except Exception as error:
            print(f"{self.name}: {error!r}", flush=True)
        finally:
            self.over.set()

    def _wait_in_vain(self, container: dict[str, Any]) -> None:
        for word, message in (
            (
                "ErrImagePull",
                f'rpc error: code = NotFound desc = failed to pull image "{container["image"]}": not found',
            ),
            ("ImagePullBackOff", f'Back-off pulling image "{container["image"]}"'),
        ):
            self._report("Pending", container, {"waiting": {"reason": word, "message": message}})
            if self.ending.wait(1.0):
                return

    def _environment(self, container: dict[str, Any]) -> dict[str, str] | None:
        keep = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}
        for one in container.get("envFrom", ()):
            keep |= self._secret(one["secretRef"]["name"], container) or {}
        for one in container.get("env", ()):
            if "valueFrom" in one:
                reference = one["valueFrom"]["secretKeyRef"]
                found = self._secret(reference["name"], container)
                if found is None:
                    return None
                keep[one["name"]] = found[reference["key"]]
            else:
                keep[one["name"]] = one.get("value", "").replace("$$(", "$(")
        return keep

    def _secret(self, name: str, container: dict[str, Any]) -> dict[str, str] | None:
        found = self._wait_for(
            f"/api/v1/namespaces/{self.namespace}/secrets/{name}", container, f'secret "{name}" not found'
        )
        return (
            {k: base64.b64decode(v).decode() for k, v in found.get("data", {}).items()} if found is not None else None
        )

    def _wait_for(self, path: str, container: dict[str, Any], message: str) -> dict[str, Any] | None:
        said = False
        while not self.ending.is_set():
            try:
                found: dict[str, Any] = self.node.server.call("GET", path)
                return found
            except urllib.error.HTTPError as error:
                error.close()
                if not said:
                    reason = "CreateContainerConfigError" if "/secrets/" in path else "ContainerCreating"
                    self._report("Pending", container, {"waiting": {"reason": reason, "message": message}})
                    said = True
            self.ending.wait(0.05)  # a kubelet has a watch for it
        return None

    def _mounts(self, container: dict[str, Any]) -> list[tuple[str, str]] | None:
        """(directory here, path in the pod)."""
        sources: dict[str, str] = {}
        for volume in self.spec["spec"].get("volumes", ()):
            own = self.directory / "volumes" / volume["name"]
            own.mkdir(parents=True, exist_ok=True)
            sources[volume["name"]] = str(own)
            if "configMap" in volume:
                name = volume["configMap"]["name"]
                found = self._wait_for(f"/api/v1/namespaces/{self.namespace}/configmaps/{name}", container, name)
                if found is None:
                    return None
                for key, text in found.get("data", {}).items():
                    (own / key).write_text(text)
                for key, text in found.get("binaryData", {}).items():
                    (own / key).write_bytes(base64.b64decode(text))
            elif "persistentVolumeClaim" in volume:
                sources[volume["name"]] = self._claimed(volume["persistentVolumeClaim"]["claimName"])
        message = self.directory / "message"
        message.touch()
        wanted = [(sources[one["name"]], one["mountPath"]) for one in container.get("volumeMounts", ())]
        return [*wanted, (str(message), container.get("terminationMessagePath", "/dev/termination-log"))]

    def _claimed(self, claim: str) -> str:
        found = self.node.server.call("GET", f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims/{claim}")
        volume = self.node.server.call("GET", f"/api/v1/persistentvolumes/{found['spec']['volumeName']}")
        return str(volume["spec"]["hostPath"]["path"])

    def _work(self, container: dict[str, Any], mounts: list[tuple[str, str]], environment: dict[str, str]) -> None:
        lines = ["set -e"]
        for source, target in mounts:
            if os.path.realpath(source) != os.path.realpath(target):
                make = f"mkdir -p {shlex.quote(target)}" if os.path.isdir(source) else f"touch {shlex.quote(target)}"
                lines += [make, f"mount --bind {shlex.quote(source)} {shlex.quote(target)}"]
        argv = [*container.get("command", ()), *container.get("args", ())]
        lines.append(f"exec {shlex.join(argv)}")
        began = now()
        limit = self.spec["spec"].get("activeDeadlineSeconds")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", "\n".join(lines)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=container.get("workingDir") or self.directory,
                start_new_session=True,
            )
        if self.ending.is_set():  # deleted while it was begun
            os.killpg(self.process.pid, signal.SIGTERM)
        self._report("Running", container, {"running": {"startedAt": began}})
        overdue = False
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            overdue = True
            self._report("Failed", container, {"running": {"startedAt": began}}, _OVERDUE)  # as a kubelet does it
            code = self._kill(self.spec["spec"].get("terminationGracePeriodSeconds", 30))
        message = (self.directory / "message").read_bytes()[:4096].decode("utf-8", "replace")
        if not message and code and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
            message = self.log.read_bytes()[-2048:].decode("utf-8", "replace")
        ended = {
            "exitCode": code if code >= 0 else 128 - code,
            "reason": "Completed" if code == 0 else "Error",
            "message": message,
            "startedAt": began,
            "finishedAt": now(),
        }
        phase = "Succeeded" if code == 0 and not overdue else "Failed"
        self._report(phase, container, {"terminated": ended}, _OVERDUE if overdue else {})

    def _kill(self, grace: float) -> int:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            return self.process.wait(grace)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()

    def _report(
        self, phase: str, container: dict[str, Any], state: dict[str, Any], about: dict[str, str] | None = None
    ) -> None:
        ready = "running" in state
        status = {
            "phase": phase,
            **(about or {}),
            "startTime": now(),
            "hostIP": "127.0.0.1",
            "podIP": "127.0.0.1",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [
                {
                    "name": container["name"],
                    "state": state,
                    "ready": ready,
                    "restartCount": 0,
                    "image": container["image"],
                    "imageID": "",
                }
            ],
        }
        for _ in range(20):
            try:
                self.node.server.call("PATCH", f"{self.path}/status", {"status": status}, MERGE)
                return
            except urllib.error.HTTPError as error:
                error.close()
                if error.code in (404, 409, 422):
                    return
            except OSError:
                pass
            time.sleep(0.3)


class Node:
    def __init__(self, directory: Path, name: str, gpus: int, server: Server) -> None:
        self.directory, self.name, self.gpus, self.server = directory, name, gpus, server
        self.pods: dict[str, Pod] = {}

    def register(self, port: int) -> None:
        about = {"name": self.name, "labels": {"kubernetes.io/hostname": self.name, "disk": "ssd"}}
        with contextlib.suppress(urllib.error.HTTPError):
            self.server.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": about}).clear()
        self._patch(
            {
                **room(64, self.gpus),
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
                "nodeInfo": {},
            }
        )
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        while True:
            ready = {"type": "Ready", "status": "True", "reason": "Ready", "lastHeartbeatTime": now()}
            with contextlib.suppress(OSError):
                self._patch({"conditions": [{**ready, "lastTransitionTime": now()}]})
                taints = {"spec": {"taints": None}}  # the controllers take a new node for one that is not ready
                self.server.call("PATCH", f"/api/v1/nodes/{self.name}", taints, "application/merge-patch+json")
            time.sleep(BEAT_SECONDS)

    def _patch(self, status: dict[str, Any]) -> None:
        self.server.call("PATCH", f"/api/v1/nodes/{self.name}/status", {"status": status}, MERGE)

    def work(self) -> None:
        selector = f"fieldSelector=spec.nodeName%3D{self.name}"
        while True:
            try:
                found = self.server.call("GET", f"/api/v1/pods?{selector}")
                for pod in found["items"]:
                    self.see(pod)
                version = found["metadata"]["resourceVersion"]
                watch = f"/api/v1/pods?{selector}&watch=1&resourceVersion={version}&timeoutSeconds=20"
                with self.server.open("GET", watch, seconds=30) as stream:
                    for line in stream:
                        event = json.loads(line)
                        if event["type"] == "DELETED":
                            self.gone(event["object"])
                        elif event["type"] in ("ADDED", "MODIFIED"):
                            self.see(event["object"])
            except OSError as error:
                print(f"node: {error}", flush=True)
                time.sleep(0.5)

    def see(self, pod: dict[str, Any]) -> None:
        about = pod["metadata"]
        mine = self.pods.get(about["uid"])
        if (
            mine is None
            and pod.get("status", {}).get("phase", "Pending") in ("Pending",)
            and "deletionTimestamp" not in about
        ):
            mine = self.pods[about["uid"]] = Pod(self, pod)
        if "deletionTimestamp" in about:
            if mine is None:
                mine = self.pods[about["uid"]] = Pod.__new__(Pod)
                mine.node, mine.spec, mine.uid, mine.name = self, pod, about["uid"], about["name"]
                mine.namespace, mine.process = about["namespace"], None
                mine.over, mine.ending = threading.Event(), threading.Event()
                mine.over.set()
            mine.end(about.get("deletionGracePeriodSeconds", 30))

    def gone(self, pod: dict[str, Any]) -> None:
        """Removed without grace: as if its machine had been pulled out."""
        mine = self.pods.get(pod["metadata"]["uid"])
        if mine is not None and mine.process is not None and not mine.over.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(mine.process.pid, signal.SIGKILL)


def main() -> None:
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    node = Node(directory, sys.argv[2], int(sys.argv[3]), Server(os.environ["NODE_SERVER"], os.environ["NODE_TOKEN"]))
    signal.signal(signal.SIGTERM, lambda signum, frame: sys.exit(0))
    node.register(serve(node))
    try:
        node.work()
    finally:
        for pod in node.pods.values():
            if pod.process is not None and pod.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pod.process.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()

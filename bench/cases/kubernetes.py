"""Tasks on Kubernetes, beside bare Jobs: from the call that submits them until the last Job is complete.

Wants a cluster: PADDOCK_TEST_K8S names the kubeconfig of one, and PADDOCK_TEST_K8S_IMAGE an image with Paddock in it
that its nodes have. `make bench-kubernetes` starts such a cluster here, with a kubelet and containerd. Without an image
the node is taken for one of `python -m tests.cluster.kubernetes DIRECTORY`, where a container is a process: a bare Job
costs nothing but the control plane there, which it does nowhere else. Both run the same command, and the end of both
is noticed by the same watch.
"""

from __future__ import annotations

import json
import os
import random
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

from bench.fresh import NotMeasured, environment
from bench.report import Line, Results
from bench.system import System

NAME = "kubernetes"
ABOUT = "Jobs of `true` on a real control plane: seconds until all are complete, one at a time and 20 at once"
CONFIG = os.environ.get("PADDOCK_TEST_K8S", "")
IMAGE = os.environ.get("PADDOCK_TEST_K8S_IMAGE", "")
PLACE = "bench"  # a namespace
_WAIT_SECONDS = 600.0
_SINGLE, _MANY, _CROWD = 11, 20, 1_000


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if system.name == "paddock"]


def once(bench: Any, system: System) -> dict[str, float]:
    if not CONFIG:
        raise NotMeasured("PADDOCK_TEST_K8S names no cluster")
    about = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}}
    _kubectl("apply", "-f", "-", given=json.dumps(about))
    jobs = Jobs()
    _ours(jobs, bench.new_home("kubernetes"), 1)  # Python keeps what it has compiled
    found: dict[str, float] = {}
    for count, rounds, label in ((1, _SINGLE, "one"), (bench.size(_MANY, 4), 3, "many")):
        bare, ours = [], []
        for _ in range(rounds):  # in turns, so that a slow moment hits both
            _drift()
            bare.append(_bare(jobs, count))
            _drift()
            ours.append(_ours(jobs, bench.new_home("kubernetes"), count))
        ratio = median(ours) / median(bare)
        found |= {f"bare Job, {label}, s": median(bare), f"task, {label}, s": median(ours), f"ratio, {label}": ratio}
    if bench.round == 0:
        found |= _crowd(bench.new_home("kubernetes-crowd"), bench.size(_CROWD, 50))
    return found


def _drift() -> None:
    """A kubelet looks at its containers once a second: who always comes right after its look waits for the next one."""
    time.sleep(random.random())


class Jobs:
    """All Jobs of the namespace, as a watch tells of them."""

    def __init__(self) -> None:
        config = json.loads(Path(CONFIG).read_text())
        self._url = config["clusters"][0]["cluster"]["server"] + f"/apis/batch/v1/namespaces/{PLACE}/jobs"
        self._token = config["users"][0]["user"]["token"]
        self._changed = threading.Condition()
        self._complete: dict[str, float] = {}
        with self._open("") as answer:
            version = json.load(answer)["metadata"]["resourceVersion"]
        threading.Thread(target=self._watch, args=(version,), daemon=True).start()

    def _open(self, query: str) -> Any:
        careless = ssl.create_default_context()
        careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(self._url + query, headers={"Authorization": f"Bearer {self._token}"})
        return urllib.request.urlopen(request, context=careless)

    def _watch(self, version: str) -> None:
        with self._open(f"?watch=1&timeoutSeconds=3600&resourceVersion={version}") as stream:
            for line in stream:
                job = json.loads(line)["object"]
                if any(one["type"] == "Complete" for one in job.get("status", {}).get("conditions", ())):
                    with self._changed:
                        self._complete.setdefault(job["metadata"]["name"], time.perf_counter())
                        self._changed.notify_all()

    @property
    def count(self) -> int:
        return len(self._complete)

    def until(self, count: int) -> float:
        """When so many were complete."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._complete) >= count, _WAIT_SECONDS):
                raise NotMeasured("the Jobs did not end")
            return sorted(self._complete.values())[count - 1]


def _bare(jobs: Jobs, count: int) -> float:
    key, value = "bench", str(time.time_ns())
    container: dict[str, Any] = {"name": "task", "image": IMAGE or "any:1", "command": ["/bin/sh", "-c", "true"]}
    container["imagePullPolicy"] = "IfNotPresent"
    specs = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"bare-{value}-{number}", "labels": {key: value}},
            "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
        }
        for number in range(count)
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": specs})
    wanted = jobs.count + count
    start = time.perf_counter()
    _kubectl("create", "--validate=false", "-f", "-", given=text)
    took = jobs.until(wanted) - start
    _kubectl("delete", "jobs", "-l", f"{key}={value}")
    return took


def _ours(jobs: Jobs, home: Path, count: int) -> float:
    wanted = jobs.count + count
    start = time.perf_counter()
    _paddock(home, "submit", "-q", "--no-snapshot", "--on", _url(), "--grid", f"n=1..{count}", "--", "true {n}")
    took = jobs.until(wanted) - start
    _kubectl("delete", "jobs", "-l", _label(home))
    return took


def _crowd(home: Path, count: int) -> dict[str, float]:
    """Tasks that no node can take: what a look at all of them costs."""
    url = _url("&select=bench=none")
    start = time.perf_counter()
    _paddock(home, "submit", "-q", "--no-snapshot", "--on", url, "--grid", f"n=1..{count}", "--", "true {n}")
    submitted = time.perf_counter() - start
    start = time.perf_counter()
    _paddock(home, "status")
    looked = time.perf_counter() - start
    _kubectl("delete", "jobs", "-l", _label(home), "--wait=false")
    return {f"submit {count:,}, s": submitted, f"status of {count:,}, s": looked}


def _url(more: str = "") -> str:
    here = os.path.join(os.path.dirname(sys.executable), "paddock")
    where = f"image={IMAGE}&pull=IfNotPresent" if IMAGE else f"image=any:1&program={here}"
    return f"k8s://test/{PLACE}?{where}{more}"


def _label(home: Path) -> str:
    (path,) = home.glob("queues/*/.k8s-queue")
    return f"paddock.dev/queue={path.read_text().strip()}"


def _kubectl(*arguments: str, given: str = "") -> str:
    argv = ["kubectl", f"--kubeconfig={CONFIG}", f"--namespace={PLACE}", *arguments]
    return subprocess.run(argv, input=given, check=True, capture_output=True, text=True).stdout


def _paddock(home: Path, *arguments: str) -> None:
    environ = environment() | {"KUBECONFIG": CONFIG, "PADDOCK_HOME": str(home)}
    argv = [sys.executable, "-m", "paddock", *arguments]
    subprocess.run(argv, env=environ, check=True, capture_output=True, cwd=home)


def lines(results: Results, bench: Any) -> list[Line]:
    return [
        *results.at_most("a task takes 1.5 times a bare Job's time at most", "paddock", "ratio, one", 1.5),
        *results.at_most("the same, 20 at once", "paddock", "ratio, many", 1.5),
    ]

"""Plain questions to the API server of kubernetes.py, for the node and the tests."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.waiting import until

MERGE = "application/strategic-merge-patch+json"
GATEWAY_TIMEOUT = 504


class Server:
    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._context = ssl.create_default_context()
        self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE

    def open(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", seconds: float = 30
    ) -> Any:
        request = urllib.request.Request(f"{self._url}{path}", method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("Content-Type", kind)
        return urllib.request.urlopen(request, data, context=self._context, timeout=seconds)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        with self.open(method, path, body, kind) as answer:
            return json.load(answer)


def _server(kubeconfig: str) -> Server:
    config = json.loads(Path(kubeconfig).read_text())
    return Server(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"])


def remove(kubeconfig: str, label: str) -> None:
    """What bears the label, at once and in one call for each kind: kubectl takes minutes for a thousand."""
    kinds = ("/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods")
    for path in (*kinds, "/api/v1/namespaces/default/configmaps"):
        until(partial(_removed, _server(kubeconfig), f"{path}?labelSelector={quote(label)}"), 300)


def _removed(server: Server, path: str) -> bool:
    how = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "gracePeriodSeconds": 0}
    try:
        with server.open("DELETE", path, how, seconds=120) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != GATEWAY_TIMEOUT:  # it gives itself half a minute, and has removed some of them then
            raise
        return False
    return True


def make_room(kubeconfig: str, *, cpus: int | None = None, gpus: int = 4, name: str = "node-1") -> None:
    """What the node says that it has, from now on. Of a kubelet's only the accelerators can be changed."""
    _server(kubeconfig).call("PATCH", f"/api/v1/nodes/{name}/status", {"status": room(cpus, gpus)}, MERGE)


def room(cpus: int | None, gpus: int) -> dict[str, Any]:
    own = {"cpu": str(cpus), "memory": "64Gi", "pods": "2000"} if cpus is not None else {}
    found = {**own, "nvidia.com/gpu": str(gpus)}
    return {"capacity": found, "allocatable": found}

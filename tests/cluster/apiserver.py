"""Plain questions to the API server of kubernetes.py, for the node and the tests."""

from __future__ import annotations

import json
import ssl
import urllib.request
from pathlib import Path
from typing import Any

MERGE = "application/strategic-merge-patch+json"


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


def make_room(kubeconfig: str, *, cpus: int, gpus: int = 4, name: str = "node-1") -> None:
    """What the node says that it has, from now on."""
    config = json.loads(Path(kubeconfig).read_text())
    server = Server(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"])
    server.call("PATCH", f"/api/v1/nodes/{name}/status", {"status": room(cpus, gpus)}, MERGE)


def room(cpus: int, gpus: int) -> dict[str, Any]:
    found = {"cpu": str(cpus), "memory": "64Gi", "pods": "2000", "nvidia.com/gpu": str(gpus)}
    return {"capacity": found, "allocatable": found}

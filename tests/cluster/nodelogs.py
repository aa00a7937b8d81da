"""What a kubelet serves of its pods' logs, so that the API server finds them at our node."""

from __future__ import annotations

import contextlib
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from tests.cluster.node import Node, Pod

_PAUSE = 0.1


def serve(node: Node) -> int:
    """Until the process ends; the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            _, kind, namespace, name, *_ = parts.path.split("/")
            pod = next((p for p in reversed(node.pods.values()) if (p.namespace, p.name) == (namespace, name)), None)
            if kind != "containerLogs" or pod is None or not hasattr(pod, "log"):
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            with contextlib.suppress(OSError):
                self._copy(pod, query)

        def _copy(self, pod: Pod, query: dict[str, str]) -> None:
            at = 0
            if "tailLines" in query:
                data = pod.log.read_bytes() if pod.log.exists() else b""
                at = len(data) - len(b"".join(data.splitlines(keepends=True)[-int(query["tailLines"]) or len(data) :]))
            while True:
                over = pod.over.is_set()
                if pod.log.exists():
                    with open(pod.log, "rb") as log:
                        log.seek(at)
                        data = log.read()
                    self.wfile.write(data)
                    self.wfile.flush()
                    at += len(data)
                if over or query.get("follow") != "true":
                    return
                time.sleep(_PAUSE)

        def log_message(self, *words: Any) -> None:
            pass

    directory = node.directory
    pair = ["-keyout", f"{directory}/tls.key", "-out", f"{directory}/tls.crt", "-subj", f"/CN={node.name}"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *pair],
        check=True,
        capture_output=True,
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{directory}/tls.crt", f"{directory}/tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_port)

"""Where a cluster is and who we are there, as kubectl's configuration says it. Pure, except for reading what it names.

A token, a client's certificate and a pod's own account we use ourselves. Whatever else kubectl can do (programs that
log in, proxies, providers) it does for us: then there is no Access, and the road leads through `kubectl proxy`.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")  # of the pod that we run in
_HERE = ("127.0.0.1", "::1", "localhost")
# What we understand of a user and of a cluster. Whoever has more in it needs kubectl.
_USER = {"token", "tokenFile", "client-certificate-data", "client-key-data", "client-certificate", "client-key"}
_CLUSTER = {
    "server",
    "certificate-authority-data",
    "certificate-authority",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "extensions",
}
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


@dataclass(frozen=True)
class Access:
    """A way to the API server that needs nobody else."""

    host: str
    port: int
    path: str = ""  # before every path of the server
    tls: bool = True
    ca: str = ""  # PEM; "" trusts what the machine trusts
    checked: bool = True
    name: str = ""  # that the server's certificate has, when it is not the host's
    certificate: bytes = b""  # of ours: PEM, with its key
    key: bytes = b""
    token: str = ""
    token_file: str = ""  # where it is renewed: that of a pod's account is good for an hour

    def bearer(self) -> str:
        """The token as it is now; the one that was there at first, should the file be gone."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return _token(self.token_file) or self.token
        return self.token


def read(config: Mapping[str, Any], environ: Mapping[str, str]) -> Access | None:
    """Of `kubectl config view --raw --minify --flatten -o json`: one context, and everything it names. None when only
    kubectl can do it."""
    cluster, user = _only(config, "clusters", "cluster"), _only(config, "users", "user")
    server = urlsplit(str(cluster.get("server", "")))
    if set(cluster) - _CLUSTER or set(user) - _USER or not server.hostname or server.scheme not in ("http", "https"):
        return None
    if server.hostname not in _HERE and any(environ.get(key) for key in _PROXIES):
        return None
    try:
        return Access(
            server.hostname,
            server.port or (443 if server.scheme == "https" else 80),
            server.path.rstrip("/"),
            server.scheme == "https",
            _data(cluster, "certificate-authority").decode("ascii"),
            not cluster.get("insecure-skip-tls-verify", False),
            str(cluster.get("tls-server-name", "")),
            _data(user, "client-certificate"),
            _data(user, "client-key"),
            str(user.get("token", "")) or _token(user.get("tokenFile")),
            "" if user.get("token") else str(user.get("tokenFile") or ""),
        )
    except (OSError, UnicodeDecodeError, binascii.Error):
        return None  # kubectl says better what is wrong with it


def namespace(config: Mapping[str, Any]) -> str:
    return str(_only(config, "contexts", "context").get("namespace") or "default")


def chosen(config: Mapping[str, Any]) -> tuple[str, str]:
    """The names of the context and of the server."""
    contexts = config.get("contexts") or [{}]
    return str(contexts[0].get("name", "")), str(_only(config, "clusters", "cluster").get("server", ""))


def of_pod(environ: Mapping[str, str], account: Path = ACCOUNT) -> tuple[Access, str] | None:
    """The account of the pod that we run in, and its namespace; as kubectl does it, unless there is a configuration."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "443")
    usual = Path(environ.get("HOME") or os.path.expanduser("~")) / ".kube" / "config"
    if not host or not port.isdigit() or environ.get("KUBECONFIG") or usual.exists():
        return None
    try:
        token = _token(account / "token")
        ca = (account / "ca.crt").read_text("ascii")
        where = (account / "namespace").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return Access(host, int(port), ca=ca, token=token, token_file=str(account / "token")), where or "default"


def _only(config: Mapping[str, Any], kind: str, inner: str) -> Mapping[str, Any]:
    found = config.get(kind) or [{}]
    one = found[0].get(inner) if isinstance(found, list) else None
    return one if isinstance(one, Mapping) else {}


def _data(about: Mapping[str, Any], key: str) -> bytes:
    if text := about.get(f"{key}-data"):
        return base64.b64decode(str(text), validate=True)
    return Path(str(about[key])).read_bytes() if about.get(key) else b""


def _token(path: Any) -> str:
    return Path(str(path)).read_text("ascii").strip() if path else ""

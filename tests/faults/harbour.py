"""A server that can be killed and started again at the same address, and a line to it that can be cut, slow or dead."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from paddock.record.layout import Home

TOKEN = "a-token-of-the-tests-0123456789"


def files_of(run: Path) -> dict[str, bytes]:
    """What is sent of a run, byte by byte. Output without a byte is not; nor is a file that goes meanwhile. What a
    server that was killed had written aside, and not yet given its name, is for `paddock gc`."""
    own = ("shipped.json", ".ship.lock")
    found = {}
    for path in sorted(run.rglob("*")):
        if path.name.startswith(".") and path.suffix == ".tmp":
            continue
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and path.name not in own and ((data := path.read_bytes()) or path.suffix != ".log"):
                found[str(path.relative_to(run))] = data
    return found


def differences(here: Home, there: Home) -> list[str]:
    """The runs that the server does not have exactly as they are here."""
    runs = sorted(path.name for path in here.runs.iterdir())
    return [run for run in runs if files_of(here.runs / run) != files_of(there.runs / run)]


def is_prefix(here: Home, there: Home) -> bool:
    """Whether everything that a server has of these runs' streams is the beginning of what there is. Its side is read
    first: the other grows."""
    for run in [path.name for path in here.runs.iterdir()]:
        for path in (there.runs / run).rglob("*"):
            if path.suffix in (".jsonl", ".log") and path.is_file():
                data = path.read_bytes()
                if not (here.runs / path.relative_to(there.runs)).read_bytes().startswith(data):
                    return False
    return True


class Harbour:
    """`prefix`: words before the command, such as `ip netns exec NAME`."""

    def __init__(
        self, home: Home, host: str = "127.0.0.1", prefix: Sequence[str] = (), options: Sequence[str] = ()
    ) -> None:
        self.home, self._host, self._prefix, self._options = home, host, prefix, options
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        home.prepare()
        self.token_file = home.path / "server" / "token"
        self.token_file.parent.mkdir(mode=0o700, exist_ok=True)
        self.token_file.write_text(TOKEN)
        self.token_file.chmod(0o600)

    @property
    def address(self) -> str:
        return f"{self._host}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """For a client of this server."""
        return {"PADDOCK_SERVER": self.address, "PADDOCK_TOKEN": TOKEN}

    def start(self) -> Harbour:
        words = [sys.executable, "-m", "paddock", "serve", "--json", "--home", str(self.home.path)]
        end = time.monotonic() + 60
        while True:
            command = [*self._prefix, *words, *self._options, "--address", self.address]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
            assert self.process.stdout is not None
            line = self.process.stdout.readline()
            if line:
                self.port = int(json.loads(line)["urls"][0].rpartition(":")[2])
                return self
            self.stop()
            assert time.monotonic() < end, "the server did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None


@contextlib.contextmanager
def harbour(home: Home, **options: object) -> Iterator[Harbour]:
    found = Harbour(home, **options)  # type: ignore[arg-type]
    found.start()
    try:
        yield found
    finally:
        found.stop()


class Line:
    """A way to a server that breaks connections after at most so many bytes (`cut`), or passes so many a second
    (`slow`)."""

    def __init__(self, port: int, *, cut: int = 0, slow: int = 0, chance: random.Random | None = None) -> None:
        self._to, self.cut, self.slow, self._chance = port, cut, slow, chance or random.Random(0)
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._to), 5)
            except OSError:
                near.close()
                continue
            room = [self._chance.randrange(self.cut) if self.cut else 1 << 60]
            self._open |= {near, far}
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(source, target, room), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, room: list[int]) -> None:
        try:
            while room[0] > 0 and (
                data := source.recv(min(65536, room[0], max(1, self.slow // 20) if self.slow else 65536))
            ):
                room[0] -= len(data)
                if self.slow:
                    time.sleep(len(data) / self.slow)
                target.sendall(data)
            self.cuts += room[0] <= 0
        except OSError:
            pass
        finally:
            for one in (source, target):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
                self._open.discard(one)


def environment(home: Home, server: dict[str, str], **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PADDOCK_HOME": str(home.path),
        "PADDOCK_QUIET": "1",
        "PADDOCK_CAPTURE_CODE": "0",
        **server,
        **more,
    }

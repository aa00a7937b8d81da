"""A queue with real workers on it, for tests that attack them.

Each task keeps a ledger of its own: it takes a lock that lives exactly as long as any of its processes, so that a
second copy finds it taken, and it writes down when it begins and when it ends. The checker reads that and the queue.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from paddock.errors import PaddockError
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.entry.submission import Submitted, submit_all
from paddock.queue.lease import Identity, read_identity
from paddock.queue.lifecycle import Place
from paddock.record.layout import Home
from paddock.record.process import exists
from tests.waiting import until

SENTENCE = 5  # exit code of an operation that refused with a sentence
DEADLINE = 120.0  # seconds: so long that only a fault takes them
# A lease for tests: seconds instead of minutes, and yet so many that a busy machine lets a worker that lives renew it.
QUICK = {"beat": 0.2, "fence": 3.0, "reclaim": 5.0}
_LEDGER = """exec 9>>{ledger}/"$PADDOCK_RUN_ID"
flock -n 9 || echo "double $PADDOCK_TASK_TOKEN" >&9
echo "begin $PADDOCK_TASK_TOKEN" >&9
{body}
code=$?
echo "end $PADDOCK_TASK_TOKEN $code" >&9
exit $code"""


class Farm:
    def __init__(self, directory: Path, **lease: float) -> None:
        self.directory = directory
        self.home = Home(directory / "home")
        self.home.prepare()
        self.queue: DirectoryQueue = find_queue("default", self.home)
        self.queue.prepare()
        self.ledger = directory / "ledger"
        self.ledger.mkdir(exist_ok=True)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.environ = {**os.environ, "PADDOCK_HOME": str(self.home.path), "PADDOCK_CACHE": str(directory / "cache")}
        self.environ |= {f"PADDOCK_LEASE_{key.upper()}_SECONDS": str(value) for key, value in lease.items()}

    # Tasks

    def submit(self, body: str = "true", count: int = 1, **about: Any) -> list[Submitted]:
        """Tasks that keep a ledger."""
        command = _LEDGER.format(ledger=shlex.quote(str(self.ledger)), body=body)
        return submit_all([{"cmd": command, "snapshot": False, "cwd": "/", **about}] * count, home=self.home)

    def put(self, body: str = "true", **about: Any) -> str:
        """One such task; its id."""
        return self.submit(body, **about)[0].id

    def lines(self, task: str) -> list[str]:
        try:
            return (self.ledger / task).read_text().splitlines()
        except FileNotFoundError:
            return []

    def began(self, task: str) -> int:
        return sum(line.startswith("begin") for line in self.lines(task))

    def place(self, task: str) -> Place | None:
        return next((p for p in self.queue.list().places if p.id == task), None)

    def state(self, task: str) -> str:
        found = self.place(task)
        return found.state if found else "gone"

    def outcomes(self, task: str) -> list[str]:
        found = self.place(task)
        return [attempt.outcome for attempt in self.queue.read(found).attempts] if found else []

    # What people do

    def mv(self, task: str, to: str) -> bool:
        """With the name as it is, and whoever moved it meanwhile; False when it was not there."""
        found = self.place(task)
        try:
            if found is not None:
                os.rename(self.queue.file(found), self.queue.directory(to) / found.name)
            return found is not None
        except FileNotFoundError:
            return False

    def rm(self, task: str) -> bool:
        found = self.place(task)
        try:
            if found is not None:
                os.unlink(self.queue.file(found))
            return found is not None
        except FileNotFoundError:
            return False

    # Workers

    def start(self, *options: str, before: list[str] | None = None, **environ: str) -> subprocess.Popen[bytes]:
        command = [*(before or []), sys.executable, "-m", "paddock.cli.main", "worker", "--quiet", "--grace", "5s"]
        self.workers.append(subprocess.Popen([*command, *options], env={**self.environ, **environ}, cwd=self.directory))
        return self.workers[-1]

    def identities(self) -> list[Identity]:
        found = (read_identity(self.queue.workers / name) for name in os.listdir(self.queue.workers))
        return [one for one in found if one is not None]

    def identity(self, worker: subprocess.Popen[bytes]) -> Identity:
        """Of a worker, once it is ready to work."""
        return until(lambda: next((one for one in self.identities() if one.pid == worker.pid), None))

    def finish(self, count: int = 1, *options: str) -> None:
        """Healthy workers do what is left."""
        started = [self.start("--no-persist", *options) for _ in range(count)]
        for worker in started:
            assert worker.wait(timeout=DEADLINE) == 0

    def close(self) -> None:
        """End all workers, those too that were started by way of another program; their guards follow."""
        for one in self.identities():
            if exists(one.pid, one.start):
                os.kill(one.pid, signal.SIGKILL)
        for worker in self.workers:
            worker.kill()
            worker.wait()
        until(lambda: not list(self.guards()), 60)

    def guards(self) -> Iterator[int]:
        """The pids of guards that live yet; they end by themselves when their workers are gone."""
        for one in self.identities():
            pid, _, start = one.guard.partition(" ")
            if pid.isdigit() and exists(int(pid), start):
                yield int(pid)


def forked(act: Callable[[], None], errors: Path) -> tuple[int, int]:
    """Run it in a fork that waits for a byte first: pid, and where to write that byte."""
    read, write = os.pipe()
    # Opened here: strace may be there before the fork has done anything, and is meant for what it does later.
    words = os.open(errors, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    pid = os.fork()
    if pid:
        os.close(read)
        os.close(words)
        return pid, write
    code = 1
    try:
        os.close(write)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it must not outlive a test that was interrupted
        os.dup2(words, 2)
        os.read(read, 1)
        act()
        code = 0
    except PaddockError as error:
        os.write(2, f"sentence: {error}\n".encode())
        code = SENTENCE
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)

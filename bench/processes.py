"""Servers and workers of a measurement: started, waited for, stopped by their pid, and asked what they used."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

STOP_SECONDS = 10
WAIT_SECONDS = 300


@contextlib.contextmanager
def started(command: Sequence[str | Path], home: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process for the time of the block; what it says is kept in the measurement's home."""
    with open(home / f"{Path(command[0]).name}.log", "ab") as log:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=home,
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(true: Callable[[], bool], what: str, every: float = 0.005, seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(every)


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                stat = Path("/proc", name, "stat").read_text()
                parents[int(name)] = int(stat.rpartition(")")[2].split()[1])
    found = [pid]
    for member in found:
        found.extend(child for child, parent in parents.items() if parent == member)
    return found


def wait_quiet(pid: int, what: str, share: float = 0.1, window: float = 2.0) -> None:
    """Until a process and its descendants use little of a processor: what they do at their start is over."""

    def quiet() -> bool:
        before, since = cpu_seconds(family(pid)), time.monotonic()
        time.sleep(window)
        return cpu_seconds(family(pid)) - before < share * (time.monotonic() - since)

    wait_until(quiet, f"{what} has started and is quiet")


def cpu_seconds(pids: Sequence[int]) -> float:
    """What they have used of a processor so far, to the nanosecond where the kernel counts so."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    total += int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
    return total / 1e9

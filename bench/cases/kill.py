"""kill -9 in the middle of a training: how many calls that had returned are gone afterwards?"""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

from bench import data, fresh
from bench.fresh import NotMeasured
from bench.report import Line, Results
from bench.system import System

NAME = "kill"
ABOUT = "calls of log() that had returned before kill -9, and how many of them cannot be read back"
COUNTER = struct.Struct("<q")
START_SECONDS = 60
SETTLE_SECONDS = 3  # time for a helper process that survived to write what it has


def systems(bench: Any) -> list[System]:
    return [system for system in bench.systems.values() if type(system).steps is not System.steps]


def once(bench: Any, system: System) -> dict[str, float]:
    slow = killed(bench, system, pause=0.1, seconds=bench.size(5, 2))
    flat = killed(bench, system, pause=0.0, seconds=2)
    return {
        "10/s logged": slow[0],
        "10/s lost": slow[1],
        "flat out logged": flat[0],
        "flat out lost": flat[1],
    }


def killed(bench: Any, system: System, pause: float, seconds: float) -> tuple[int, int]:
    home = bench.new_home(f"kill-{system.name}")
    counter = bench.scratch / f"{home.name}.counter"
    counter.write_bytes(COUNTER.pack(0))
    arguments = {"counter": str(counter), "pause": pause}
    process = subprocess.Popen(
        fresh.command("bench.cases.kill:log_forever", system.name, home, home / "unused", arguments),
        cwd=home,
        env=fresh.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        wait_for_first(process, counter)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(SETTLE_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
    logged = COUNTER.unpack(counter.read_bytes())[0]
    found = fresh.call("bench.cases.kill:count", system.name, home, logged=logged)
    return logged, logged - int(found["kept"])


def wait_for_first(process: subprocess.Popen[bytes], counter: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while COUNTER.unpack(counter.read_bytes())[0] == 0:
        if process.poll() is not None:
            raise NotMeasured(fresh.last_line(process.stderr.read().decode(errors="replace")))
        if time.monotonic() > deadline:
            raise NotMeasured(f"logged nothing in {START_SECONDS} s")
        time.sleep(0.01)


def log_forever(system: System, home: Path, counter: str, pause: float) -> None:
    """The number of calls that returned is kept in shared memory, which survives the kill too."""
    descriptor = os.open(counter, os.O_RDWR)
    shared = mmap.mmap(descriptor, COUNTER.size)
    run, noise, step = system.start(home, "bench", data.CONFIG), random.Random(0), 0
    while True:
        run.log(data.five(step, noise), step=step)
        step += 1
        COUNTER.pack_into(shared, 0, step)
        if pause:
            time.sleep(pause)


def count(system: System, home: Path, logged: int) -> dict[str, float]:
    try:
        return {"kept": len({step for step in system.steps(home, "train/loss") if step < logged})}
    except (FileNotFoundError, ValueError, KeyError):  # nothing was written, not even the run
        return {"kept": 0}


def lines(results: Results, bench: Any) -> list[Line]:
    found = []
    for quantity in ("10/s lost", "flat out lost"):
        lost = results.values("paddock", quantity)
        measured = f"{sum(lost):.0f} in {len(lost)} kills" if lost else "not measured"
        kept_all = bool(lost) and not any(lost)
        found.append(Line(f"nothing lost, {quantity.removesuffix(' lost')}", measured, float(kept_all)))
    return found

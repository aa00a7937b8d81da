"""What the tests of `paddock watch` share: an evaluator, checkpoints, and a watcher that has begun."""

from __future__ import annotations

import contextlib
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddock.errors import NotFound
from paddock.evaluate.ledger.account import Account, tasks
from paddock.evaluate.ledger.watcher import watchers
from paddock.evaluate.ledger.watches import find, watches
from paddock.queue.show.roster import ALIVE
from paddock.record.layout import Home
from tests.waiting import until

EVALUATOR = """
import os, time, zipfile

def acc(path):
    with zipfile.ZipFile(path) as file:
        return {"acc": 0.1 * len(file.namelist())}

def loss(path):
    return {"loss": 1.0}

def bad(path):
    if os.path.exists("mended"):
        return 1.0
    raise ValueError("no such class")

def slow(path):
    open("running", "a").close()
    while not os.path.exists("go"):
        time.sleep(0.05)
    return 1.0
"""
QUICK = ("--polling-interval", "0.2", "--quiet-time", "0s")


def prepare(program: Any) -> Path:
    (program.cwd / "metrics.py").write_text(EVALUATOR)
    (program.cwd / "out").mkdir()
    return program.cwd / "out"


def save(path: Path, entries: int = 1) -> Path:
    aside = path.with_name(f".{path.name}")
    with zipfile.ZipFile(aside, "w") as file:
        for number in range(entries):
            file.writestr(str(number), path.name)
    return aside.rename(path)


@contextlib.contextmanager
def watching(program: Any, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A watcher in the foreground, from when it has begun."""
    process = program.start("watch", *words, *QUICK)
    try:
        until(lambda: process.poll() is not None or has_begun(program, process.pid))
        assert process.poll() is None, process.communicate()
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def has_begun(program: Any, pid: int) -> bool:
    mine = any(program.home.glob(f"watchers/*-{pid}-*"))
    return mine and any(program.home.glob("watches/*/begun"))


def evaluations(program: Any, where: str = "out") -> list[dict[str, Any]]:
    found = program("watch", "show", where, "--json")
    return found.json["evaluations"] if found.code == 0 else []


def until_states(program: Any, *states: str, where: str = "out") -> list[dict[str, Any]]:
    """Waits by reading the ledger here, and asks the program once it is so: to start one for each look takes longer
    than the rest of a test."""
    until(lambda: _states(program, where) == sorted(states), pause=0.02)
    found = evaluations(program, where)
    assert sorted(one["state"] for one in found) == sorted(states)
    return found


def _states(program: Any, where: str) -> list[str]:
    try:
        watch = find(watches(Home(program.home)), str(program.cwd / where))
    except NotFound:
        return []
    return sorted(one.state for one in Account(watch.ledger).read(tasks(watch.queues)))


def is_watched(program: Any) -> bool:
    return any(seen.state == ALIVE for seen in watchers(Home(program.home)))


def alive(program: Any) -> list[dict[str, Any]]:
    """The watchers that live."""
    watches = program("watch", "ls", "--json").json["watches"]
    found = {one["watcher"]: one for watch in watches for one in watch["watchers"] if one["state"] == "alive"}
    return list(found.values())

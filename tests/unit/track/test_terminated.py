"""SIGTERM in children, which is how `with Pool()` ends its own."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.catalog.catalog import Catalog
from paddock.monitor import Progress
from paddock.record.layout import Home
from tests.waiting import DEADLINE, until


def count(progress: Progress, said: Connection) -> None:
    for _ in range(1000):
        progress.advance(1, distributed=True)
    said.send(os.getpid())


def count_and_wait(progress: Progress, said: Connection) -> None:
    count(progress, said)
    time.sleep(2 * DEADLINE)


def count_and_hang(progress: Progress, said: Connection) -> None:
    """In a call that no signal interrupts, as a collective that waits for a dead rank."""
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(128)

    def say() -> None:
        until(lambda: mutex.raw[0] == 2, pause=0.001)  # locked, and somebody waits for it
        count(progress, said)

    threading.Thread(target=say, daemon=True).start()
    progress.advance(0)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)


def counted(home: Home, method: str, work: Any) -> tuple[float, int | None]:
    run, context = paddock.init(), multiprocessing.get_context(method)
    with Progress.new(1000, "all") as progress:
        ours, theirs = context.Pipe()
        child = context.Process(target=work, args=(progress, theirs))
        child.start()
        assert ours.poll(DEADLINE)
        child.terminate()
        child.join(DEADLINE)
    with Catalog.open(home) as catalog:
        catalog.refresh()
        (bar,) = catalog.progress(run.id)
    return bar.done, child.exitcode


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_what_a_child_has_counted_when_its_pool_ends_it_is_not_lost(home: Home, method: str) -> None:
    assert counted(home, method, count_and_wait) == (1000, -signal.SIGTERM)


def test_a_child_that_hears_no_signal_ends_all_the_same(home: Home) -> None:
    assert counted(home, "spawn", count_and_hang) == (1000, -signal.SIGKILL)


FORKS = """
import os, signal, time
import paddock

paddock.init()
for _ in range(200):
    child = os.fork()
    if not child:
        time.sleep(600)
    os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGTERM
"""


def test_a_child_that_is_ended_while_it_is_forked_ends(home: Home, tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    process = subprocess.Popen([sys.executable, str(script)], start_new_session=True)
    try:
        assert process.wait(DEADLINE) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_forked_child_has_no_handler_of_its_parents(home: Home) -> None:
    paddock.init()
    assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, None)
    child = os.fork()
    if not child:
        os._exit(0 if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL else 1)
    assert os.waitpid(child, 0)[1] == 0

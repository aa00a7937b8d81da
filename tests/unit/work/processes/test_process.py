from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from paddock.work.processes import process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen(["sleep", "1000"], env={"PADDOCK_TASK_TOKEN": f"t~{os.getpid()}.1"})
    yield running
    running.kill()
    running.wait()


def test_a_process_is_seen_as_it_is(sleeper) -> None:
    seen = process.look(sleeper.pid)
    assert (seen.pid, seen.parent, seen.lives, seen.is_stopped) == (sleeper.pid, os.getpid(), True, False)
    assert process.table()[sleeper.pid].identity == seen.identity
    assert sleeper.pid in process.children(os.getpid())
    assert process.look(2**22 + 1) is None


def test_an_unburied_process_does_not_live(sleeper) -> None:
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert not process.look(sleeper.pid).lives
    assert sleeper.pid not in process.table()


def test_a_process_whose_first_thread_ended_lives() -> None:
    source = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=[1000]).start(); print(flush=True)"
    )
    source += "; ctypes.CDLL(None).pthread_exit(None)"
    running = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    try:
        running.stdout.readline()
        while process.look(running.pid).state != "Z":
            pass
        assert process.look(running.pid).lives
    finally:
        running.kill()
        running.communicate()


def test_a_tree_has_all_below_its_roots() -> None:
    def at(pid: int, parent: int) -> process.Process:
        return process.Process(pid, 1, parent, 1, "S", 1)

    everybody = {pid: at(pid, parent) for pid, parent in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 1), (6, 5)]}
    assert [found.pid for found in process.tree([2, 99], everybody)] == [2, 3, 4]
    assert {found.pid for found in process.tree([3, 5, 6], everybody)} == {3, 4, 5, 6}


def test_a_signal_reaches_only_the_very_process(sleeper) -> None:
    seen = process.look(sleeper.pid)
    assert not process.send(seen._replace(start=seen.start - 1), signal.SIGKILL)
    assert sleeper.poll() is None
    assert process.send(seen, signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM
    assert not process.send(seen, signal.SIGTERM)


def test_only_the_exact_token_counts(sleeper) -> None:
    token = f"t~{os.getpid()}.1"
    assert process.carries(sleeper.pid, token)
    assert not process.carries(sleeper.pid, token[:-1])
    assert not process.carries(sleeper.pid, token + "1")


def test_what_carries_a_token_is_killed_and_counted(sleeper) -> None:
    token = f"t~{os.getpid()}.1"
    other = subprocess.Popen(["sleep", "1000"], env={"PADDOCK_TASK_TOKEN": token + "0"})
    try:
        assert process.kill_marked(token + "?") == 0
        assert process.kill_marked(token) == 1
        assert sleeper.wait() == -signal.SIGKILL
        assert process.kill_marked(token) == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_marked_process_is_asked_first_when_there_is_a_grace(sleeper) -> None:
    os.kill(sleeper.pid, signal.SIGSTOP)
    assert process.kill_marked(f"t~{os.getpid()}.1", grace=60) == 1
    assert sleeper.wait() == -signal.SIGTERM


def test_who_calls_is_spared() -> None:
    source = (
        "import os; from paddock.work.processes import process\n"
        "print(process.kill_marked(os.environ['PADDOCK_TASK_TOKEN']))"
    )
    env = {**os.environ, "PADDOCK_TASK_TOKEN": f"self~{os.getpid()}.1"}
    done = subprocess.run(
        ["sh", "-c", 'sleep 1000 & "$0" -c "$1"', sys.executable, source], env=env, capture_output=True, timeout=60
    )
    assert done.stdout == b"1\n", done.stderr

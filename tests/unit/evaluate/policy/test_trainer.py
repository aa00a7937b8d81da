"""A signal reaches the very process that trains, or nobody."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from paddock.evaluate.policy.ending import OVER, RUNNING, UNKNOWN
from paddock.evaluate.policy.trainer import LOST_SECONDS, Process, progress, send
from paddock.model import STATES, RunRow
from paddock.record.process import boot_id, start_ticks


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


def of(child: subprocess.Popen[bytes]) -> Process:
    return Process(child.pid, start_ticks(child.pid), boot_id(), socket.gethostname(), 1)


def test_the_process_that_was_recorded_gets_it(child: subprocess.Popen[bytes]) -> None:
    assert send(of(child), signal.SIGTERM) == ""
    assert child.wait(60) == -signal.SIGTERM


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"start": "1"}, "it has ended"),  # another process has its pid now
        ({"boot": "another"}, "started again"),
        ({"host": "elsewhere"}, "runs on elsewhere"),
        ({"pid": 4194305}, "it"),
    ],
)
def test_nobody_else_gets_it(child: subprocess.Popen[bytes], other: dict[str, object], says: str) -> None:
    assert says in send(of(child)._replace(**other), signal.SIGKILL)  # type: ignore[arg-type]
    assert child.poll() is None


@pytest.mark.parametrize("state", STATES)
def test_a_training_is_over_when_its_run_is(state: str) -> None:
    row = RunRow(id="r", name="r", project="p", state=state, created=0.0)
    over = state in ("finished", "failed", "killed")
    assert progress(row, False, 0.0) == (OVER if over else RUNNING)
    assert progress(row, True, 0.0) == progress(None, False, 0.0) == UNKNOWN
    if state == "lost":
        assert progress(row, False, LOST_SECONDS) == OVER

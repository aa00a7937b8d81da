"""A task that is handed over as it is, and runs here without a queue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from paddock.queue.entry.submission import make_task
from paddock.queue.task import Attempt, read, render, render_attempt
from paddock.record.layout import Home
from tests.waiting import until

LONE = """
import sys
from pathlib import Path
from paddock.record.layout import Home
from paddock.work import lone
from paddock.work.options import Options
from paddock.work.slots import Slots
home = Home(Path(sys.argv[1]))
over = lone.run(sys.stdin.buffer.read(), sys.argv[2], home, Options(Slots(1, ()), grace=5.0), home.path / "cache")
sys.stdout.buffer.write(over.state.encode() + b"\\n" + over.data)
"""


def start(home: Home, task: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", LONE, str(home.path), task]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def run(home: Home, data: bytes, task: str) -> tuple[str, bytes]:
    out, _ = start(home, task).communicate(data, timeout=60)
    state, _, rest = out.partition(b"\n")
    return state.decode(), rest


def test_its_output_record_and_file_are_those_of_any_task(home: Home, tmp_path: Path) -> None:
    task = make_task("echo said; exit 3", base=tmp_path, retries=1, cwd=tmp_path)
    state, data = run(home, render(task), task.id)
    assert state == "failed"
    attempts = read(data, task.id).attempts
    assert [(one.number, one.outcome, one.exit, one.tail) for one in attempts] == [
        (1, "failed", "exit code 3", "said"),
        (2, "failed", "exit code 3", "said"),
    ]
    assert (home.run(task.id).path / "output" / "2.log").read_bytes() == b"said\n"
    assert list((home.path / "trays").iterdir()) == []


def test_earlier_attempts_count(home: Home, tmp_path: Path) -> None:
    task = make_task('echo "$PADDOCK_ATTEMPT"', base=tmp_path, cwd=tmp_path)
    data = render(task)
    data += render_attempt(Attempt(number=1, outcome="lost"), read(data, task.id).fence)
    state, data = run(home, data, task.id)
    assert state == "done"
    assert [one.tail for one in read(data, task.id).attempts] == ["", "2"]


def test_told_to_stop_it_gives_the_task_back_with_a_note(home: Home, tmp_path: Path) -> None:
    task = make_task("touch began; sleep 600", base=tmp_path, cwd=tmp_path)
    process = start(home, task.id)
    assert process.stdin is not None
    process.stdin.write(render(task))
    process.stdin.close()
    process.stdin = None
    until((tmp_path / "began").exists)
    os.kill(process.pid, signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    state, _, data = out.partition(b"\n")
    assert state == b"queued"
    assert [one.outcome for one in read(data, task.id).attempts] == ["requeued"]

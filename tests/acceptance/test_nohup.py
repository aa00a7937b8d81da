"""Under nohup, the closing of the terminal ends nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import DEADLINE


def _ignored(pid: int) -> set[signal.Signals]:
    """By the kernel's account of it, which needs no signal to be sent and waited for."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn:"))
    mask = int(line.split()[1], 16)
    return {number for number in (signal.SIGHUP, signal.SIGTERM) if mask >> (number - 1) & 1}


@pytest.mark.parametrize("hup", [signal.SIG_IGN, signal.SIG_DFL], ids=["nohup", "plain"])
@pytest.mark.parametrize(
    "words",
    [("worker",), ("serve", "--address", "127.0.0.1:0", "--json"), ("watch", ".", "--command", "ls {path}", "--json")],
    ids=["worker", "serve", "watch"],
)
def test_a_hangup_is_caught_unless_it_is_ignored_from_the_start(
    words: tuple[str, ...], hup: signal.Handlers, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "paddock", *words],
        cwd=tmp_path / "here",
        env={**os.environ, "PADDOCK_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, hup),
    )
    assert process.stdout is not None
    try:
        assert next(line for line in process.stdout if line.endswith(" started\n") or line.startswith("{"))
        assert _ignored(process.pid) == ({signal.SIGHUP} if hup == signal.SIG_IGN else set())
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)
    assert process.returncode == 0

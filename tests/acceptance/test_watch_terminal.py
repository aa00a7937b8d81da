"""paddock watch on a real terminal: the live view, and its end by Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.watched import QUICK, has_begun, prepare, save
from tests.waiting import until


class Terminal:
    """A program on a terminal of its own; what it printed so far, without colours and movements."""

    def __init__(self, program: Any, columns: int, *words: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.slave = slave
        environment = {**program.environment, "TERM": "xterm-256color"}
        del environment["COLUMNS"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paddock", *words],
            cwd=program.cwd,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
        )
        self._raw = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while data := os.read(self.master, 65536):
                self._raw += data
        except OSError:
            pass

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._raw.decode(errors="replace"))

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)
        self._thread.join()


@pytest.fixture
def out(program: Any) -> Path:
    return prepare(program)


def test_the_view_shows_what_is_evaluated_and_ctrl_c_says_what_is_left(program: Any, out: Path) -> None:
    terminal = Terminal(program, 80, "watch", "out", "--evaluator", "metrics.py:slow", *QUICK)
    try:
        until(lambda: has_begun(program, terminal.process.pid))
        until(lambda: "latency" in terminal.text)
        assert not terminal.echoes()
        save(out / "step=41.pt")
        until(lambda: (program.cwd / "running").exists())
        until(lambda: re.search(r"out +41 +0 +1 +0 +0 +0", terminal.text))
        terminal.type(b"\x03")
        assert terminal.process.wait(60) == 0
        until(lambda: "goes on with them" in terminal.text)
        assert "1 evaluation left in the queue evaluation." in terminal.text
        assert "^C" not in terminal.text and terminal.echoes()
    finally:
        terminal.close()


def test_plain_prints_lines_and_no_view(program: Any, out: Path) -> None:
    terminal = Terminal(program, 80, "watch", "out", "--evaluator", "metrics.py:acc", "--plain", *QUICK)
    try:
        until(lambda: has_begun(program, terminal.process.pid))
        save(out / "step=41.pt")
        until(lambda: "done out/step=41.pt acc: acc 0.1" in terminal.text)
        assert "latency" not in terminal.text
        terminal.type(b"\x03")
        assert terminal.process.wait(60) == 0
    finally:
        terminal.close()

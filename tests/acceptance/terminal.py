"""A program on a terminal of its own, as a person has it."""

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
from collections.abc import Sequence
from typing import Any

from tests.waiting import DEADLINE, until


class Terminal:
    """And what it has written: raw, and as text without colours and movements. With `errors` its stderr is apart."""

    def __init__(
        self,
        program: Any,
        columns: int,
        rows: int,
        *words: str,
        errors: bool = False,
        command: Sequence[str] = (sys.executable, "-m", "paddock"),
    ) -> None:
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        environment = {**program.environment, "TERM": "xterm-256color"}
        del environment["COLUMNS"]
        self.process = subprocess.Popen(
            [*command, *words],
            cwd=program.cwd,
            env=environment,
            stdin=self.slave,
            stdout=self.slave,
            stderr=subprocess.PIPE if errors else self.slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
        )
        self.raw = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while data := os.read(self.master, 65536):
                self.raw += data
        except OSError:
            pass

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw.decode(errors="replace"))

    def shows(self, text: str, since: int = 0) -> bool:
        return text.encode() in self.raw[since:]

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    @property
    def is_as_before(self) -> bool:
        """The settings, and the screen that the shell had."""
        return termios.tcgetattr(self.slave) == self.before and b"\x1b[?1049l" in self.raw and b"\x1b[?25h" in self.raw

    def leave(self) -> tuple[int, str]:
        """Its exit code, and what it wrote to stderr, when it has given the screen back."""
        code = self.process.wait(DEADLINE)
        assert self.process.stderr is not None
        until(lambda: b"\x1b[?1049l" in self.raw and b"\x1b[?25h" in self.raw)  # the cursor may come after the screen
        return code, self.process.stderr.read().decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        os.close(self.slave)
        os.close(self.master)
        self._thread.join()

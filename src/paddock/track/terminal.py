"""The terminal of a process that owns it: in the foreground, in the main thread."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any


class Terminal:
    """Something that can be asked; with no descriptors when there is no such terminal."""

    def __init__(self, fds: list[int]) -> None:
        self.fds = fds

    @classmethod
    @contextlib.contextmanager
    def if_owned(cls, secret: bool) -> Iterator[Terminal]:
        """What is typed is not shown when it is secret."""
        fd = _foreground()
        if fd is None:
            yield cls([])
            return
        before = _without_echo(fd) if secret else None
        try:
            yield cls([fd])
        finally:
            if before is not None:
                import termios

                with contextlib.suppress(termios.error):
                    termios.tcsetattr(fd, termios.TCSADRAIN, before)

    def say(self, text: str) -> None:
        if self.fds:
            with contextlib.suppress(Exception):
                sys.stderr.write(text)
                sys.stderr.flush()

    def read(self) -> str | None:
        """A line that was typed; None when nobody can type any more."""
        try:
            data = os.read(self.fds[0], 1 << 16)
        except OSError:
            data = b""
        if not data:
            self.fds = []
            return None
        return data.decode("utf-8", "replace").rstrip("\r\n")


def _foreground() -> int | None:
    if threading.current_thread() is not threading.main_thread():
        return None
    try:
        fd = sys.stdin.fileno()
        return fd if os.isatty(fd) and os.tcgetpgrp(fd) == os.getpgrp() else None
    except (OSError, ValueError, AttributeError):  # closed, replaced, or another session's
        return None


def _without_echo(fd: int) -> Any:
    import termios

    try:
        before = termios.tcgetattr(fd)
        changed = list(before)
        changed[3] &= ~termios.ECHO
        termios.tcsetattr(fd, termios.TCSADRAIN, changed)
    except termios.error:
        return None
    return before

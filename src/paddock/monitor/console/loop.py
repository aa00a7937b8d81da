"""The console on a terminal: keys and looks come in, the screen goes out."""

from __future__ import annotations

import os
import select
import sys
from dataclasses import replace

from paddock.monitor.console import state
from paddock.monitor.console.keys import Keys
from paddock.monitor.console.looking import Looker, Seen
from paddock.monitor.console.paint import Painter, color_system
from paddock.monitor.console.screen import View, screen
from paddock.monitor.console.state import Quit, Shown, State
from paddock.monitor.console.terminal import Left, Terminal
from paddock.monitor.now.source import Source

_ESCAPE_SECONDS = 0.05  # for which the rest of a sequence may take; after that it was the escape key
_MESSAGE_SECONDS = 6.0


class Console:
    def __init__(self, source: Source, interval: float, where: str = "") -> None:
        self._terminal = Terminal(sys.stdin.fileno(), sys.stdout.fileno())
        self._looker = Looker(source, interval, self._terminal.wake)
        encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
        self._ascii = "utf" not in encoding
        self._painter = Painter(self._terminal.write, color_system(), encoding)
        self._keys = Keys()
        self._state = State()
        self._shown: Seen = self._looker.seen  # what is on the screen; an older one while it is paused
        self._where = where

    def run(self) -> int:
        """Until somebody leaves; the exit code."""
        try:
            with self._terminal.held():
                self._looker.start()
                while self._turn():
                    pass
        except Left as left:
            return 0 if left.number == 2 else 128 + left.number  # Ctrl-C is the way out
        finally:
            self._looker.close()
        return 0

    def _turn(self) -> bool:
        self._draw()
        patience = _ESCAPE_SECONDS if self._keys.waits else _MESSAGE_SECONDS if self._state.message else None
        ready, _, _ = select.select([sys.stdin.fileno(), self._terminal.wake_fd], [], [], patience)
        if not ready and self._state.message and not self._keys.waits:
            self._state = replace(self._state, message="")
        if self._terminal.wake_fd in ready:
            self._terminal.drain()
            self._take()
        typed: list[str] = self._keys.flush() if not ready and self._keys.waits else []
        if sys.stdin.fileno() in ready:
            data = self._terminal.read()
            if not data:
                return False
            typed = self._keys.feed(data)
        return all(self._press(key) for key in typed)

    def _take(self) -> None:
        seen = self._looker.seen
        if seen.message and seen.message != self._shown.message:
            self._state = replace(self._state, message=seen.message)
        paused = self._state.paused
        # Questions are shown and answered also while the rest stands still.
        self._shown = seen if not paused else replace(self._shown, details=seen.details, message=seen.message)

    def _press(self, key: str) -> bool:
        now = self._shown.now
        self._state, order = state.press(self._state, key, now, Shown(now, self._shown.lines, self._state))
        if isinstance(order, Quit):
            return False
        if order is not None:
            self._looker.order(order)
        if not self._state.paused:
            self._shown = self._looker.seen
        self._looker.regard(self._state.subject if self._state.shows_details else "")
        return True

    def _draw(self) -> None:
        terminal = self._terminal
        if terminal.foreign or terminal.resized:
            terminal.foreign = terminal.resized = False
            self._painter.forget()
        columns, rows = terminal.size()
        seen = self._shown
        view = View(seen.now, seen.lines, self._state, seen.details, seen.trouble, self._where, self._ascii)
        self._painter.paint(screen(view, columns, rows))


def is_possible() -> bool:
    """Whether there is a terminal on both sides that can be drawn on."""
    try:
        return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except (AttributeError, ValueError):
        return False

"""A disk that is full, away or broken while a directory is looked at, or a Redis that evaluations go to: said once, and
tried again; other directories are watched meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable

from paddock.errors import HomeError
from paddock.queue.protocol import AWAY

RETRY_SECONDS = 5.0
TROUBLE = (OSError, HomeError, *AWAY)


class Trouble:
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._said = say, set[str]()
        self.is_here = False  # the last look was not finished

    def met(self, where: str, error: Exception) -> float:
        """The seconds after which to look again."""
        self.is_here = True
        self.say_once(f"{refusal(where, error)}; it is tried again", _why(error) + where)
        return RETRY_SECONDS

    def say_once(self, text: str, about: str = "") -> None:
        if (about or text) not in self._said:
            self._said.add(about or text)
            self._say(text)


def refusal(where: str, error: Exception) -> str:
    """In a sentence, without its full stop."""
    at = getattr(error, "filename", None)
    beside = f" at {at}" if isinstance(at, str) and at != where else ""
    return f"{where} cannot be dealt with now ({_why(error)}{beside})"


def _why(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)

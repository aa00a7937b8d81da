"""Sentences to the person at the terminal. Never an exception, never a `warnings.warn`: a training run under
`-W error` must not die of a remark."""

from __future__ import annotations

import select
import sys

_said: set[str] = set()
_silent = False


def say(sentence: str) -> None:
    try:
        if _silent or not _would_take():
            return
        sys.stderr.write(f"paddock: {_inert(sentence)}\n")
        sys.stderr.flush()
    except Exception:
        pass


def _would_take() -> bool:
    """A pipe that nobody reads is full some day; a training must not wait there for the sake of a remark."""
    try:
        descriptor = sys.stderr.fileno()
    except Exception:  # no file at all: a notebook, a test
        return True
    return bool(select.select([], [descriptor], [], 0)[1])


def _inert(sentence: str) -> str:
    """Names and messages of others are in it: they must not be able to drive the terminal."""
    if sentence.isprintable():
        return sentence
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in sentence)


def say_once(kind: str, sentence: str) -> None:
    if kind not in _said:
        _said.add(kind)
        say(sentence)


def forget(silent: bool = False) -> None:
    """A new run says its sentences anew, or none at all."""
    global _silent
    _silent = silent
    _said.clear()

"""Sentences to the person at the terminal. Never an exception, never a `warnings.warn`: a training run under
`-W error` must not die of a remark."""

from __future__ import annotations

import sys

_said: set[str] = set()


def say(sentence: str) -> None:
    try:
        sys.stderr.write(f"paddock: {sentence}\n")
        sys.stderr.flush()
    except Exception:
        pass


def say_once(kind: str, sentence: str) -> None:
    if kind not in _said:
        _said.add(kind)
        say(sentence)


def forget() -> None:
    """A new run says its sentences anew."""
    _said.clear()

"""Answering what a process asks: an annotation of its run."""

from __future__ import annotations

from collections.abc import Sequence

from paddock import wire
from paddock.errors import UsageError
from paddock.model import Question
from paddock.record.annotation import annotate
from paddock.record.layout import RunDirectory


def answer(directory: RunDirectory, question: Question, text: str) -> str:
    """Write the answer down, for who asked to find; returns what it was taken for."""
    meant = chosen(text, question.choices)
    if meant is None:
        raise UsageError(
            f"{text!r} is no answer to {question.prompt!r}.", hint=f"One of: {', '.join(question.choices)}."
        )
    meant = wire.text(meant)
    annotate(directory, {"k": "answer", "ask": question.id, "text": meant}, private=question.secret)
    return meant


def chosen(answer: str, choices: Sequence[str]) -> str | None:
    """The choice that is meant: as it is written, else but for capital letters, else the only one that begins so.
    Without choices any answer is one."""
    if not choices:
        return answer
    wanted = answer.strip()
    if wanted in choices:
        return wanted
    folded = wanted.casefold()
    same = [choice for choice in choices if choice.casefold() == folded]
    found = same or [choice for choice in choices if folded and choice.casefold().startswith(folded)]
    return found[0] if len(found) == 1 else None

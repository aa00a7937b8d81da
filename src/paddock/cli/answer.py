"""paddock answer: answer what a run asks."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

import click

from paddock.cli.command import Session, verb
from paddock.cli.shape import label
from paddock.cli.showing import question_line
from paddock.errors import Ambiguous, NotFound, UsageError
from paddock.model import Question, RunRow
from paddock.record.answer import answer as write_answer

_HELP = """Answer what a run asks. The id of the question is needed only where there are several.

\b
  paddock answer RUN yes
  paddock answer RUN node17-31245-9f3a1c.q1 'the second one'
"""


@verb("answer", help=_HELP)
@click.argument("run")
@click.argument("words", nargs=-1, required=True, metavar="[ID] TEXT")
def answer(session: Session, run: str, words: tuple[str, ...]) -> None:
    with session.catalog() as catalog:
        row = catalog.run(run)
        asked = catalog.questions(row.id)
    question, text = _meant(row, asked, words)
    taken = write_answer(session.home.run(row.id), question, text)
    shown = "***" if question.secret else taken
    session.out.json({"run": row.id, "question": question.id, "answer": shown})
    session.out.line(f"{label(row)}: {question.prompt} {shown}")


def _meant(row: RunRow, asked: Sequence[Question], words: Sequence[str]) -> tuple[Question, str]:
    """Which question is answered, and by which text."""
    if not asked:
        raise NotFound(f"{label(row)} asks nothing.", hint="`paddock questions` lists what is asked.")
    first, rest = words[0], " ".join(words[1:])
    named = [question for question in asked if first in (question.id, question.id.rpartition(".")[2])]
    if len(named) == 1 and len(words) > 1:
        return named[0], rest
    if named and any(first == question.id for question in named):
        raise UsageError("There is no text to answer with.", hint=f"paddock answer {row.id} {first} TEXT")
    if len(asked) == 1:
        return asked[0], " ".join(words)
    lines = tuple(f"{question.id}  {question_line(question, time())}" for question in asked)
    raise Ambiguous(f"{label(row)} asks {len(asked)} questions.", lines, hint=f"paddock answer {row.id} ID TEXT")

"""paddock questions: what processes ask and wait for."""

from __future__ import annotations

from time import time

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.showing import question_line
from paddock.model import Question


@verb("questions", help="What running processes ask and wait for; of one run, or of all. `paddock answer` answers.")
@click.argument("run", required=False)
def questions(session: Session, run: str | None) -> None:
    now = time()
    with session.catalog() as catalog:
        found = catalog.questions(catalog.run(run).id if run else None)
    session.out.json({"questions": found})
    for question in found:
        session.out.bare(question.id)
    if not found:
        session.out.note("No questions.")
    elif session.out.human:
        session.out.table(["run", "id", "question"], [_row(question, now) for question in found])


def _row(question: Question, now: float) -> list[Cell]:
    return [question.run, (question.id, "bold"), question_line(question, now)]

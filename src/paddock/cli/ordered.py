"""What cancel, pause, resume, retry, rerun and priority have in common: choose, ask, do, tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import click

from paddock.cli.command import Session, verb
from paddock.cli.engine import give_another_chance, see_to
from paddock.cli.queued import ask_about, brief, chosen, open_to_change, selection_options
from paddock.compare.text import many
from paddock.errors import NotFound, PaddockError, Refused
from paddock.queue.order.orders import FROM, RERUN, RESUME, RETRY, Step, carry_out, destination, make_durable
from paddock.queue.order.selection import Selection
from paddock.queue.protocol import Queue
from paddock.queue.show.view import Entry

_NAMED = 20  # tasks that are told one by one; of more the number


class Done(NamedTuple):
    entry: Entry
    step: Step


def order_verb(name: str, about: str, order: str, key: str, said: str) -> click.Command:
    """A verb that does one thing to the tasks that are meant. `key` names them in JSON, `said` to people."""

    @verb(name, help=about)
    @selection_options
    def call(
        session: Session,
        selection: Selection,
        queue: str | None,
        yes: bool,
    ) -> None:
        found = open_to_change(session, queue, selection.words)
        done = obey(session, found, order, selection, yes=yes)
        tell(session, done, key, said)

    return call


def obey(
    session: Session,
    queue: Queue,
    order: str,
    selection: Selection,
    *,
    yes: bool,
    priority: int | None = None,
    warn: Callable[[Sequence[Entry]], None] = lambda entries: None,
) -> list[Done]:
    """Do it to every task that is meant. Nothing is done unless it can be done to each task that was named; what
    changes hands meanwhile is left out, and said. `warn` is called before the question."""
    entries = chosen(session, queue, selection, FROM[order])
    if selection.words:
        for entry in entries:
            destination(order, entry.place)
    else:
        entries = [entry for entry in entries if entry.state in FROM[order]]
        if not entries:
            raise NotFound(f"No task fits that is {' or '.join(FROM[order])}.")
    for entry in entries[:_NAMED]:
        _ = entry.title  # read now: a cancelled task has no file any more
    warn(entries)
    ask_about(session.out, entries, selection, yes, order.capitalize())
    done, refused = [], []
    for entry in entries:
        try:
            done.append(Done(entry, carry_out(queue, order, entry.place, priority)))
        except (NotFound, Refused) as error:
            refused.append(error)
    make_durable(queue, [one.step for one in done])
    _complain(session, refused, bool(done))
    if order in (RESUME, RETRY, RERUN):
        give_another_chance(queue, [one.entry.id for one in done])
    see_to(session, queue)
    return done


def _complain(session: Session, refused: Sequence[PaddockError], others: bool) -> None:
    if refused and not others:
        raise refused[0]
    for error in refused[:10]:
        session.out.note(f"Left out: {error.message}")
    if len(refused) > 10:
        session.out.note(f"{len(refused) - 10} more were left out.")


def tell(session: Session, done: Sequence[Done], key: str, words: str) -> None:
    """The result, in each of the three ways to print."""
    out = session.out
    out.json({key: [{**brief(one.entry), "now": one.step.after.state if one.step.after else None} for one in done]})
    for one in done:
        out.bare(one.entry.id)
    if len(done) <= _NAMED:
        for one in done:
            title = one.entry.title
            remark = f" ({one.step.remark})" if one.step.remark else ""
            out.line(f"{words}: {one.entry.id}{f'  {title}' if title else ''}{remark}")
    else:
        out.line(f"{words}: {many(len(done), 'task')}.")

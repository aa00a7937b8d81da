"""paddock clean: remove what a queue can do without."""

from __future__ import annotations

import click

from paddock.cli.command import Session, verb
from paddock.cli.queued import brief, chosen, confirm, home_queues, open_to_change, queue_option, task_table
from paddock.cli.span import SPAN
from paddock.compare.text import many
from paddock.errors import NotFound, Refused
from paddock.queue.order.leftover import OVER, Leftovers, leftovers, remove
from paddock.queue.order.selection import Selection
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.show.view import Entry, snapshot

_LISTED = 50
_OLD_SECONDS = 30 * 86_400.0
_HELP = """Remove the files of tasks that are over, half-written submissions, and what dead workers left.

\b
  paddock clean                              done and failed more than 30 days ago
  paddock clean --state done --older-than 1w
  paddock clean TASK TASK

What would go is listed, and you are asked; the answer is No unless you say yes. The runs stay, with their output and
metrics; `paddock rm` removes those. Tasks that others wait for are kept.
"""


@verb("clean", help=_HELP)
@click.argument("words", nargs=-1, metavar="[TASK]...")
@queue_option
@click.option("--regex", metavar="RE", help="Tasks whose name or command fits.")
@click.option("--state", "states", multiple=True, type=click.Choice(OVER), help="Only done, or only failed ones.")
@click.option(
    "--older-than", "age", type=SPAN, metavar="TIME", help="Ended longer ago than 12h, 30d [30d; 0 for named tasks]."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
def clean(
    session: Session,
    words: tuple[str, ...],
    queue: str | None,
    regex: str | None,
    states: tuple[str, ...],
    age: float | None,
    yes: bool,
    dry_run: bool,
) -> None:
    out = session.out
    seconds = age if age is not None else 0.0 if words else _OLD_SECONDS
    source = open_to_change(session, queue)
    entries = snapshot(source).entries
    others = _others(session, source)
    found = leftovers(source, entries, _chosen(session, source, words, regex, states), seconds, others)
    if words:
        found = found._replace(files=[], workers=[])
        if found.needed:
            raise Refused(f"Other tasks wait for {found.needed[0].id}.", hint="Nothing was removed.")
    _show(session, found)
    result = {
        "tasks": [brief(entry) for entry in found.tasks],
        "files": found.remains,
        "kept": [brief(entry) for entry in found.needed],
    }
    if found.empty or dry_run:
        out.json({"removed": 0, **result})
        out.note("Nothing to remove." if found.empty else "Nothing was removed.")
        return
    if not yes and not (words and not regex and not states):
        confirm(out, f"Remove {_sum(found)}?", "Nothing was removed")
    count = remove(found)
    out.json({"removed": count, **result})
    for entry in found.tasks:
        out.bare(entry.id)
    out.line(f"{many(count, 'file')} removed.")


def _others(session: Session, source: Queue) -> list[Entry]:
    """The tasks of other queues, which may wait for some of this one."""
    found: list[Entry] = []
    for other in home_queues(session):
        if other.address == source.address:
            continue
        try:
            found += snapshot(other).entries
        except AWAY as error:
            session.out.note(f"{error.message} Its tasks may wait for some of these.")
    return found


def _chosen(
    session: Session,
    queue: Queue,
    words: tuple[str, ...],
    regex: str | None,
    states: tuple[str, ...],
) -> list[Entry]:
    try:
        found = chosen(session, queue, Selection(words, regex, states, everything=not words), OVER)
    except NotFound:
        if words:
            raise
        return []
    for entry in found:
        if words and (entry.state not in OVER or entry.worker):
            raise Refused(
                f"{entry.id} is {entry.state}.", hint=f"`paddock cancel {entry.id}` takes it out of the queue."
            )
    return found


def _sum(found: Leftovers) -> str:
    parts = [
        many(len(found.tasks), "task") if found.tasks else "",
        many(len(found.files), "leftover") if found.files else "",
        many(len(found.workers), "dead worker") if found.workers else "",
    ]
    return " and ".join(part for part in parts if part)


def _show(session: Session, found: Leftovers) -> None:
    out = session.out
    if found.tasks:
        task_table(out, found.tasks[:_LISTED])
    if len(found.tasks) > _LISTED:
        out.line(f"and {len(found.tasks) - _LISTED:,} more")
    for text in found.remains[:_LISTED]:
        out.line(text)
    if found.needed:
        out.note(f"{many(len(found.needed), 'task')} kept, because others wait for them.")

"""paddock workers: who works on the queues, and how to stop them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.queued import fitted_table, home_queues, open_queue, queue_name, queue_option
from paddock.compare.text import many, span
from paddock.errors import Ambiguous, NotFound, Refused
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.show.occupied import Slot, gangs, occupied
from paddock.queue.show.roster import DEAD, Seen
from paddock.queue.show.roster import workers as look
from paddock.queue.show.view import Entry, snapshot

_STYLES = {"alive": "green", "silent": "yellow", "dead": "red"}
_HELP = """List the workers: whether they live, what they run, and what they have room for.

\b
  paddock workers
  paddock workers -Q gpu --stop WORKER

--stop removes the worker's file, as `rm` does: it gives its tasks back to the queue and ends, or lets them finish first
when it was started with --drain. A worker is named by the beginning of its name.
"""


class Works(NamedTuple):
    queue: Queue
    seen: Seen
    slots: list[Slot]
    tasks: Mapping[str, Entry]

    def title(self, slot: Slot) -> str:
        name = self.tasks[slot.task].title if slot.task in self.tasks else slot.task
        if slot.kept:
            return f"(kept for {name or slot.task})"
        return (name or slot.task) + (f" (rank {slot.rank})" if slot.rank is not None else "")


@verb("workers", help=_HELP)
@queue_option
@click.option("--stop", "stops", multiple=True, metavar="WORKER", help="Stop this one; repeatable.")
def workers(session: Session, queue: str | None, stops: tuple[str, ...]) -> None:
    queues = [open_queue(session, queue)] if queue else home_queues(session)
    found = [works for one in queues for works in _asked(session, one, named=bool(queue))]
    if stops:
        _stop(session, found, stops)
        return
    session.out.json({"workers": [_as_json(session, works) for works in found]})
    for works in found:
        session.out.bare(works.seen.name)
    if not found:
        session.out.note("No workers. `paddock worker` starts one.")
        return
    rows = [_row(session, works, several=len(queues) > 1) for works in found]
    headers = ["worker", *(["queue"] if len(queues) > 1 else []), "state", "seen", "busy", "gpus", "runs"]
    last = len(headers) - 1
    fitted_table(session.out, headers, rows, flexible=[last], right=[last - 3, last - 2])


def _asked(session: Session, queue: Queue, named: bool) -> list[Works]:
    try:
        return _of(queue)
    except AWAY as error:
        if named:
            raise
        session.out.note(str(error))
        return []


def _of(queue: Queue) -> list[Works]:
    tasks = snapshot(queue).by_id()
    slots = occupied(tasks.values(), gangs(queue))
    return [Works(queue, seen, [slot for slot in slots if slot.worker == seen.name], tasks) for seen in look(queue)]


def _row(session: Session, works: Works, several: bool) -> list[Cell]:
    seen = works.seen
    queue: list[Cell] = [queue_name(session, works.queue)] if several else []
    return [
        (seen.name, "bold"),
        *queue,
        (seen.state, _STYLES[seen.state]),
        f"{span(seen.silence)} ago",
        f"{len(works.slots)}/{seen.identity.slots}",
        seen.identity.gpus,
        ", ".join(map(works.title, works.slots)),
    ]


def _as_json(session: Session, works: Works) -> dict[str, object]:
    seen = works.seen
    return {
        "worker": seen.name,
        "queue": queue_name(session, works.queue),
        "host": seen.identity.host,
        "pid": seen.identity.pid,
        "state": seen.state,
        "silence": seen.silence,
        "slots": seen.identity.slots,
        "gpus": list(seen.gpus),
        "tasks": [_slot_json(works, slot) for slot in works.slots],
    }


def _slot_json(works: Works, slot: Slot) -> dict[str, object]:
    entry = works.tasks.get(slot.task)
    return {
        "id": slot.task,
        "name": entry.name if entry else "",
        "state": entry.state if entry else "",
        "attempt": entry.attempt if entry else 0,
        "rank": slot.rank,
        "kept": slot.kept,
    }


def _stop(session: Session, found: list[Works], words: tuple[str, ...]) -> None:
    chosen = [works for word in words for works in _named(found, word)]
    for works in chosen:
        if works.seen.state == DEAD:
            raise Refused(
                f"{works.seen.name} is dead already.",
                hint="The next live worker takes over what it had; `paddock clean` removes its file.",
            )
    names = list(dict.fromkeys(works.seen.name for works in chosen))
    for works in chosen:
        works.queue.dismiss(works.seen.name)
    session.out.json({"stopped": names})
    for name in names:
        tasks = sum(not slot.kept for works in chosen if works.seen.name == name for slot in works.slots)
        session.out.bare(name)
        session.out.line(f"stopping: {name}" + (f" ({many(tasks, 'task')} running)" if tasks else ""))


def _named(found: list[Works], word: str) -> list[Works]:
    """One worker; it may have a file in several queues."""
    exact = [works for works in found if works.seen.name == word]
    fits = exact or [works for works in found if works.seen.name.startswith(word)]
    names = sorted({works.seen.name for works in fits})
    if not names:
        raise NotFound(f"There is no worker {word!r}.", hint="`paddock workers` lists them.")
    if len(names) > 1:
        raise Ambiguous(f"{word!r} fits {len(names)} workers.", tuple(names), hint="Use more of the name.")
    return fits

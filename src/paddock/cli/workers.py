"""paddock workers: who works on the queues, and how to stop them."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.queued import fitted_table, home_queues, open_queue, queue_name, queue_option
from paddock.compare.text import many, span
from paddock.errors import Ambiguous, NotFound, Refused
from paddock.queue.directory import DirectoryQueue
from paddock.queue.roster import DEAD, Seen
from paddock.queue.roster import workers as look
from paddock.queue.view import Entry, snapshot

_STYLES = {"alive": "green", "silent": "yellow", "dead": "red"}
_HELP = """List the workers: whether they live, what they run, and what they have room for.

\b
  paddock workers
  paddock workers -Q gpu --stop WORKER

--stop removes the worker's file, as `rm` does: it gives its tasks back to the queue and ends, or lets them finish first
when it was started with --drain. A worker is named by the beginning of its name.
"""


class Works(NamedTuple):
    queue: DirectoryQueue
    seen: Seen
    tasks: list[Entry]


@verb("workers", help=_HELP)
@queue_option
@click.option("--stop", "stops", multiple=True, metavar="WORKER", help="Stop this one; repeatable.")
def workers(session: Session, queue: str | None, stops: tuple[str, ...]) -> None:
    queues = [open_queue(session, queue)] if queue else home_queues(session)
    found = [works for one in queues for works in _of(one)]
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


def _of(queue: DirectoryQueue) -> list[Works]:
    entries = [entry for entry in snapshot(queue).entries if entry.worker]
    return [Works(queue, seen, [e for e in entries if e.worker == seen.name]) for seen in look(queue)]


def _row(session: Session, works: Works, several: bool) -> list[Cell]:
    seen = works.seen
    runs = ", ".join(f"{entry.title or entry.id}" for entry in works.tasks)
    queue: list[Cell] = [queue_name(session, works.queue)] if several else []
    return [
        (seen.name, "bold"),
        *queue,
        (seen.state, _STYLES[seen.state]),
        f"{span(seen.silence)} ago",
        f"{len(works.tasks)}/{seen.identity.slots}",
        seen.identity.gpus,
        runs,
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
        "tasks": [{"id": e.id, "name": e.name, "state": e.state, "attempt": e.attempt} for e in works.tasks],
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
        with contextlib.suppress(FileNotFoundError):  # somebody else was faster, or it has just ended
            os.unlink(works.queue.workers / works.seen.name)
    session.out.json({"stopped": names})
    for name in names:
        tasks = sum(len(works.tasks) for works in chosen if works.seen.name == name)
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

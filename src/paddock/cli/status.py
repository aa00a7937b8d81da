"""paddock status: what happens in the queues."""

from __future__ import annotations

import shlex
import textwrap
import time
from pathlib import Path
from typing import Any

import click

from paddock.cli.command import Session, verb
from paddock.cli.engine import jobs_of, see_to
from paddock.cli.output import JSON, Cell
from paddock.cli.queued import STATE_STYLES, brief, fitted_table, home_queues, open_queue, queue_name, queue_option
from paddock.cli.span import Span
from paddock.compare.text import cut_to, many, span, width
from paddock.errors import NotFound
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, PAUSED, QUEUED, is_job
from paddock.queue.protocol import AWAY, Queue
from paddock.queue.show.roster import ALIVE, SILENT
from paddock.queue.show.status import NEXT, Status, away, owned, started
from paddock.queue.show.status import status as look
from paddock.queue.show.view import Entry

TERMINAL_LIMIT, PIPE_LIMIT = 20, 1000  # waiting tasks of each queue, unless --all or --limit says otherwise
_TITLE = 16  # columns that a title keeps on a narrow terminal
_COLUMNS = (QUEUED, CHECKING, ACTIVE, PAUSED, FAILED, DONE)
_HELP = """What happens in the queues: how many tasks are where, what runs, and why each waiting task waits.

\b
  paddock status                  all queues that the home knows of
  paddock status -Q gpu           one queue
  paddock status --watch          again and again, until Ctrl-C

The waiting tasks are listed in the order in which they will be taken.
"""


@verb("status", help=_HELP)
@queue_option
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="At most so many waiting tasks a queue.")
@click.option("-a", "--all", "everything", is_flag=True, help="Every waiting task.")
@click.option("-w", "--watch", is_flag=True, help="Look again every 2 seconds.")
@click.option("--every", type=Span(0.1), default=2.0, metavar="TIME", help="How often, with --watch.")
def status(session: Session, queue: str | None, limit: int | None, everything: bool, watch: bool, every: float) -> None:
    out = session.out
    if limit is None:
        limit = TERMINAL_LIMIT if out.terminal and out.human else PIPE_LIMIT
    while True:
        queues = [open_queue(session, queue)] if queue else home_queues(session)
        if not queues and not watch:
            raise NotFound(f"There is no queue in {session.home.path}.", hint="`paddock submit` makes one.")
        rows = None if everything else limit
        found = [_look(session, one, rows, named=bool(queue)) for one in queues]
        if watch and out.terminal and out.human:
            out.raw("\x1b[H\x1b[2J")
        _print(session, found, lines=watch)
        if not watch:
            return
        out.flush()
        time.sleep(every)


def _look(session: Session, queue: Queue, rows: int | None, named: bool) -> Status:
    """A queue that is away is one line among the others, unless it was asked for."""
    try:
        return look(queue, rows, session.home, jobs=jobs_of(see_to(session, queue)))
    except AWAY as error:
        if named:
            raise
        return away(queue, str(error))


def _print(session: Session, found: list[Status], lines: bool) -> None:
    out, now = session.out, time.time()
    if out.mode == JSON:
        (out.json_line if lines else out.json)({"queues": [_as_json(session, one, now) for one in found]})
    for one in found:
        for entry in one.running:
            out.bare(entry.id)
    if not out.human:
        return
    _print_counts(session, found)
    for one in found:
        where = f" in {queue_name(session, one.queue)}" if len(found) > 1 else ""
        _print_running(session, one, now, where)
        _print_waiting(session, one, where)
        _print_remarks(session, one)


def _print_counts(session: Session, found: list[Status]) -> None:
    rows: list[list[Cell]] = []
    for one in found:
        counts: list[Cell] = [
            (f"{one.counts[state]:,}", STATE_STYLES.get(state, "") if one.counts[state] else "dim")
            for state in _COLUMNS
        ]
        if one.away:
            counts = [("?", "dim") for _ in _COLUMNS]
        rows.append([(queue_name(session, one.queue), "bold"), *counts, _crew(one)])
    session.out.table(["queue", *_COLUMNS, "workers"], rows, [False, *(True for _ in _COLUMNS), True])


def _crew(one: Status) -> Cell:
    if one.away:
        return ("away", "red")
    alive, others = len(one.crew.alive), len(one.crew.seen) - len(one.crew.alive)
    text = f"{alive} (+{others} not alive)" if others else str(alive)
    return (text, "yellow" if others or (not alive and one.jobs is None and one.counts["queued"]) else "")


def _print_running(session: Session, one: Status, now: float, where: str) -> None:
    rows: list[list[Cell]] = []
    for entry in one.running:
        fate = one.fate(entry)
        worker: Cell = one.holder(entry) if fate == ALIVE else (f"{fate}: {entry.worker}", "red")
        if not entry.worker:
            worker = ("nobody's name", "yellow")
        ranks = one.gangs[entry.id].ranks if entry.id in one.gangs else {}
        if len(ranks) > 1 and fate == ALIVE:
            worker = f"{len(ranks)} ranks on {many(len({seat.worker for seat in ranks}), 'worker')}"
        elapsed = span(max(0.0, now - started(entry, session.home)))
        rows.append([(entry.id, "bold"), entry.title, worker, str(entry.attempt), elapsed])
    if rows:
        session.out.heading(f"running{where}")
        fitted_table(session.out, ["id", "task", "worker", "attempt", "elapsed"], rows, flexible=[1, 2], right=[3, 4])


def _print_waiting(session: Session, one: Status, where: str) -> None:
    out, rows = session.out, list[list[Cell]]()
    titles = [entry.title for entry, _ in one.waiting]
    room = max(_TITLE, min(max(map(width, titles), default=0), out.width // 4)) if out.terminal else out.width
    for (entry, why), title in zip(one.waiting, titles, strict=True):
        first, *more = _lines(why, out.width - len(entry.id) - room - 4) if out.terminal else [why]
        rows.append([(entry.id, "bold"), cut_to(title, room), (first, "green" if why == NEXT else "")])
        rows += [["", "", line] for line in more]
    if rows:
        out.heading(f"waiting{where}")
        out.table(["id", "task", "why"], rows)
    if one.more:
        out.note(f"{one.more:,} more; --all shows them.")


def _lines(text: str, room: int) -> list[str]:
    """The reason is what one looks for: it is broken into lines, never cut."""
    return textwrap.wrap(text, max(room, _TITLE), subsequent_indent="  ", break_on_hyphens=False) or [""]


def _print_remarks(session: Session, one: Status) -> None:
    out, name = session.out, queue_name(session, one.queue)
    if one.away:
        out.note(one.away)
        return
    if not one.sure and not (isinstance(one.queue, DirectoryQueue) and one.queue.is_untouched()):
        out.note(f"Not all of {one.queue.address} could be read: this may be less than there is.")
    for path in one.strangers[:5]:
        out.note(f"{path} of {one.queue.address} is no task, and is left alone.")
    if len(one.strangers) > 5:
        out.note(f"{len(one.strangers) - 5} more in {one.queue.address} are no tasks.")
    for seen in [seen for seen in one.crew.seen.values() if seen.state == SILENT][:5]:
        out.note(f"The worker {seen.name} has shown no sign of life for {span(seen.silence)}.")
    roachs = _roachs(one)
    for entry, base in roachs[:5]:
        here, there = shlex.quote(f"{base}/{entry.place.path}"), shlex.quote(f"{base}/{QUEUED}")
        out.note(f"{entry.id} bears no worker's name: a worker of roach's may run it. If none does: mv {here} {there}/")
    stuck = sum(1 for entry in one.running if one.fate(entry) != ALIVE and not is_job(entry.worker)) - len(roachs)
    if stuck:
        whose = "a worker that is" if stuck == 1 else "workers that are"
        out.note(f"{many(stuck, 'task')} of {whose} not alive: a live worker takes over.")
    if one.jobs is None and not one.crew.alive and (stuck or one.counts["queued"]):
        out.note(f"No worker of {name} is alive: `paddock worker {shlex.quote(name)}` starts one.")


def _roachs(one: Status) -> list[tuple[Entry, Path]]:
    """What no worker of ours takes over, because one of roach's may be at it: they put no name on what they run. And
    where it is."""
    queue = one.queue
    if not isinstance(queue, DirectoryQueue):
        return []
    nobodys = [entry for entry in one.running if not entry.worker]
    return [(entry, queue.base) for entry in nobodys if entry.file is not None and entry.file.roach]


def _as_json(session: Session, one: Status, now: float) -> dict[str, Any]:
    return {
        "queue": queue_name(session, one.queue),
        "path": one.queue.address,
        "counts": one.counts,
        "running": [_running_json(session, one, entry, now) for entry in one.running],
        "waiting": [
            {**brief(entry), "title": entry.title, "priority": entry.place.priority, "why": why}
            for entry, why in one.waiting
        ],
        "more": one.more,
        "workers": [
            {"worker": seen.name, "host": seen.identity.host, "state": seen.state, "silence": seen.silence}
            for seen in one.crew.seen.values()
        ],
        "strangers": one.strangers,
        "sure": one.sure,
        "away": one.away,
    }


def _running_json(session: Session, one: Status, entry: Entry, now: float) -> dict[str, Any]:
    began = started(entry, session.home)
    fate = one.fate(entry)
    seen = one.crew.seen.get(entry.worker)
    return {
        **brief(entry),
        "title": entry.title,
        "worker": entry.worker,
        "host": seen.identity.host if seen else "",
        "worker_state": fate,
        "attempt": entry.attempt,
        "started": began,
        "elapsed": max(0.0, now - began),
        "ranks": {str(rank): seat.worker for seat, rank in one.gangs[entry.id].ranks.items()}
        if entry.id in one.gangs
        else {},
        "remark": owned(entry, one.crew) if fate != ALIVE else "",
    }

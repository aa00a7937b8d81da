"""paddock wait: until tasks are over."""

from __future__ import annotations

import contextlib
import math
import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable

import click

from paddock.cli.command import Session, verb
from paddock.cli.engine import see_to
from paddock.cli.queued import STATE_STYLES, chosen, open_queue, queue_name, selecting
from paddock.cli.span import SPAN
from paddock.compare.text import many
from paddock.errors import PaddockError, TaskFailed, TimedOut
from paddock.queue import engine as engines
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, PAUSED, QUEUED, STATES
from paddock.queue.order.over import GONE, wait_until_over
from paddock.queue.order.selection import Selection
from paddock.queue.protocol import Queue
from paddock.queue.show.roster import ALIVE, workers
from paddock.queue.show.view import Entry, snapshot

_NAMED = 1000
_TEND_SECONDS = 15.0  # between two questions to an engine that tells nothing by itself
_TEND_SHARE = 0.2  # of the time at most that is spent with questions
_SUBMITTED = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{4}")
_NOT_OVER = (QUEUED, CHECKING, ACTIVE, PAUSED)
_HELP = """Wait until tasks are over. Without a selection: all tasks that are in the queue now.

\b
  paddock wait TASK TASK
  paddock wait --regex 'seed=' --timeout 2h
  paddock wait && paddock compare project=digits

The exit code is 0 when all are done, 10 when one failed or was cancelled, 11 when the time was over first.
"""


@verb("wait", help=_HELP)
@selecting("All tasks that are not over; so without a selection.")
@click.option("--timeout", type=SPAN, metavar="TIME", help="Wait no longer than 90s, 1h30m, 4:00:00.")
def wait(
    session: Session,
    selection: Selection,
    queue: str | None,
    timeout: float | None,
) -> None:
    out = session.out
    found = open_queue(session, queue, selection.words)
    entries = _chosen(session, found, selection)
    # Read now: a cancelled task has no file any more. A hundred thousand are not told by name.
    titles = {entry.id: entry.title if len(entries) <= _NAMED else "" for entry in entries}
    if out.terminal and entries:
        out.note(
            f"Waiting for {many(len(entries), 'task')}: {_counted(entries)}. Ctrl-C ends the waiting, not the tasks."
        )
    _warn(session, found, entries)

    def tell(task: str, state: str) -> None:
        out.line(f"{state:7} {task}  {titles[task]}", STATE_STYLES.get(state, "magenta"))
        out.flush()

    said: set[str] = set()

    def away(why: str) -> None:
        if why not in said:
            said.add(why)
            out.note(f"{why} It is waited for.")

    over = wait_until_over(found, titles, timeout, tell, _tending(session, found), away)
    now = {entry.id: entry.state for entry in snapshot(found).entries} if len(over) < len(titles) else {}
    result = {task: over.get(task) or now.get(task, GONE) for task in titles}
    out.json({"tasks": [{"id": e.id, "name": e.name, "state": result[e.id]} for e in entries], "over": len(over)})
    if len(over) < len(titles):
        out.note(f"{many(len(titles) - len(over), 'task')} not over yet.")
        sys.exit(TimedOut.exit_code)
    bad = sum(state != DONE for state in over.values())
    if bad:
        out.note(f"{bad:,} of {many(len(over), 'task')} did not succeed.")
        sys.exit(TaskFailed.exit_code)


def _tending(session: Session, queue: Queue) -> Callable[[], None]:
    """See to an engine's queue now and then, and soon after the engine has told of something: a job that was lost is
    started again, and one that is over is put away."""
    engine = engines.read(queue.path) if isinstance(queue, DirectoryQueue) else None
    if engine is None or not isinstance(queue, DirectoryQueue):
        return lambda: None
    from paddock.work.launch.engines import launcher
    from paddock.work.launcher import Herald, Launcher

    by: Launcher | None = None
    with contextlib.suppress(PaddockError):  # it cannot even be asked: see_to says so
        by = launcher(engine, session.home)
    news: Callable[[], bool] = by.listen(queue) if isinstance(by, Herald) else lambda: False
    due = soon = -math.inf

    def look() -> None:
        nonlocal due, soon
        now = time.monotonic()
        if now >= due or (now >= soon and news()):
            see_to(session, queue, by=by)
            due = time.monotonic() + _TEND_SECONDS
            soon = time.monotonic() + (time.monotonic() - now) / _TEND_SHARE

    return look


def _chosen(session: Session, queue: Queue, selection: Selection) -> list[Entry]:
    if selection.words or selection.regex is not None or selection.states:
        return chosen(session, queue, selection, _NOT_OVER)
    found = sorted((e for e in snapshot(queue).entries if e.state in _NOT_OVER), key=lambda e: e.id)
    # A hundred thousand are not read for this: a name that `submit` gave belongs to a task.
    others = {e.id: e for e in found if e.state == QUEUED and not _SUBMITTED.fullmatch(e.id) and e.trouble}
    for entry in others.values():
        session.out.note(f"{entry.place.path} is not waited for: {entry.trouble}")
    return [e for e in found if e.id not in others]


def _counted(entries: list[Entry]) -> str:
    """3 queued, 2 active"""
    counts = Counter(entry.state for entry in entries)
    return ", ".join(f"{counts[state]:,} {state}" for state in STATES if counts[state])


def _warn(session: Session, queue: Queue, entries: list[Entry]) -> None:
    """What would make this a long wait."""
    paused = sum(entry.state == PAUSED for entry in entries)
    if paused:
        session.out.note(f"{many(paused, 'task')} paused: `paddock resume` lets them go on.")
    by_hand = not isinstance(queue, DirectoryQueue) or engines.read(queue.path) is None
    if by_hand and any(e.state == QUEUED for e in entries) and not any(w.state == ALIVE for w in workers(queue)):
        session.out.note(f"No worker is alive: `paddock worker {shlex.quote(queue_name(session, queue))}` starts one.")

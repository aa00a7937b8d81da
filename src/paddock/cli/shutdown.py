"""paddock shutdown: end all that watches have started, and take back what waits for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from paddock.cli.command import Session, verb
from paddock.cli.queued import confirm
from paddock.cli.span import SPAN
from paddock.cli.watch.keeping import ending
from paddock.cli.watch.shown import known, life, near
from paddock.compare.text import many
from paddock.evaluate.ledger.account import PENDING, Evaluation, tasks
from paddock.evaluate.ledger.watcher import Seen, watchers
from paddock.evaluate.ledger.watches import Watch
from paddock.evaluate.watching.again import withdraw
from paddock.monitor.watches import stands
from paddock.queue.show.roster import DEAD
from paddock.record.process import exists

_KILL_SECONDS = 2.0  # with --force
_HELP = """End all watchers of this home, and the workers that they started; take back what waits for evaluation.

Only what watches have started is touched, and only your own: workers that you started yourself and other tasks stay.
What was taken back is not lost: the next `paddock watch` of the directory submits it again.
"""


class Found(NamedTuple):
    watchers: list[Seen]
    strangers: list[Seen]  # of other people
    workers: list[tuple[int, str]]  # that live
    waiting: list[tuple[Watch, Evaluation]]


@verb("shutdown", help=_HELP)
@click.option("-y", "--yes", is_flag=True, help="Do not ask; where nobody can answer it is not asked.")
@click.option("--force", is_flag=True, help="Kill what does not end at once; do not let evaluations end first.")
@click.option(
    "--timeout", type=SPAN, default="60s", show_default=True, metavar="TIME", help="Wait no longer than this."
)
# The last four are assayer's: every watch of the home ends, whatever its queue.
@click.option("--redis-host", "--redis_host", hidden=True)
@click.option("--redis-port", "--redis_port", hidden=True)
@click.option("--watch-queue-name", "--watch_queue_name", hidden=True)
@click.option("--eval-queue-name", "--eval_queue_name", hidden=True)
def shutdown(session: Session, yes: bool, force: bool, timeout: float, **_: str | None) -> None:
    seconds = _KILL_SECONDS if force else timeout
    found = _look(session)
    for seen in found.strangers:
        session.out.note(f"{seen.name} belongs to somebody else, and is left alone.")
    if not found.watchers and not found.waiting:
        session.out.json({"watchers": [], "workers": 0, "evaluations": 0, "left": []})
        session.out.note("There is nothing to shut down.")
        return
    _list(session, found)
    if not yes:
        confirm(session.out, "Shut all of this down?", "Nothing was shut down", alone=True)
    left = _end(session, found.watchers, seconds, force)
    taken = _take_back(session)
    session.out.json(
        {
            "watchers": [seen.name for seen in found.watchers if seen not in left],
            "workers": len(found.workers),
            "evaluations": taken,
            "left": [seen.name for seen in left],
        }
    )
    for seen in found.watchers:
        session.out.bare(seen.name)
    session.out.line(
        f"{many(len(found.watchers) - len(left), 'watcher')} ended, {many(taken, 'evaluation')} taken back."
    )
    if left:
        names = ", ".join(f"{seen.name} on {seen.host}" for seen in left)
        session.out.note(f"Not ended yet: {names}. " + ("" if force else "--force kills what is on this machine."))


def _look(session: Session) -> Found:
    everybody = watchers(session.home)
    mine = [seen for seen in everybody if seen.own]
    workers = [worker for seen in mine for worker in seen.facts.workers if seen.here or seen.state == DEAD]
    waiting = [(watch, one) for watch in known(session) for one in stands(watch).evaluations if _waits(one)]
    return Found(mine, [s for s in everybody if not s.own], [one for one in workers if exists(*one)], waiting)


def _waits(one: Evaluation) -> bool:
    return one.state == PENDING and not one.reason  # with one it is paused, or taken back already


def _list(session: Session, found: Found) -> None:
    for seen in found.watchers:
        where = ", ".join(map(near, seen.directories[:3]))
        more = f" and {len(seen.directories) - 3} more" if len(seen.directories) > 3 else ""
        session.out.note(f"  watcher {seen.name} ({life(seen)[0]}): {where}{more}")
    session.out.note(f"  {many(len(found.workers), 'worker')}, {many(len(found.waiting), 'evaluation')} waiting")


def _end(session: Session, found: Sequence[Seen], seconds: float, force: bool) -> list[Seen]:
    home = session.home
    living = [seen for seen in found if seen.state != DEAD]
    for seen in living:
        ending.order(home, seen)
    orphans = ending.end_orphans(home, found)
    left = ending.wait(home, living, seconds)
    late = ending.wait_for_processes(orphans, seconds)
    if force:
        ending.kill(home, left)
        for worker in late:
            ending.signal_one(*worker, 9)
        left = ending.wait(home, left, _KILL_SECONDS)
    return left


def _take_back(session: Session) -> int:
    """After the workers have given back what they ran."""
    count = 0
    for watch in known(session):
        waiting = [one for one in stands(watch).evaluations if _waits(one)]
        where = tasks(watch.queues).and_of(one.finding for one in waiting)
        for one in waiting:
            if one.finding.task in where.places:
                queue, place = where.places[one.finding.task]
                count += withdraw(watch.ledger, queue, place, one)
    return count

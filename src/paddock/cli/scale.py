"""paddock scale: keep as many workers on an engine as a queue needs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from paddock import settings
from paddock.amounts import parse_bytes
from paddock.cli.command import Session, verb
from paddock.cli.span import Span
from paddock.compare.source import source
from paddock.compare.text import many
from paddock.errors import Refused, Unreachable, UsageError
from paddock.queue import engine as engines
from paddock.queue.directory import DirectoryQueue
from paddock.queue.finding import find_queue
from paddock.queue.protocol import Queue
from paddock.queue.task import Task

if TYPE_CHECKING:
    from paddock.work.launch.scaling import Round

_HELP = """Keep as many jobs with a worker running on ENGINE as QUEUE needs, until Ctrl-C.

\b
  paddock scale slurm --max 10 --gpus 1 --time 4:00:00 gpu
  paddock scale slurm://gpu?account=vision --max 4 --min 1
  paddock scale slurm --max 10 --once            one look, for cron
  paddock scale slurm --down                     end them; their tasks go back to the queue

A worker leaves when nothing is left to do, and before the time of its job is over. Those that wait for room are taken
back when they are not needed any more. Ctrl-C leaves the jobs alone.
"""


@verb("scale", help=_HELP)
@click.argument("engine", metavar="ENGINE")
@click.argument("queue", required=False, metavar="[QUEUE]")
@click.option("--max", "most", type=click.IntRange(min=1), default=1, show_default=True, help="Jobs at once.")
@click.option("--min", "least", type=click.IntRange(min=0), default=0, help="Jobs that stay also when nothing waits.")
@click.option("--gpus", type=click.IntRange(min=0), default=0, metavar="N", help="GPUs of each.")
@click.option("--cpus", type=click.IntRange(min=0), default=0, metavar="N", help="Cores of each.")
@click.option("--mem", default="0", metavar="SIZE", help="Memory of each, such as 8G.")
@click.option("--slots", type=click.IntRange(min=1), default=1, metavar="N", help="Tasks at once in each [1].")
@click.option("--time", "limit", metavar="TIME", help="How long each may take: 90m, 4:00:00, 1-00:00:00.")
@click.option("--engine", "told", multiple=True, metavar="KEY=VALUE", help="More for the engine; repeatable.")
@click.option("--every", type=Span(1), default=15.0, metavar="TIME", help="Between two looks [15].")
@click.option("--once", is_flag=True, help="One look, then leave.")
@click.option("--down", is_flag=True, help="End them all.")
def scale(
    session: Session,
    engine: str,
    queue: str | None,
    most: int,
    least: int,
    slots: int,
    every: float,
    once: bool,
    down: bool,
    **needs: Any,
) -> None:
    from paddock.cli.submit import _pairs
    from paddock.work.launch.engines import fleet
    from paddock.work.launch.scaling import Patience, look, room

    if least > most:
        raise UsageError(f"--min {least} is more than --max {most}.")
    where = engines.parse(engine if "://" in engine else f"{engine}://")
    home = source(session.home_option).home
    home.prepare()
    found = find_queue(queue or settings.load().queue, home)
    found.prepare()
    if not isinstance(found, DirectoryQueue):
        _hand_on(session, where, found, needs["told"])
    if isinstance(found, DirectoryQueue) and engines.read(found.path) is not None:
        raise UsageError(f"The tasks of {found.path} get a job each already.", hint="Name a queue without an engine.")
    told = {**_pairs(needs.pop("told"), "--engine"), **({"time": limit} if (limit := needs.pop("limit")) else {})}
    each = Task(id="pilot", command="", engine=told, gpus=needs["gpus"], cpus=needs["cpus"], mem=_bytes(needs["mem"]))
    pilots = fleet(where, home, str(found.path) if isinstance(found, DirectoryQueue) else found.address, each, slots)
    if down:
        there = [pilot for pilot in pilots.look() if pilot.state.may_run]
        pilots.end(there)
        session.out.line(f"{many(len(there), 'job')} ended.")
        session.out.json({"ended": [pilot.id for pilot in there]})
        return
    has = room(each, slots, {**dict(where.options), **told})
    if once:
        _note(session, _told(session, look(found, pilots, has, least=least, most=most), once))
        return
    said, patience = "", Patience(every)
    try:
        while True:
            try:
                one = look(found, pilots, has, least=least, most=most)
                patience.see(one.pilots)
                text = _told(session, one, once)
            except (Unreachable, Refused) as error:
                text = f"{error} It is tried again."
            if text != said:
                _note(session, text)
                said = text
            time.sleep(patience.seconds)
    except KeyboardInterrupt:  # whenever it comes, also in the middle of a look
        session.out.note("The jobs are left alone: each leaves when nothing is left to do; --down ends them.")


def _hand_on(session: Session, where: engines.Engine, queue: Queue, told: Sequence[str]) -> None:
    """A Redis's password reaches Slurm's jobs with the environment, and pods by a Secret that somebody has made."""
    from paddock.queue.redis.queue import RedisQueue

    assert isinstance(queue, RedisQueue)
    queue.hand_on()
    knows = queue.where.password or settings.load().redis_password
    has_secrets = any(name == "secrets" for name, _ in where.options) or any(one.startswith("secrets=") for one in told)
    if where.scheme == "k8s" and knows and not has_secrets:
        session.out.note(
            "The pods do not know the password of the queue: put it into a Secret, and say "
            "--engine secrets=PADDOCK_REDIS_PASSWORD=SECRET/KEY."
        )


def _note(session: Session, text: str) -> None:
    session.out.note(f"{time.strftime('%H:%M:%S')} {text}")


def _bytes(text: str) -> int:
    return parse_bytes(text) if text != "0" else 0


def _told(session: Session, one: Round, once: bool) -> str:
    count: dict[str, int] = {}
    for pilot in one.pilots:
        if pilot.state.may_run:
            count[pilot.state.value] = count.get(pilot.state.value, 0) + 1
    start, end = one.done.start + one.done.start_lasting, len(one.done.end)
    if once:
        found = {"tasks": one.tasks, "too_large": one.misfits, "jobs": count, "started": start, "ended": end}
        session.out.json(found)
    there = ", ".join(f"{number} {state}" for state, number in sorted(count.items())) or "none"
    done = [f"{start} started" if start else "", f"{end} taken back" if end else ""]
    said = f"{many(one.tasks, 'task')}; jobs: {there}" + "".join(f", {text}" for text in done if text) + "."
    failed = [pilot for pilot in one.pilots if pilot.failed]
    if failed:
        said += f" {many(len(failed), 'job')} failed, at last {failed[-1].id}: {failed[-1].about}"
    if one.misfits:
        said += f" Too large for these jobs (--gpus, --cpus, --mem, --max): {many(one.misfits, 'task')}."
    return said

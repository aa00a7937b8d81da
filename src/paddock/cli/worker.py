"""paddock worker: take tasks from queues and run them here."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddock import settings, wire
from paddock.amounts import parse_bytes
from paddock.cli import workplace
from paddock.cli.command import Session, verb
from paddock.cli.span import SPAN, Span
from paddock.compare.source import source
from paddock.errors import NotFound, UsageError
from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.redis.address import is_redis
from paddock.record.layout import Home

if TYPE_CHECKING:
    from paddock.work.options import Options
    from paddock.work.redis.working import RedisWorker
    from paddock.work.slots import Slots

_HELP = """Take tasks from QUEUEs and run them here, until you stop it.

\b
  paddock worker                         the default queue, one task at a time
  paddock worker gpu --gpus 0,1          two at once, a GPU each
  paddock worker /shared/q --slots 4     a queue in any directory
  paddock worker --no-persist            leave when there is nothing more to do
  paddock worker --until 4h --drain      take no task that may not end in time
  paddock worker --only TASK             this one, as an engine does that starts a job for each task: the exit code is
                                         0 when it is done (or gone), 10 failed, 75 given back to the queue

Any number of workers, on any machines that share the directory. Ctrl-C, TERM or HUP give the running tasks back to
the queue (a second one at once, without grace); removing the worker's file in QUEUE/workers/ does the same. Tasks
inherit the worker's environment.
"""


@verb("worker", help=_HELP)
@click.argument("queues", nargs=-1, metavar="[QUEUE]...")
@click.option("-Q", "--queue", "more", multiple=True, metavar="QUEUE", help="The same, as other verbs have it.")
@click.option("--gpus", metavar="0,1", help="The GPUs to give out, or `all`; as many slots as GPUs.")
@click.option("--slots", type=int, metavar="N", help="Tasks at once [1, or the number of --gpus].")
@click.option("--cpus", type=click.IntRange(min=1), metavar="N", help="Cores to give out [all that it may use].")
@click.option("--mem", metavar="SIZE", help="Memory to give out, such as 64G [all of the machine].")
@click.option("--one-task", is_flag=True, help="Leave after one task.")
@click.option("--only", metavar="TASK", help="Run this task alone, and leave when it is over: exit code 0, 10 or 75.")
@click.option("--no-persist", is_flag=True, help="Leave when nothing runs and nothing can come.")
@click.option("--until", type=Span(0.001), metavar="TIME", help="Leave after 2h, 1h30m, 4:00:00 [the Slurm job's end].")
@click.option("--drain", is_flag=True, help="When it is to stop, let the running tasks finish first.")
@click.option("--warm", multiple=True, metavar="JSON", hidden=True)
@click.option("--parent", type=int, metavar="PID", hidden=True)
@click.option("--grace", type=SPAN, metavar="TIME", default="30s", show_default=True, help="From SIGTERM to SIGKILL.")
def worker(
    session: Session,
    queues: tuple[str, ...],
    more: tuple[str, ...],
    gpus: str | None,
    slots: int | None,
    cpus: int | None,
    mem: str | None,
    one_task: bool,
    only: str | None,
    no_persist: bool,
    until: float | None,
    drain: bool,
    warm: tuple[str, ...],
    parent: int | None,
    grace: float,
) -> None:
    from paddock.work.attempts.spares import kinds
    from paddock.work.notices import notify
    from paddock.work.processes import process
    from paddock.work.slots import from_options
    from paddock.work.worker import Options, Worker

    if parent is not None and not process.end_with(parent):
        return

    def tell(texts: Sequence[str]) -> None:
        _tell(session, texts)

    given = settings.load()
    home = source(session.home_option).home  # it need not exist yet
    home.prepare()
    names = list(dict.fromkeys((*queues, *more) or (given.queue,)))
    if only:
        only = _sought(session, home, names, only)
    options = Options(
        from_options(
            workplace.all_gpus() if gpus == "all" else gpus,
            slots,
            os.environ,
            cpus or workplace.all_cores(),
            parse_bytes(mem) if mem else workplace.all_memory(),
        ),
        one_task=one_task,
        only=only or "",
        persist=not no_persist and not only,
        drain=drain,
        until=until or 0.0,
        end=workplace.seconds_left(),
        grace=grace,
        liveness=workplace.liveness(given),
        notify=notify.load_all(say=session.out.note),
        usage=given.worker_usage_seconds,
        fetch=workplace.code_road(given, home),
        warm=kinds(Path.cwd(), map(wire.loads, warm)),
    )
    found: list[DirectoryQueue] = []
    works: Worker | RedisWorker
    cache = workplace.cache(given, home)
    if any(map(is_redis, names)):
        works = _on_redis(session, names, home, options, cache)
        where, inner = works.queue.address, works.worker
    else:
        found = [find_queue(name, home) for name in names]
        works = inner = Worker(home, found, options, cache, tell)
        where = ", ".join(str(queue.path) for queue in found)
    session.out.note(f"{works.name} works on {where} ({_room(options.slots)}). Ctrl-C gives its tasks back.")
    notifier = workplace.notifier(home, options.notify, given, tell)
    ferry = workplace.ferry(home, given, tell)
    if ferry is not None:
        inner.settling.ended = ferry.take
    code = works.run()
    if ferry is not None:
        ferry.close(given.ship_seconds)
    if notifier is not None:
        notifier.close()
    session.out.json({"worker": works.name, "tasks": works.taken, "stopped": works.stopping})
    sys.exit(workplace.fate(found, only) if only else code)


def _on_redis(session: Session, names: list[str], home: Home, options: Options, cache: Path) -> RedisWorker:
    from paddock.queue.redis.queue import RedisQueue
    from paddock.queue.remembered import remember
    from paddock.work.redis.working import RedisWorker

    if len(names) > 1:
        raise UsageError("A worker on a queue in Redis works on that alone.", hint="Start one for each queue.")
    if options.only:
        raise UsageError("--only is for queues in directories.")
    queue = RedisQueue(names[0])
    works = RedisWorker(home, queue, options, cache, lambda texts: _tell(session, texts))
    remember(queue.address, queue.name, home)
    return works


def _sought(session: Session, home: Home, names: list[str], word: str) -> str:
    """The id of the task that a person may have named otherwise. An engine has ids, also of one that is gone."""
    from paddock.queue.order.selection import named
    from paddock.queue.show.view import snapshot

    places = [find_queue(name, home) for name in names if not is_redis(name)]
    entries = [entry for queue in places if queue.exists() for entry in snapshot(queue).entries]
    try:
        return named(entries, [word])[0].id
    except NotFound:
        if places:
            session.out.note(f"There is no task {word!r} in {', '.join(queue.address for queue in places)}.")
        return word


def _tell(session: Session, texts: Sequence[str]) -> None:
    now = time.strftime("%H:%M:%S")
    session.out.note(*(f"{now} {text}" for text in texts))


def _room(slots: Slots) -> str:
    return f"{slots.tasks} at once" + (f", GPUs {','.join(slots.gpus)}" if slots.gpus else "")

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
from paddock.cli.command import Session, verb
from paddock.compare.view import source
from paddock.errors import UsageError
from paddock.queue.directory import find_queue
from paddock.queue.entry.submission import parse_bytes, parse_seconds
from paddock.queue.lifecycle import Liveness
from paddock.record.layout import Home

if TYPE_CHECKING:
    from paddock.monitor.notices.notifying import Notifier
    from paddock.track.ship.ferry import Ferry
    from paddock.work.notices.notify import Notify
    from paddock.work.slots import Slots

_HELP = """Take tasks from QUEUEs and run them here, until you stop it.

\b
  paddock worker                         the default queue, one task at a time
  paddock worker gpu --gpus 0,1          two at once, a GPU each
  paddock worker /shared/q --slots 4     a queue in any directory
  paddock worker --no-persist            leave when there is nothing more to do
  paddock worker --until 4h --drain      take no task that may not end in time

Any number of workers, on any machines that share the directory. Ctrl-C, TERM or HUP give the running tasks back to
the queue (a second one at once, without grace); removing the worker's file in QUEUE/workers/ does the same. Tasks
inherit the worker's environment.
"""


@verb("worker", help=_HELP)
@click.argument("queues", nargs=-1, metavar="[QUEUE]...")
@click.option("--gpus", metavar="0,1", help="The GPUs to give out [CUDA_VISIBLE_DEVICES]; as many slots as GPUs.")
@click.option("--slots", type=int, metavar="N", help="Tasks at once [1, or the number of --gpus].")
@click.option("--cpus", type=click.IntRange(min=1), metavar="N", help="Cores to give out [all that it may use].")
@click.option("--mem", metavar="SIZE", help="Memory to give out, such as 64G [all of the machine].")
@click.option("--one-task", is_flag=True, help="Leave after one task.")
@click.option("--no-persist", is_flag=True, help="Leave when nothing runs and nothing can come.")
@click.option("--until", metavar="TIME", help="Leave after 2h, 90m, 1d [the end of the Slurm job].")
@click.option("--drain", is_flag=True, help="When it is to stop, let the running tasks finish first.")
@click.option("--warm", multiple=True, metavar="JSON", hidden=True)
@click.option("--parent", type=int, metavar="PID", hidden=True)
@click.option("--grace", metavar="TIME", default="30s", show_default=True, help="From SIGTERM to SIGKILL.")
def worker(
    session: Session,
    queues: tuple[str, ...],
    gpus: str | None,
    slots: int | None,
    cpus: int | None,
    mem: str | None,
    one_task: bool,
    no_persist: bool,
    until: str | None,
    drain: bool,
    warm: tuple[str, ...],
    parent: int | None,
    grace: str,
) -> None:
    from paddock.work.attempts.spares import kinds
    from paddock.work.notices import notify
    from paddock.work.processes import process
    from paddock.work.slots import from_options
    from paddock.work.worker import Options, Worker

    if parent is not None and not process.end_with(parent):
        return
    given = settings.load()
    options = Options(
        from_options(gpus, slots, os.environ, cpus or len(os.sched_getaffinity(0)), _memory(mem)),
        one_task=one_task,
        persist=not no_persist,
        drain=drain,
        until=parse_seconds(until),
        end=_seconds_left(),
        grace=parse_seconds(grace),
        liveness=_liveness(given),
        notify=notify.load_all(say=session.out.note),
        usage=given.worker_usage_seconds,
        warm=kinds(Path.cwd(), map(wire.loads, warm)),
    )
    home = source(session.home_option).home  # it need not exist yet
    home.prepare()
    found = [find_queue(name, home) for name in dict.fromkeys(queues or (given.queue,))]
    works = Worker(home, found, options, _cache(given, home), lambda texts: _tell(session, texts))
    where = ", ".join(str(queue.path) for queue in found)
    session.out.note(f"{works.name} works on {where} ({_room(options.slots)}). Ctrl-C gives its tasks back.")
    notifier = _notifier(session, home, options.notify, given)
    ferry = _ferry(session, home, given)
    if ferry is not None:
        works.settling.ended = ferry.take
    code = works.run()
    if ferry is not None:
        ferry.close(given.ship_seconds)
    if notifier is not None:
        notifier.close()
    session.out.json({"worker": works.name, "tasks": works.taken, "stopped": works.stopping})
    sys.exit(code)


def _notifier(session: Session, home: Home, notifies: tuple[Notify, ...], given: settings.Settings) -> Notifier | None:
    """What happens to any run of the home, for who wants to know more than a worker sees by itself."""
    from paddock.work.notices.notify import QUEUE_EVENTS

    if not any(one.query or set(one.on) - set(QUEUE_EVENTS) for one in notifies if not one.silent):
        return None
    from paddock.monitor.notices.notifying import Notifier

    made = Notifier(home, notifies, given, lambda text: _tell(session, [text]))
    made.start()
    return made


def _ferry(session: Session, home: Home, given: settings.Settings) -> Ferry | None:
    """Processes of tasks send their runs themselves, if they know how; a worker sends how they ended."""
    if not given.server or given.mode in ("offline", "dryrun", "disabled"):
        return None
    from paddock.address import parse
    from paddock.record.token import find_token
    from paddock.track.ship.ferry import Ferry

    return Ferry(home, parse(given.server), find_token(home), given.server_ca, lambda text: _tell(session, [text]))


def _tell(session: Session, texts: Sequence[str]) -> None:
    now = time.strftime("%H:%M:%S")
    session.out.note(*(f"{now} {text}" for text in texts))


def _room(slots: Slots) -> str:
    return f"{slots.tasks} at once" + (f", GPUs {','.join(slots.gpus)}" if slots.gpus else "")


def _memory(mem: str | None) -> int:
    return parse_bytes(mem) if mem else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _seconds_left() -> float:
    """Until Slurm takes the machine away; 0 is never."""
    try:
        end = float(os.environ["SLURM_JOB_END_TIME"])
    except (KeyError, ValueError):
        return 0.0
    return max(end - time.time(), 1.0)


def _liveness(given: settings.Settings) -> Liveness:
    found = Liveness(given.lease_beat_seconds, given.lease_fence_seconds, given.lease_reclaim_seconds)
    if not found.safe:
        raise UsageError(
            f"A lease of {found.beat:g}, {found.fence:g} and {found.reclaim:g} seconds is not safe.",
            hint="lease_beat_seconds < lease_fence_seconds, and lease_reclaim_seconds at least 1.5 times the latter.",
        )
    return found


def _cache(given: settings.Settings, home: Home) -> Path:
    """Where code snapshots are unpacked, once for all tasks that run from them."""
    from paddock.catalog.place import cache_directory, private_directory

    return cache_directory(given.cache) or private_directory() or home.path / "cache"

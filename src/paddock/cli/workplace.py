"""What `paddock worker` and its kin give to a worker beside its options. Imports no click: an engine starts a worker
for each task, and the task waits for these imports."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddock import settings
from paddock.errors import TaskFailed, UsageError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, FAILED, QUEUED, Liveness
from paddock.record.layout import Home

if TYPE_CHECKING:
    from paddock.monitor.notices.notifying import Notifier
    from paddock.track.ship.ferry import Ferry
    from paddock.work.notices.notify import Notify

Tell = Callable[[Sequence[str]], None]


def notifier(home: Home, notifies: tuple[Notify, ...], given: settings.Settings, tell: Tell) -> Notifier | None:
    """What happens to any run of the home, for who wants to know more than a worker sees by itself."""
    if not notifies:
        return None
    from paddock.work.notices.notify import QUEUE_EVENTS

    if not any(one.query or set(one.on) - set(QUEUE_EVENTS) for one in notifies if not one.silent):
        return None
    from paddock.monitor.notices.notifying import Notifier

    made = Notifier(home, notifies, given, lambda text: tell([text]))
    made.start()
    return made


def ferry(home: Home, given: settings.Settings, tell: Tell) -> Ferry | None:
    """Processes of tasks send their runs themselves, if they know how; a worker sends how they ended."""
    if not (given.server or given.code_store) or given.mode in ("offline", "dryrun", "disabled"):
        return None
    from paddock.address import parse
    from paddock.record.token import find_token
    from paddock.track.ship.ferry import Ferry, to_server, to_store

    def say(text: str) -> None:
        tell([text])

    if given.server:
        address = parse(given.server)
        send = to_server(home, address, find_token(home), given.server_ca)
        return Ferry(address.url, send, say, "`paddock sync --all` sends the rest")
    send = to_store(home, given.code_store)
    return Ferry(given.code_store, send, say, "they are in this home")


def code_road(given: settings.Settings, home: Home) -> Callable[[str], None] | None:
    """How a code snapshot gets here that is not in the home."""
    if not given.server and not given.code_store:
        return None
    from paddock.track.ship.road import road

    found = road(given, home)
    return (lambda digest: found.fetch(home, digest)) if found is not None else None


def fate(queues: Sequence[DirectoryQueue], task: str) -> int:
    """What became of the one task, for the engine that started this worker: over, failed, or to be started again.
    What is gone or paused is no concern of the engine."""
    states = {place.state for queue in queues for place in queue.list().places if place.id == task}
    if states & {QUEUED, CHECKING, ACTIVE}:
        return os.EX_TEMPFAIL
    return TaskFailed.exit_code if FAILED in states else 0


def all_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def all_cores() -> int:
    return len(os.sched_getaffinity(0))


def all_gpus(devices: Path = Path("/dev")) -> str:
    """As --gpus takes them: what CUDA_VISIBLE_DEVICES leaves of them, else every one that the kernel has a file for,
    which CUDA counts from 0. The driver is not asked: it may take long, or for ever."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = sum(path.name[len("nvidia") :].isdigit() for path in devices.glob("nvidia*"))
    found = visible if visible is not None else ",".join(map(str, range(count)))
    if found.strip() in ("", "-1"):
        why = f"CUDA_VISIBLE_DEVICES is {visible!r}" if visible is not None else "there is none here"
        raise UsageError(f"--gpus all: {why}.", hint="Name them: --gpus 0,1; without --gpus tasks see what you see.")
    return found


def seconds_left() -> float:
    """Until Slurm takes the machine away; 0 is never."""
    try:
        end = float(os.environ["SLURM_JOB_END_TIME"])
    except (KeyError, ValueError):
        return 0.0
    return max(end - time.time(), 1.0)


def liveness(given: settings.Settings) -> Liveness:
    found = Liveness(given.lease_beat_seconds, given.lease_fence_seconds, given.lease_reclaim_seconds)
    if not found.safe:
        raise UsageError(
            f"A lease of {found.beat:g}, {found.fence:g} and {found.reclaim:g} seconds is not safe.",
            hint="lease_beat_seconds < lease_fence_seconds, and lease_reclaim_seconds at least 1.5 times the latter.",
        )
    return found


def cache(given: settings.Settings, home: Home) -> Path:
    """Where code snapshots are unpacked, once for all tasks that run from them."""
    from paddock.catalog.place import cache_directory, private_directory

    return cache_directory(given.cache) or private_directory() or home.path / "cache"

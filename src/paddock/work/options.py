"""What a worker is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.queue.lifecycle import Liveness
from paddock.work.attempts.spares import Kind
from paddock.work.notices.notify import Notify
from paddock.work.slots import Slots

DEFAULT_LIVENESS = Liveness()


@dataclass(frozen=True)
class Options:
    slots: Slots
    one_task: bool = False
    persist: bool = True
    drain: bool = False  # at the end let tasks finish instead of giving them back
    until: float = 0.0  # seconds from the start after which it leaves; 0 is for ever
    end: float = 0.0  # seconds from the start after which the machine is gone (Slurm); 0 is never
    grace: float = 30.0
    patience: float = 60.0  # seconds that slots are kept for a task of several ranks before others may have them
    liveness: Liveness = DEFAULT_LIVENESS
    listen: bool = True  # let the kernel tell what changes, where it can
    notify: tuple[Notify, ...] = ()  # whom to tell of what
    usage: float = 0.0  # seconds between two looks at what the host and the tasks use; 0 is never
    warm: tuple[Kind, ...] = ()  # for which tasks processes are kept ready, whether or not any have come

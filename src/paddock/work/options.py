"""What a worker is told when it starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from paddock.queue.lifecycle import Liveness

if TYPE_CHECKING:
    from paddock.work.attempts.spares import Kind
    from paddock.work.notices.notify import Notify
    from paddock.work.slots import Slots

DEFAULT_LIVENESS = Liveness()


class Options(msgspec.Struct, frozen=True):
    slots: Slots
    one_task: bool = False
    only: str = ""  # the id of the one task that it is there for; it leaves when that is over
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
    fetch: Callable[[str], None] | None = None  # brings a code snapshot that is not in the home
    vouched: Callable[[], float] | None = None  # boot_time() at which whoever gives us tasks last heard of us
    warm: tuple[Kind, ...] = ()  # for which tasks processes are kept ready, whether or not any have come

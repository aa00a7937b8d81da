"""What people order: cancel, pause, resume, retry, rerun, priority. Each is one rename, as if by `mv` and `rm`.

Which rename it is, is decided purely from where the file is (`destination`). It is then tried; when the file has moved
meanwhile (a worker took it, a person moved it) a new listing decides again. A file with a token belongs to a worker:
the token stays in its name, and that worker, or whoever takes over from it, does the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from paddock.errors import Damaged, NotFound, Refused
from paddock.queue.lifecycle import ACTIVE, CANCELLED, CHECKING, DONE, FAILED, MOST_PRIORITY, PAUSED, QUEUED, Place
from paddock.queue.protocol import Queue
from paddock.queue.show.view import IN_ORDER

CANCEL, PAUSE, RESUME, RETRY, RERUN, PRIORITY = "cancel", "pause", "resume", "retry", "rerun", "priority"
# From which states each order leads somewhere.
FROM: dict[str, tuple[str, ...]] = {
    CANCEL: (QUEUED, CHECKING, ACTIVE, PAUSED),
    PAUSE: (QUEUED, CHECKING, ACTIVE),
    RESUME: (PAUSED,),
    RETRY: (FAILED,),
    RERUN: (DONE,),
    PRIORITY: (QUEUED, PAUSED),
}
_TRIES = 50  # a file that moved away so often under our hands is somebody's game
_PAUSE = 0.02  # seconds between two looks at a queue that changes


class Step(NamedTuple):
    """What an order came to."""

    id: str
    before: Place
    after: Place | None  # None: it is gone
    remark: str = ""


def destination(order: str, at: Place, priority: int = 0) -> Place | None:
    """Where the file goes, None for nowhere at all; Refused, with a sentence, when that makes no sense from here."""
    if at.state not in FROM[order]:
        raise Refused(f"{at.id} is {at.state}.", hint=_instead(order, at))
    if order == CANCEL:
        return at._replace(state=CANCELLED) if at.token else None
    if order == PAUSE:
        return at._replace(state=PAUSED)
    if order == RESUME:
        return at._replace(state=ACTIVE if at.token else QUEUED)
    if order == PRIORITY:
        return at._replace(priority=priority)
    return at._replace(state=QUEUED, priority=priority)


def _instead(order: str, at: Place) -> str:
    if order == PAUSE and at.state == PAUSED:
        return f"`paddock resume {at.id}` lets it go on."
    if order in (RESUME, RETRY, RERUN) and at.state in (QUEUED, CHECKING, ACTIVE):
        return "It runs already." if at.state == ACTIVE else "It runs when its turn comes."
    return {
        QUEUED: f"`paddock cancel {at.id}` takes it out of the queue.",
        CHECKING: f"`paddock cancel {at.id}` takes it out of the queue.",
        ACTIVE: f"`paddock cancel {at.id}` ends it.",
        PAUSED: f"`paddock resume {at.id}` lets it go on.",
        FAILED: f"`paddock retry {at.id}` runs it again, `paddock clean {at.id}` removes it.",
        DONE: f"`paddock rerun {at.id}` runs it again, `paddock clean {at.id}` removes it.",
    }[at.state]


def carry_out(queue: Queue, order: str, at: Place, priority: int | None = None) -> Step:
    """Do it, wherever the file has gone since `at` was seen. Refused when it is now where the order makes no sense."""
    now, wanted = at, None
    for _ in range(_TRIES):
        if now == wanted:  # a rename that said it failed, and had happened: so it is over NFS
            return Step(at.id, at, wanted)
        wanted = destination(order, now, _priority(queue, order, now, priority))
        if is_being_put_away(now):
            pass
        elif wanted is None:
            if queue.remove(now):
                return Step(at.id, at, None)
        elif wanted == now or queue.move(now, wanted):
            return Step(at.id, at, wanted)
        found = find(queue, at.id)
        if found is None:
            if order == CANCEL:
                return Step(at.id, at, None, "somebody else removed it")
            raise NotFound(f"{at.id} was removed from the queue meanwhile.")
        now = found
        time.sleep(_PAUSE)
    if now.token and is_being_put_away(now):
        raise Refused(
            f"{at.id} still belongs to the worker {now.token.worker}, which has not let go of it yet.",
            hint="Try again in a moment; if that worker is dead, the next live one lets go of it.",
        )
    raise Refused(f"{at.id} is moved again and again, last to {now.path}.", hint="Try again.")


def _priority(queue: Queue, order: str, at: Place, asked: int | None) -> int:
    """What is over has lost the priority from its name; its header still knows it."""
    if order not in (RETRY, RERUN) or at.state not in FROM[order]:
        return asked or 0
    try:
        found = queue.read(at).task.priority
        return max(-MOST_PRIORITY, min(found, MOST_PRIORITY))  # a person may have written any number there
    except (Damaged, OSError):
        return 0


def is_being_put_away(at: Place) -> bool:
    """A task that is over has no owner; one that a worker is still writing its result to has."""
    return at.token is not None and at.state in (DONE, FAILED)


def find(queue: Queue, task_id: str) -> Place | None:
    """Where a task is now. That it is nowhere is believed after two whole listings: it may be between two places."""
    for _ in range(_TRIES):
        misses = 0
        while misses < 2:
            listing = queue.list(IN_ORDER)
            found = [place for place in listing.places if place.id == task_id]
            if found:
                return found[-1]
            if not listing.sure:
                break
            misses += 1
        else:
            return None
        time.sleep(_PAUSE)
    raise Refused(f"The queue {queue.address} cannot be read.", hint="Is its disk there? Nothing was changed.")


def make_durable(queue: Queue, steps: Iterable[Step]) -> None:
    """After a power cut the files are where they were put, too."""
    queue.sync({place.state for step in steps for place in (step.before, step.after) if place is not None})

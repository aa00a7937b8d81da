"""An evaluation whose score was stored, but whose process did not live to say that it was done: its worker was stopped
or died just then, and the queue gives the task to another. It is not evaluated twice."""

from __future__ import annotations

from paddock.errors import Damaged, Refused, Unreachable
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import DONE, Finding
from paddock.queue.finding import queue_at
from paddock.queue.order.orders import find

_CUT_SHORT = ("requeued", "lost", "killed")


def is_stored(ledger: Ledger, finding: Finding) -> bool:
    """True unless somebody wants it anew: a task that was done and is here again was sent by a person."""
    result = ledger.result(finding.key)
    if result is None or result.state != DONE or not finding.queue:
        return False
    queue = queue_at(finding.queue)
    try:
        place = find(queue, finding.task)
        attempts = queue.read(place).attempts if place is not None else ()
    except (OSError, Damaged, Refused, Unreachable):
        return False
    ended = [attempt.outcome for attempt in attempts if attempt.outcome != "started"]
    return bool(ended) and ended[-1] in _CUT_SHORT

"""A content that was missed, or was written over while it was evaluated, and is there again: it is evaluated then, by
one of those who see it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from paddock.evaluate.ledger.book import RESULT, Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.watching.upkeep import is_gone
from paddock.queue.lifecycle import DONE, FAILED
from paddock.queue.order import orders
from paddock.queue.protocol import Queue

ORDERS = {FAILED: orders.RETRY, DONE: orders.RERUN}


def evaluate_anew(ledger: Ledger, queue: Queue, finding: Finding, who: str, submit: Callable[[Finding], None]) -> bool:
    """True when it was for us to do. The very result that says that it was missed is what is claimed, so that of two
    watchers one does it, and each time that it comes back."""
    missed = _mark(ledger, finding.key)
    if not missed or not ledger.claim(
        f"{finding.key}.{missed}", who, lambda last: last == who or is_gone(last, late=False)
    ):
        return False
    place = orders.find(queue, finding.task)
    ledger.begin_anew(finding)
    if place is None:
        submit(finding)
    elif place.state in ORDERS:
        orders.make_durable(queue, [orders.carry_out(queue, ORDERS[place.state], place)])
    return True


def _mark(ledger: Ledger, key: str) -> str:
    try:
        raw = (ledger.directory / (key + RESULT)).read_bytes()
    except OSError:  # somebody else was faster
        return ""
    return blake2b(raw, digest_size=6).hexdigest()

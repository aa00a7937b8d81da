"""Evaluating once more what is in the ledger already; and taking back what waits, until somebody watches again.

watches/<id>/ledger/<key>.withdrawn    its task was taken back by a shutdown: the next watch submits it
"""

from __future__ import annotations

import contextlib
import os
import time

import msgspec

from paddock.errors import NotFound, Refused
from paddock.evaluate.ledger.account import Evaluation
from paddock.evaluate.ledger.book import WITHDRAWN, Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.origin.look import look
from paddock.evaluate.origin.place import is_url
from paddock.evaluate.watching.watch import Watching
from paddock.queue.finding import queue_at
from paddock.queue.lifecycle import DONE, FAILED, QUEUED, Place
from paddock.queue.order import orders
from paddock.queue.protocol import Queue

_ORDERS = {FAILED: orders.RETRY, DONE: orders.RERUN}


def again(watching: Watching, finding: Finding) -> bool:
    """Evaluate it anew, by the evaluator of that name as it is now; False when it is on its way already."""
    queue, place = _find(watching, finding)
    if place is not None and place.state not in _ORDERS:
        return False
    call = next((dict(one.call) for one in watching.options.evaluators if one.name == finding.evaluator), finding.call)
    # One that was passed over belongs to no training run yet.
    run = finding.run or watching.training(finding.path)
    fresh = msgspec.structs.replace(finding, call=call, run=run, found=round(time.time(), 6))
    if fresh.place is None:
        fresh = msgspec.structs.replace(fresh, place=watching.placing.of(fresh, _written(fresh)))
    watching.ledger.begin_anew(fresh)
    if place is None:
        watching.evaluate(fresh)
    else:
        orders.make_durable(queue, [orders.carry_out(queue, _ORDERS[place.state], place)])
    return True


def _find(watching: Watching, finding: Finding) -> tuple[Queue, Place | None]:
    """Its task, which another watch of the same directory may have submitted to another queue."""
    place = orders.find(watching.queue, finding.task)
    if place is not None or finding.queue in ("", watching.queue.address):
        return watching.queue, place
    other = queue_at(finding.queue)
    return other, orders.find(other, finding.task) if other.exists() else None


def _written(finding: Finding) -> int:
    here = None if is_url(finding.path) else look(finding.path)
    return here.newest if here is not None else 0


def withdraw(ledger: Ledger, queue: Queue, place: Place, one: Evaluation) -> bool:
    """Take back an evaluation that waits. It is noted before it is done: should we die in between, the next watch
    finds its task in the queue, and submits nothing."""
    if place.state != QUEUED or place.token is not None:
        return False
    mark = ledger.directory / (one.finding.key + WITHDRAWN)
    mark.touch()
    try:
        step = orders.carry_out(queue, orders.CANCEL, place)
    except (NotFound, Refused):  # a worker of somebody else was faster
        mark.unlink(missing_ok=True)
        return False
    orders.make_durable(queue, [step])
    return step.after is None


def restore(watching: Watching) -> int:
    """Submit what was taken back, as far as these evaluators go."""
    names = {one.name for one in watching.options.evaluators}
    count = 0
    for name in sorted(watching.ledger.names()):
        finding = watching.ledger.finding(name.removesuffix(WITHDRAWN)) if name.endswith(WITHDRAWN) else None
        if finding is None or finding.evaluator not in names:
            continue
        if _find(watching, finding)[1] is None:
            watching.evaluate(finding)
            count += 1
        with contextlib.suppress(FileNotFoundError):
            os.unlink(watching.ledger.directory / name)
    return count

"""What people ordered in Redis becomes moves of the file in the tray."""

from __future__ import annotations

from paddock.queue.lifecycle import ACTIVE, CANCELLED, CHECKING, DONE, FAILED, LOOK, PAUSED, QUEUED, Place
from paddock.work.redis.held import Stock
from paddock.work.redis.restoring import restore


def obey(stock: Stock) -> None:
    if not stock.held:
        return
    keys, ids = stock.queue.keys, list(stock.held)
    worker = stock.held[ids[0]].claim.rpartition(".")[0]
    with stock.queue.connection.pipeline(transaction=True) as pipeline:
        pipeline.exists(keys.own("here"))
        pipeline.hexists(keys.own("workers"), worker)
        pipeline.hmget(keys.own("claims"), ids)
        for task in ids:
            pipeline.sismember(keys.own("cancelled"), task)
            pipeline.sismember(keys.own("paused"), task)
        here, known, claims, *marks = pipeline.execute()
    places = {place.id: place for place in stock.tray.list(LOOK).places}
    for task, claim, cancelled, paused in zip(ids, claims, marks[::2], marks[1::2], strict=True):
        held, at = stock.held[task], places.get(task)
        forgotten = claim is None and not known and restore(stock, task, held)
        if here and (claim is None or claim.split()[0].decode() != held.claim) and not held.stale and not forgotten:
            held.stale = True
            stock.say(f"{task} is another's by now, and is ended here")
        if at is None:
            continue
        if held.stale or cancelled:
            _drop(stock, at)
        elif paused and at.state in (QUEUED, CHECKING, ACTIVE):
            stock.tray.move(at, at._replace(state=PAUSED))
        elif not paused and at.state == PAUSED:
            stock.tray.move(at, at._replace(state=ACTIVE if at.token else QUEUED))


def _drop(stock: Stock, at: Place) -> None:
    if at.token is None:
        stock.tray.remove(at)
    elif at.state not in (CANCELLED, DONE, FAILED):
        stock.tray.move(at, at._replace(state=CANCELLED))

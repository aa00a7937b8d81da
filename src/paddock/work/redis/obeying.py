"""What people ordered in Redis becomes moves of the file in the tray."""

from __future__ import annotations

from paddock.queue.lifecycle import ACTIVE, CANCELLED, CHECKING, DONE, FAILED, LOOK, PAUSED, QUEUED, Place
from paddock.work.redis.held import Stock


def obey(stock: Stock) -> None:
    if not stock.held:
        return
    keys, ids = stock.queue.keys, list(stock.held)
    with stock.queue.connection.pipeline(transaction=True) as pipeline:
        pipeline.exists(keys.own("here"))
        pipeline.hmget(keys.own("claims"), ids)
        pipeline.smembers(keys.own("cancelled"))
        pipeline.smembers(keys.own("paused"))
        here, claims, cancelled, paused = pipeline.execute()
    places = {place.id: place for place in stock.tray.list(LOOK).places}
    for task, claim in zip(ids, claims, strict=True):
        held, at = stock.held[task], places.get(task)
        if here and (claim is None or claim.split()[0].decode() != held.claim) and not held.stale:
            held.stale = True
            stock.say(f"{task} is another's by now, and is ended here")
        if at is None:
            continue
        if held.stale or task.encode() in cancelled:
            _drop(stock, at)
        elif task.encode() in paused and at.state in (QUEUED, CHECKING, ACTIVE):
            stock.tray.move(at, at._replace(state=PAUSED))
        elif task.encode() not in paused and at.state == PAUSED:
            stock.tray.move(at, at._replace(state=ACTIVE if at.token else QUEUED))


def _drop(stock: Stock, at: Place) -> None:
    if at.token is None:
        stock.tray.remove(at)
    elif at.state not in (CANCELLED, DONE, FAILED):
        stock.tray.move(at, at._replace(state=CANCELLED))

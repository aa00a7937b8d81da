"""What clients without a common disk send: docs/reference/shipping.md."""

from __future__ import annotations

from paddock.errors import UsageError
from paddock.monitor.http import intake
from paddock.monitor.http.route import Call, Reply, Route
from paddock.monitor.ingest.back import brought
from paddock.monitor.ingest.outgoing import packed
from paddock.track.ship import parcel
from paddock.track.ship.parcel import Back, Brought, Fetch, Question
from paddock.track.ship.parcel import Reply as ShipReply


async def state(call: Call) -> ShipReply:
    """How much of each file the server has."""
    question: Question = call.body
    parcel.check(question)
    found: ShipReply = await call.house.desk.answer(question)
    return found


async def parcels(call: Call) -> ShipReply:
    """Take bytes of files; answers how much of each the server has then."""
    headers, desk = call.request.headers, call.house.desk
    encoding = headers.get("content-encoding", "identity")
    if encoding not in ("identity", "deflate"):
        raise UsageError(f"The encoding {encoding[:40]!r} is unknown.", hint="A body comes as it is, or deflated.")
    announced = headers.get("content-length", "")
    size = (
        min(int(announced), parcel.BODY_BYTES) if announced.isdecimal() and len(announced) < 19 else parcel.BODY_BYTES
    )
    await desk.enter(size)
    try:
        body = await intake.read(call.request, parcel.BODY_BYTES)
        found: ShipReply = await desk.take(body, deflated=encoding == "deflate")
    finally:
        await desk.leave(size)
    return found


def fetch(call: Call) -> Reply:
    """Code that a worker does not have."""
    request: Fetch = call.body
    parcel.check(request)
    return Reply(packed(call.house.home, request), kind=parcel.MEDIA_TYPE)


def back(call: Call) -> list[Brought]:
    """What people said of a run here, for the process that it came from."""
    return brought(call.house.home, call.body)


_FETCH = "Bytes of code snapshots, for a worker that does not see the home."
_BACK = "What people said of a client's run at the server."
_STATE = "How much of each file of a client's runs the server has."
_PARCELS = "Take bytes of the files of a client's runs."
ROUTES = [
    Route("POST", "/api/v1/ship/state", state, _STATE, body=Question, answer=ShipReply, most_bytes=parcel.HEADER_BYTES),
    Route("POST", "/api/v1/ship/parcels", parcels, _PARCELS, answer=ShipReply, streams=True),
    Route("POST", "/api/v1/ship/fetch", fetch, _FETCH, body=Fetch, kind=parcel.MEDIA_TYPE),
    Route("POST", "/api/v1/ship/back", back, _BACK, body=Back, answer=list[Brought]),
]

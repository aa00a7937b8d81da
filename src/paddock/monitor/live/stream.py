"""A stream of server-sent events as an answer: as little as possible between the hub and the socket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from starlette.responses import Response

from paddock.monitor.live.hub import Hub, Listener


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(self, hub: Hub, topics: frozenset[str], last: str) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._hub, self._topics, self._last = hub, topics, last

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("http_version") != "1.1" or "line" not in scope["state"]:
            await send({"type": "http.response.start", "status": 426, "headers": [(b"upgrade", b"HTTP/1.1")]})
            await send({"type": "http.response.body", "body": b""})
            return
        listener, first = self._hub.join(self._topics, self._last)
        gone = asyncio.ensure_future(_gone(receive, listener))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b"retry: 2000\n\n" + first, "more_body": True})
            listener.connect(scope["state"]["line"]())
            await listener.over.wait()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._hub.leave(listener)
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone


async def _gone(receive: Any, listener: Listener) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.end()

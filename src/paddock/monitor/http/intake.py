"""Reading what a client sends: no more than is allowed, and not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from paddock.errors import TimedOut, TooLarge

PIECE_SECONDS = 20.0  # a client may be silent in the middle of a body for so long
LEAST_RATE = 1024  # bytes a second, on the whole


async def read(request: Request, most: int) -> bytes:
    """The whole body."""
    found = bytearray()
    async for piece in pieces(request, most):
        found += piece
    return bytes(found)


async def pieces(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body as it comes. What is announced as too large is refused before any of it is read."""
    announced = request.headers.get("content-length", "")
    if announced and (not announced.isdigit() or int(announced[:20]) > most):
        raise _too_large(most)
    got, began = 0, asyncio.get_running_loop().time()
    while True:
        late = began + PIECE_SECONDS + got / LEAST_RATE
        try:
            async with asyncio.timeout_at(late):
                message = await request.receive()
        except TimeoutError:
            raise TimedOut("The body came too slowly.") from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        got += len(piece)
        if got > most:
            raise _too_large(most)
        if piece:
            yield piece
        if not message.get("more_body", False):
            return


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The body is larger than {most:,} bytes.", hint="Send it in parts.")

"""uvicorn's connection, with an end to patience: a client that is slow to say what it wants is let go."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0  # from the connection, or the last answer's end, to the end of a request's head


class Connection(H11Protocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._patience: asyncio.TimerHandle | None = None
        self.app_state = {**self.app_state, "abort": self._abort, "line": lambda: self.transport}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._patience = self.loop.call_later(HEAD_SECONDS, self._abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy and self._patience is not None:
            self._patience.cancel()
            self._patience = None
        elif not busy and self._patience is None:  # a part of the next request, which ended uvicorn's own patience
            self._patience = self.loop.call_later(HEAD_SECONDS, self._abort)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
        super().connection_lost(exc)

    def _abort(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.abort()

"""A server as a source of pictures."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from paddock import wire
from paddock.address import Address
from paddock.errors import RunNotFound, Unreachable
from paddock.monitor.now.details import Details
from paddock.monitor.now.picture import Line, Now
from paddock.track.ship.connection import Connection, error_of

T = TypeVar("T")


class _Lines(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]
    count: int


class ServerSource:
    def __init__(self, address: Address, token: str, *, ca: str = "", query: str = "") -> None:
        self._connection = Connection(address, token, ca=ca)
        self._query = f"?{urlencode({'query': query})}" if query else ""
        self._runs: set[str] | None = None  # those that fit the query
        self._offset = 0  # lines before a restart of the server

    def look(self) -> Now:
        now = self._get(f"/api/v1/now{self._query}", Now)
        self._runs = {run.id for run in now.runs} if self._query else None
        return now

    def lines(self, after: int) -> tuple[Line, ...]:
        """Numbers go on when the server begins anew."""
        asked = max(0, after - self._offset)
        found = self._get(f"/api/v1/now/lines?after={asked}", _Lines)
        if found.count < asked:
            self._offset = after
        lines = (msgspec.structs.replace(line, n=line.n + self._offset) for line in found.lines)
        return tuple(line for line in lines if self._runs is None or line.run in self._runs)

    def details(self, run_id: str) -> Details:
        return self._get(f"/api/v1/now/runs/{quote(run_id, safe='')}", Details)

    def cancel(self, run_id: str) -> str:
        answer = self._call("POST", f"/api/v1/now/runs/{quote(run_id, safe='')}/cancel", b"")
        return str(wire.decode(answer)["message"])

    def answer(self, run_id: str, ask: str, text: str) -> str:
        path = f"/api/v1/runs/{quote(run_id, safe='')}/questions/{quote(ask, safe='')}/answer"
        self._call("POST", path, wire.dumps({"text": text}))
        return f"{run_id} was answered."

    def close(self) -> None:
        self._connection.close()

    def _get(self, path: str, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(self._call("GET", path, None), type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            where = self._connection.address.url
            raise Unreachable(f"What answers at {where} is no Paddock server.", hint="Check the address.") from None

    def _call(self, method: str, path: str, body: bytes | None) -> bytes:
        headers: dict[str, Any] = {"Content-Type": "application/json"} if body else {}
        status, answer = self._connection.call(method, path, body, headers)
        if status == 404:
            raise RunNotFound("The server knows no such thing any more.")
        if status >= 300:
            raise error_of(status, answer, self._connection.address)
        return answer

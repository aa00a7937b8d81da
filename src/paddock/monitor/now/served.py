"""A server as a source of pictures."""

from __future__ import annotations

from collections import deque
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from paddock import wire
from paddock.address import Address
from paddock.errors import RunNotFound, Unreachable
from paddock.monitor.now.details import Details
from paddock.monitor.now.lines import MOST
from paddock.monitor.now.picture import Line, Now
from paddock.monitor.now.repeated import repeated
from paddock.track.ship.connection import Connection, error_of

T = TypeVar("T")


class _Lines(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]
    count: int
    instance: str  # of the server that counts


class ServerSource:
    def __init__(self, address: Address, token: str, *, ca: str = "", query: str = "") -> None:
        self._connection = Connection(address, token, ca=ca)
        self._query = f"?{urlencode({'query': query})}" if query else ""
        self._runs: set[str] | None = None  # those that fit the query
        self._offset = 0  # lines before a restart of the server
        self._instance = ""
        self._told: deque[Line] = deque(maxlen=MOST)
        self._again: frozenset[int] = frozenset()  # what this server counts and the one before it has told

    def look(self) -> Now:
        now = self._get(f"/api/v1/now{self._query}", Now)
        self._runs = {run.id for run in now.runs} if self._query else None
        return now

    def lines(self, after: int) -> tuple[Line, ...]:
        """Numbers go on when the server begins anew."""
        found = self._lines(max(0, after - self._offset))
        if self._instance and found.instance != self._instance:
            found = self._lines(0)  # it counts anew: of what it has read again, only what nobody has told yet
            self._offset = after
            self._told = deque([line for line in self._told if line.n <= after], MOST)
            self._again = repeated(self._told, found.lines)
        self._instance = found.instance
        lines = [
            msgspec.structs.replace(line, n=line.n + self._offset)
            for line in found.lines
            if line.n not in self._again and (self._runs is None or line.run in self._runs)
        ]
        last = self._told[-1].n if self._told else 0
        self._told.extend(line for line in lines if line.n > last)
        return tuple(lines)

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

    def _lines(self, after: int) -> _Lines:
        return self._get(f"/api/v1/now/lines?after={after}", _Lines)

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

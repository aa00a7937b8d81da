"""What the server offers: each way to call it is one value, which routing, checks and OpenAPI are made from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from starlette.requests import Request

    from paddock.monitor.house import House

MOST_BYTES = 1 << 20  # of a request's body, unless the route says otherwise
READS = ("GET", "HEAD", "OPTIONS")


class Nothing(msgspec.Struct, frozen=True):
    """No parameters."""


@dataclass(frozen=True)
class Call:
    """One request, decoded and checked."""

    house: House
    path: Mapping[str, str]
    params: Any  # as Route.params declares it
    body: Any  # as Route.body declares it
    request: Request

    def tag(self, *of: object) -> str:
        """An ETag for what depends on these, in this server since its start."""
        return f'"{self.house.instance[:8]}.{".".join(map(str, of))}"'

    def knows(self, tag: str) -> bool:
        """The client has this already."""
        said = self.request.headers.get("if-none-match", "")
        return tag in (one.strip().removeprefix("W/") for one in said.split(","))


@dataclass(frozen=True)
class Reply:
    """What a handler answers with when it is more than a value to be encoded."""

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def unchanged(tag: str) -> Reply:
    return Reply(status=304, headers={"etag": tag})


Handler = Callable[[Call], Any] | Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """`handler` gets a Call and gives a value to encode, a Reply, or a Starlette response for what comes in a stream. A
    plain function runs in a thread, so that it may read disks; a coroutine must never wait for one.

    `streams`: the body is not read before the handler is called, and the handler reads `call.request.stream()`.
    """

    method: str
    path: str
    handler: Handler
    about: str
    params: type[msgspec.Struct] = Nothing
    body: type[msgspec.Struct] | None = None
    answer: Any = None  # the type of what is encoded; None when it is no JSON
    kind: str = "application/json"  # of the answer
    status: int = 200
    most_bytes: int = MOST_BYTES
    streams: bool = False
    any_query: bool = False  # it is for the page that answers, not for us
    tag: str = ""

    @property
    def changes(self) -> bool:
        """Something may be different afterwards: such a call always needs the token."""
        return self.method not in READS

"""The server itself: whether it is there, and what it shows."""

from __future__ import annotations

from typing import Any

import msgspec

from paddock.monitor.http.route import Call, Reply, Route
from paddock.version import __version__


class Health(msgspec.Struct, frozen=True):
    ok: bool
    paddock: str  # its version


class Shown(msgspec.Struct, frozen=True):
    """`homes`: where the runs are, on the server; what clients send goes into the first."""

    paddock: str
    homes: tuple[str, ...]


async def health(call: Call) -> Health:
    """Whether the server is there. Tells nothing else, so it needs no token."""
    return Health(True, __version__)


async def server(call: Call) -> Shown:
    """What the server shows."""
    return Shown(__version__, tuple(str(home.path) for home in call.house.homes))


def described(call: Call) -> Reply:
    """This document."""
    return Reply(call.house.describe())


ROUTES = [
    Route("GET", "/api/v1/health", health, "Whether the server is there; needs no token.", answer=Health),
    Route("GET", "/api/v1/server", server, "What the server shows.", answer=Shown),
    Route("GET", "/api/v1/openapi.json", described, "This description of the API.", answer=dict[str, Any]),
]

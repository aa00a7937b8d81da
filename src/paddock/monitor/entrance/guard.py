"""Who may call: every request of every method is judged by its Host, its Origin and its token before anything else.

A page of somebody else cannot reach the server through the browser of a person who can: its Origin is not ours, and a
name that it has made to point here (DNS rebinding) is not among our names. What changes something needs the token even
on this machine, where every user and every page could else send it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from paddock.monitor.http import failure
from paddock.monitor.http.route import READS

Scope = dict[str, Any]
Message = dict[str, Any]
SEND_SECONDS = 30.0  # a client that takes nothing for so long is let go
DRAINED_BYTES, DRAIN_SECONDS = 64 << 10, 2.0
OPEN_PATHS = frozenset({"/api/v1/health", "/login"})  # tell nothing, or ask for a proof of their own
# The board's page and files are the same for everybody and hold nothing of anybody: what they show they ask for.
OPEN_PAGES = frozenset({"runs", "compare", "reports", "queue", "watches", "now", "assets"})
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    b"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Rules:
    """`names`: what this server is called, in lower case. `open_reads`: it can be reached from this machine only."""

    token: str
    names: frozenset[str]
    open_reads: bool
    cookie: str = "paddock"
    valid_cookie: Callable[[str], bool] = lambda value: False


class Asked(NamedTuple):
    """What the judgement depends on."""

    method: str
    path: str
    scheme: str = "http"
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    site: str = ""  # Sec-Fetch-Site
    bearers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()


class Refusal(NamedTuple):
    status: int
    message: str
    hint: str
    code: str


_WRONG_HOST = Refusal(
    421, "This server does not go by that name.", "Use an address that it printed; --advertise adds one.", "WrongHost"
)
_WRONG_ORIGIN = Refusal(403, "Another page may not call this server.", "", "WrongOrigin")
_NO_TOKEN = Refusal(
    401,
    "This needs the server's token.",
    "Send it as Authorization: Bearer; it is in <home>/server/token. A browser opens the link that "
    "`paddock serve --link` prints.",
    "Unauthorized",
)


def judge(asked: Asked, rules: Rules) -> Refusal | None:
    """None: let it through."""
    if len(asked.hosts) != 1 or not known_host(asked.hosts[0], rules.names):
        return _WRONG_HOST
    if len(asked.origins) > 1 or (asked.origins and not own_origin(asked)):
        return _WRONG_ORIGIN
    reads = asked.method in READS
    if not reads and asked.site not in ("", "same-origin", "none"):
        return _WRONG_ORIGIN
    if reads and is_open(asked.path):
        return None
    if reads and rules.open_reads:
        return None
    if asked.bearers:  # one that is wrong is not made good by a cookie
        return None if len(asked.bearers) == 1 and same(asked.bearers[0], rules.token) else _NO_TOKEN
    if any(rules.valid_cookie(value) for value in asked.cookies):
        # A browser sends the cookie by itself, so there must be a proof that the page is ours. All send Origin.
        return None if reads or asked.origins else _WRONG_ORIGIN
    return _NO_TOKEN


def is_open(path: str) -> bool:
    return path in OPEN_PATHS or path == "/" or path.split("/")[1:2] in [[page] for page in OPEN_PAGES]


def same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def known_host(host: str, names: frozenset[str]) -> bool:
    """By name, whatever the port: a tunnel has another one. A literal address cannot be made to point elsewhere."""
    name = host_name(host)
    return name in names or is_literal(name)


def host_name(host: str) -> str:
    """Of a Host header: without the port and without the brackets; empty when it is none."""
    if host.startswith("["):
        name, closed, port = host[1:].partition("]")
        sound = bool(closed) and (not port or (port[:1] == ":" and port[1:].isdigit()))
        return name.lower() if sound else ""
    name, colon, port = host.partition(":")
    if colon and not (port.isascii() and port.isdigit()):
        return ""
    return name.lower().removesuffix(".")


def is_literal(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def own_origin(asked: Asked) -> bool:
    """The page that calls was served under this very scheme, name and port."""
    return asked.origins[0].lower() == f"{asked.scheme}://{asked.hosts[0].lower()}"


def asked_of(scope: Scope, cookie: str) -> Asked:
    found: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name, []).append(value.decode("latin-1"))
    words = [value.partition(" ") for value in found.get(b"authorization", ())]
    parts = (part.strip() for value in found.get(b"cookie", ()) for part in value.split(";"))
    return Asked(
        method=scope["method"],
        path=scope["path"],
        scheme=scope["scheme"],
        hosts=tuple(found.get(b"host", ())),
        origins=tuple(found.get(b"origin", ())),
        site=found.get(b"sec-fetch-site", [""])[0],
        bearers=tuple(rest.strip() for word, _, rest in words if word.lower() == "bearer"),
        cookies=tuple(part.removeprefix(f"{cookie}=") for part in parts if part.startswith(f"{cookie}=")),
    )


class Guard:
    """The outermost part of the app."""

    def __init__(self, app: Any, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing else is spoken here
        refusal = judge(asked_of(scope, self.rules.cookie), self.rules)
        exchange = _Exchange(scope, receive, send)
        try:
            if refusal is None:
                await self.app(scope, exchange.receive, exchange.send)
            else:
                await _refuse(refusal, exchange.send)
        except TookTooLong:
            scope["state"].get("abort", bool)()  # closing would wait for what it does not take


async def _refuse(refusal: Refusal, send: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="paddock"'))
    body = failure.envelope(refusal.message, refusal.hint, refusal.code)
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class TookTooLong(ConnectionError):
    """A client that takes nothing."""


class _Exchange:
    """One request and its answer: our headers on every answer, and no client may keep us waiting."""

    def __init__(self, scope: Scope, receive: Any, send: Any) -> None:
        self._receive, self._send = receive, send
        names = {name for name, _ in scope["headers"]}
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        self._unread = b"transfer-encoding" in names or length.strip(b"0 ") != b""
        self._short = b"transfer-encoding" not in names and length.isdigit() and int(length[:19]) <= DRAINED_BYTES

    async def receive(self) -> Message:
        message: Message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._unread = False
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._unread and self._short:
                await self._drain()
            message = {**message, "headers": self._headers(message.get("headers", ()))}
        if not message.get("more_body", False):
            await self._send(message)
            return
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._send(message)
        except TimeoutError:
            raise TookTooLong from None

    async def _drain(self) -> None:
        """Take a short body that nobody wanted: closing on it would lose the answer on its way to the client."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while self._unread and (await self.receive())["type"] != "http.disconnect":
                    pass

    def _headers(self, given: Any) -> list[tuple[bytes, bytes]]:
        headers = list(given)
        names = {name for name, _ in headers}
        headers += HEADERS
        if b"content-security-policy" not in names:
            headers.append((b"content-security-policy", POLICY))
        if b"cache-control" not in names:
            headers.append((b"cache-control", b"private, no-cache"))
        if self._unread and b"connection" not in names:  # else all of it would be read just to be thrown away
            headers.append((b"connection", b"close"))
        return headers

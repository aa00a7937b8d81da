"""How a person's browser gets in: a link with a code that works once, exchanged for a cookie that scripts cannot read.

The cookie is signed with a key made from the token, so it survives a restart of the server, and a new token ends it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time

import msgspec

from paddock.monitor.http.route import Call, Reply, Route

CODE_SECONDS = 15 * 60
COOKIE_SECONDS = 30 * 24 * 3600
_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Paddock</title>
{refresh}<p>{said}</p></html>
"""
_GO_ON = '<meta http-equiv="refresh" content="0;url=/">'


def new_code(token: str, instance: str) -> str:
    """For one server since its start (`instance`), so that a restart forgets those that were used."""
    said = f"{int(time.time()) + CODE_SECONDS}-{secrets.token_urlsafe(8)}"
    return f"{said}.{_signature(token, instance + said)}"


class Codes:
    """Tells whether a code is good: signed, not too old, and not used before."""

    def __init__(self, token: str, instance: str) -> None:
        self.token, self.instance = token, instance
        self._used: dict[str, int] = {}

    def use(self, code: str) -> bool:
        """Whether it is good; it never is again."""
        said, _, signature = code.rpartition(".")
        wanted = _signature(self.token, self.instance + said)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), wanted.encode()):
            return False
        now, until = time.time(), int(said.partition("-")[0])
        self._used = {one: end for one, end in self._used.items() if end > now}
        if until <= now or said in self._used:
            return False
        self._used[said] = until
        return True


def cookie_name(token: str) -> str:
    """Of its own for each server: browsers do not tell the ports of a host apart."""
    return "paddock_" + hashlib.blake2b(token.encode(), digest_size=6, person=b"paddock name").hexdigest()


def new_cookie(token: str, now: float | None = None) -> str:
    until = int((time.time() if now is None else now) + COOKIE_SECONDS)
    said = f"{until}-{secrets.token_urlsafe(12)}"
    return f"{said}.{_signature(token, 'cookie ' + said)}"


def valid_cookie(token: str, value: str, now: float | None = None) -> bool:
    said, _, signature = value.rpartition(".")
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), _signature(token, "cookie " + said).encode()):
        return False
    return int(said.partition("-")[0]) > (time.time() if now is None else now)


def _signature(token: str, said: str) -> str:
    """128 bits of it: the link is to be copied by hand at times."""
    whole = hmac.new(b"paddock browser " + token.encode(), said.encode("utf-8", "replace"), "sha256").digest()
    return base64.urlsafe_b64encode(whole[:16]).rstrip(b"=").decode()


class LoginParams(msgspec.Struct, frozen=True):
    code: str = ""


class Link(msgspec.Struct, frozen=True):
    """`path` is to be opened below an address of the server, once, within `seconds`."""

    path: str
    seconds: int


def login_path(token: str, instance: str) -> str:
    return f"/login?code={new_code(token, instance)}"


async def login(call: Call) -> Reply:
    """Exchange the code of a link for a cookie."""
    if call.request.method == "HEAD":  # a chat that looks at the link for its reader would use it up
        return _page(200, "")
    if not call.house.codes.use(call.params.code):
        said = "This link was used already, or is too old. <code>paddock serve --link</code> prints a new one."
        return _page(403, said)
    # Not a redirect: the way here began on another page (a chat, a mail), so the browser would not send the cookie.
    secure = "; Secure" if call.request.url.scheme == "https" else ""
    cookie = f"{cookie_name(call.house.token)}={new_cookie(call.house.token)}"
    kept = f"{cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_SECONDS}{secure}"
    return _page(200, 'You are in. <a href="/">Go on</a>', {"set-cookie": kept}, _GO_ON)


def _page(status: int, said: str, headers: dict[str, str] | None = None, refresh: str = "") -> Reply:
    body = _PAGE.format(said=said, refresh=refresh).encode()
    every = {"content-security-policy": _POLICY, "cache-control": "no-store", **(headers or {})}
    return Reply(body, status, "text/html; charset=utf-8", every)


async def link(call: Call) -> Link:
    """A new link for a browser."""
    codes = call.house.codes
    return Link(login_path(codes.token, codes.instance), CODE_SECONDS)


async def logout(call: Call) -> Reply:
    """Forget the browser's cookie."""
    gone = f"{cookie_name(call.house.token)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    return Reply(b"", 204, headers={"set-cookie": gone})


ROUTES = [
    Route("GET", "/login", login, "Exchange the code of a link for a cookie.", params=LoginParams, kind="text/html"),
    Route("POST", "/api/v1/links", link, "A new link that lets a browser in, once.", answer=Link, status=201),
    Route("POST", "/api/v1/logout", logout, "Forget the browser's cookie.", status=204),
]

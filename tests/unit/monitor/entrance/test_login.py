"""Links that work once, and the cookie they are exchanged for."""

from __future__ import annotations

import re
import time

from paddock.monitor.entrance import login
from paddock.record.layout import Home
from tests.served import TOKEN, served


def test_a_code_is_good_once() -> None:
    codes = login.Codes(TOKEN, "this start")
    code = login.new_code(TOKEN, "this start")
    assert codes.use(code)
    assert not codes.use(code)


def test_a_code_of_another_start_or_another_token_or_of_nobody_is_not_good() -> None:
    codes = login.Codes(TOKEN, "this start")
    good = login.new_code(TOKEN, "this start")
    later = str(int(time.time()) + 10**6)
    for code in (
        login.new_code(TOKEN, "an earlier start"),
        login.new_code("another token", "this start"),
        later + good[10:],
        "",
        ".",
        "9999999999-x.",
        "é.ü",
    ):
        assert not codes.use(code), code
    assert codes.use(good)


def test_a_cookie_is_good_until_its_time_and_for_its_token_only() -> None:
    cookie = login.new_cookie(TOKEN, now=1000)
    assert login.valid_cookie(TOKEN, cookie, now=1001)
    assert not login.valid_cookie(TOKEN, cookie, now=1000 + login.COOKIE_SECONDS + 1)
    assert not login.valid_cookie("another", cookie, now=1001)
    assert not login.valid_cookie(TOKEN, "9" + cookie, now=1001)
    for other in ("", ".", "a.b", "9999999999-a.", "\udcff.\udcff"):
        assert not login.valid_cookie(TOKEN, other)


def test_a_browser_gets_in_by_a_link_once_and_may_then_change_things_from_our_own_page(home: Home) -> None:
    with served(home) as server:
        link = server.ask("POST", "/api/v1/links")
        assert link.status == 201
        looked = server.ask("HEAD", link.json["path"], token=None)
        assert looked.status == 200 and "set-cookie" not in looked.headers
        first = server.ask("GET", link.json["path"], token=None)
        assert first.status == 200
        kept = first.headers["set-cookie"]
        assert "HttpOnly" in kept and "SameSite=Strict" in kept and TOKEN not in kept
        assert server.ask("GET", link.json["path"], token=None).status == 403
        cookie = {"Cookie": kept.partition(";")[0]}
        assert b"<title>Paddock</title>" in server.ask("GET", "/", token=None, headers=cookie).body
        own = {"Origin": f"http://127.0.0.1:{server.address.port}"}
        assert server.ask("POST", "/api/v1/links", token=None, headers=cookie | own).status == 201
        assert server.ask("POST", "/api/v1/links", token=None, headers=cookie).status == 403
        other = {"Origin": "http://127.0.0.1:3000"}  # the same site to a browser, but another page
        assert server.ask("POST", "/api/v1/links", token=None, headers=cookie | other).status == 403
        out = server.ask("POST", "/api/v1/logout", token=None, headers=cookie | own)
        assert out.status == 204 and re.search(r"Max-Age=0", out.headers["set-cookie"])

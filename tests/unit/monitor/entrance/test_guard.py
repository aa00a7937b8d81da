"""Who may call: the decision, over every combination of method, Host, Origin and token."""

from __future__ import annotations

from itertools import product

import pytest

from paddock.monitor.entrance import login
from paddock.monitor.entrance.guard import Asked, Rules, host_name, judge, known_host

TOKEN = "the-token-of-this-server"
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW")
HOSTS = {
    "localhost:8642": True,
    "127.0.0.1:8642": True,
    "[::1]:8642": True,
    "gpu7:8642": True,
    "GPU7": True,
    "localhost.": True,
    "localhost:9000": True,  # a tunnel
    "192.0.2.7:8642": True,  # a literal address cannot be rebound
    "evil.example": False,
    "evil.example:8642": False,
    "localhost.evil.example": False,
    "localhost:8642@evil.example": False,
    "localhost:x": False,
    "[::1": False,
    "": False,
    "localhost/..": False,
    "127.0.0.1.nip.io:8642": False,
    "0x7f000001:8642": False,
}
ORIGINS = ("", "own", "http://evil.example", "null", "http://localhost:3000", "https://localhost:8642", "file://")
TOKENS = ("none", "good", "wrong", "empty", "cookie", "bad cookie")


def asked(method: str, host: str, origin: str, token: str, path: str = "/api/v1/runs") -> Asked:
    own = f"http://{host}"
    return Asked(
        method=method,
        path=path,
        hosts=(host,),
        origins=(own if origin == "own" else origin,) if origin else (),
        bearers={"good": (TOKEN,), "wrong": ("x" * 24,), "empty": ("",)}.get(token, ()),
        cookies={"cookie": (login.new_cookie(TOKEN),), "bad cookie": ("1-a.b",)}.get(token, ()),
    )


def rules(open_reads: bool) -> Rules:
    names = frozenset({"localhost", "gpu7"})
    return Rules(TOKEN, names, open_reads, valid_cookie=lambda value: login.valid_cookie(TOKEN, value))


@pytest.mark.parametrize("open_reads", [True, False])
def test_nothing_changes_without_the_token_a_known_name_and_an_own_page(open_reads: bool) -> None:
    judged = allowed = 0
    for method, host, origin, token in product(METHODS, HOSTS, ORIGINS, TOKENS):
        through = judge(asked(method, host, origin, token), rules(open_reads)) is None
        judged, allowed = judged + 1, allowed + through
        reads = method in ("GET", "HEAD", "OPTIONS")
        own_page = origin in ("", "own")
        proven = token == "good" or (token == "cookie" and (reads or origin == "own"))
        free = reads and open_reads
        assert through == (HOSTS[host] and own_page and (proven or free)), (method, host, origin, token)
    assert judged == len(METHODS) * len(HOSTS) * len(ORIGINS) * len(TOKENS)
    assert 0 < allowed < judged / 4


def test_no_host_or_two_are_no_host() -> None:
    for hosts in ((), ("localhost", "localhost")):
        refused = judge(Asked("GET", "/api/v1/runs", hosts=hosts), rules(True))
        assert refused is not None and refused.status == 421


def test_two_tokens_are_no_token() -> None:
    two = Asked("POST", "/x", hosts=("localhost",), bearers=(TOKEN, TOKEN))
    assert judge(two, rules(True)) is not None


def test_a_page_of_another_site_is_told_by_what_the_browser_says_of_it() -> None:
    other = Asked("POST", "/x", hosts=("localhost",), site="cross-site", bearers=(TOKEN,))
    refused = judge(other, rules(True))
    assert refused is not None and refused.code == "WrongOrigin"


def test_only_health_login_and_the_empty_board_can_be_read_by_anybody() -> None:
    far = rules(False)
    assert judge(Asked("GET", "/api/v1/health", hosts=("localhost",)), far) is None
    assert judge(Asked("GET", "/login", hosts=("localhost",)), far) is None
    for path in ("/", "/runs", "/runs/some", "/assets/index-1.js"):
        assert judge(Asked("GET", path, hosts=("localhost",)), far) is None
        assert judge(Asked("POST", path, hosts=("localhost",)), far) is not None
        assert judge(Asked("GET", path, hosts=("elsewhere",)), far) is not None
    for path in (
        "/runsx",
        "/api/v1/runs",
        "runs",
        "/api/v1/health/",
        "/api/v1/health/..",
        "/login/x",
        "/api/v1/server",
        "//api/v1/health",
    ):
        assert judge(Asked("GET", path, hosts=("localhost",)), far) is not None
    assert judge(Asked("POST", "/login", hosts=("localhost",)), far) is not None


@pytest.mark.parametrize(
    ("host", "name"),
    [("a:1", "a"), ("A", "a"), ("[::1]:1", "::1"), ("[::1]", "::1"), ("[::1]x", ""), ("a:b:c", ""), ("a:", "")],
)
def test_the_name_in_a_host_header(host: str, name: str) -> None:
    assert host_name(host) == name


def test_a_name_that_looks_like_an_address_is_a_name() -> None:
    assert not known_host("127.0.0.1.evil.example:80", frozenset())
    assert not known_host("2130706433", frozenset())

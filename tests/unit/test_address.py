"""The forms of an address."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.address import Address, named_socket, parse
from paddock.errors import UsageError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (8642, Address("127.0.0.1", 8642)),
        ("8642", Address("127.0.0.1", 8642)),
        (":8642", Address("", 8642)),
        ("*:8642", Address("", 8642)),
        ("gpu7:80", Address("gpu7", 80)),
        ("gpu7.example.org:0", Address("gpu7.example.org", 0)),
        ("[::1]:8642", Address("::1", 8642)),
        ("http://gpu7:8642", Address("gpu7", 8642)),
        ("http://gpu7:8642/", Address("gpu7", 8642)),
        ("https://gpu7", Address("gpu7", 443, True)),
        ("http://[::1]:9", Address("::1", 9)),
        ("/tmp/a b.sock", Address(path="/tmp/a b.sock")),
        ("unix:/tmp/x.sock", Address(path="/tmp/x.sock")),
    ],
)
def test_a_form_of_an_address(text: str | int, address: Address) -> None:
    assert parse(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", ":", "a:", "a:b", "a:70000", "::1:80", "a b:1", "a@b:1", "-name", "na me", "a:-1", "a:٣", "unix:"),
        *("0.0.0.0", "10.1.2.3", "localhost"),
        *("http://", "http://a/b", "http://u:p@a:1", "ftp://x", "http://a:x", "http://a?x=1"),
    ],
)
def test_what_is_no_address_is_a_sentence(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.hint


def test_a_bare_name_is_the_same_socket_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    before = parse("lab")
    assert before.name == "lab" and before.path.endswith("/lab.sock") and str(os.getuid()) in before.path
    for name in ("TMPDIR", "XDG_RUNTIME_DIR", "HOME", "PADDOCK_HOME"):
        monkeypatch.setenv(name, "/nowhere")
    assert parse("lab") == before
    assert named_socket("lab") == Path(before.path)


def test_an_address_as_a_client_writes_it() -> None:
    assert parse("[::1]:80").url == "http://[::1]:80"
    assert parse(":80").url == "http://localhost:80"
    assert parse("https://a").url == "https://a:443"

"""Keys out of bytes, however a terminal cuts them."""

from __future__ import annotations

import pytest

from paddock.monitor.console.keys import Keys


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"jk", ["j", "k"]),
        (b"\x1b[A\x1b[B", ["up", "down"]),
        (b"\x1bOA", ["up"]),
        (b"\r", ["enter"]),
        (b"\t\x1b[Z", ["tab", "backtab"]),
        (b"\x7f\x08", ["backspace", "backspace"]),
        (b"\x03", ["ctrl-c"]),
        ("é出🚀".encode(), ["é", "出", "🚀"]),
        (b"\x1b[5~q", ["pgup", "q"]),
        (b"\x1b[24;80Rq", ["q"]),  # a report of the terminal is no key
        (b"\x1b[<0;3;4Mq", ["q"]),  # nor is a mouse
        (b"\x1b[1;5Aq", ["q"]),  # nor has Ctrl-Up a meaning
        (b"\xff\xfeq", ["\ufffd", "\ufffd", "q"]),
        (b"\x00\x01q", ["q"]),
    ],
)
def test_what_is_typed(data: bytes, keys: list[str]) -> None:
    assert Keys().feed(data) == keys
    one = Keys()
    assert [key for byte in data for key in one.feed(bytes([byte]))] == keys  # byte by byte


def test_an_escape_that_nothing_follows_is_the_escape_key() -> None:
    keys = Keys()
    assert keys.feed(b"\x1b") == [] and keys.waits
    assert keys.flush() == ["esc"] and not keys.waits
    assert keys.feed(b"\x1b") == [] and keys.feed(b"[A") == ["up"]

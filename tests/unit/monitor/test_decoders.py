"""Whatever the network says, the answer is a value or a sentence, never a failure."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock import wire
from paddock.address import parse as parse_address
from paddock.compare.select import parse as parse_query
from paddock.errors import NotFound, UsageError
from paddock.monitor.entrance import login
from paddock.monitor.entrance.guard import Rules, asked_of, judge
from paddock.monitor.http import asked, inside
from paddock.monitor.http.sending import asked_range
from paddock.monitor.live.hub import Hub
from paddock.monitor.server.app import routes
from paddock.record.lines import cursor_of

PARAMS = sorted({route.params for route in routes()}, key=lambda kind: kind.__name__)
BODIES = sorted({route.body for route in routes() if route.body is not None}, key=lambda kind: kind.__name__)
NAMES = sorted({field.encode_name for kind in PARAMS for field in msgspec.structs.fields(kind)})
VALUES = st.one_of(
    st.text(max_size=20), st.integers().map(str), st.sampled_from(["", "-0", "1e400", "nan", "inf", "%00"])
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
RULES = Rules("t" * 20, frozenset({"localhost"}), False, "c", lambda value: login.valid_cookie("t" * 20, value))


@given(st.data())
def test_parameters(data: Any) -> None:
    from urllib.parse import urlencode

    kind = data.draw(st.sampled_from(PARAMS))
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=5), VALUES), max_size=4))
    raw = data.draw(st.one_of(st.just(urlencode(pairs).encode()), st.binary(max_size=40)))
    try:
        assert isinstance(asked.params(kind, raw), kind)
    except UsageError as error:
        assert error.message


@given(st.data())
def test_bodies(data: Any) -> None:
    kind = data.draw(st.sampled_from(BODIES))
    fields = [field.encode_name for field in msgspec.structs.fields(kind)]
    shaped = st.dictionaries(st.sampled_from(fields), JSON).map(lambda value: wire.dumps(wire.plain(value).value))
    raw = data.draw(shaped | st.binary(max_size=40) | st.just(b"[" * 100_000))
    try:
        assert isinstance(asked.body(kind, raw), kind)
    except UsageError as error:
        assert error.message


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"host", b"origin", b"authorization", b"cookie", b"sec-fetch-site", b"content-length"]),
            st.binary(max_size=40) | st.sampled_from([b"localhost", b"Bearer " + b"t" * 19, b"c=9-a.b", b"c=.", b"c="]),
        ),
        max_size=6,
    ),
    st.sampled_from(["GET", "POST", "DELETE", "\0"]),
    st.text(max_size=10),
)
def test_heads(headers: list[tuple[bytes, bytes]], method: str, path: str) -> None:
    scope = {"headers": headers, "method": method, "path": "/x" + path, "scheme": "http"}
    assert judge(asked_of(scope, "c"), RULES) is not None, "there is no token in any of these"


@given(st.text(max_size=60))
def test_words(text: str) -> None:
    for read in (cursor_of, inside.path_of, parse_address, parse_query):
        try:
            read(text)
        except (UsageError, NotFound) as error:
            assert error.message
    asked_range(text, 100)
    assert not login.Codes("t" * 20, "i").use(text) and not login.valid_cookie("t" * 20, text)
    assert Hub("instance")._missed(frozenset({"runs"}), text).startswith(b"event: ")


@pytest.mark.long
@pytest.mark.parametrize("check", [test_parameters, test_bodies])
def test_much_more_of_it(check: Any) -> None:
    settings(max_examples=20_000)(given(st.data())(check.hypothesis.inner_test))()

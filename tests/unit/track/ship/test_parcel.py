"""What comes over the network is checked before it is believed."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import wire
from paddock.errors import UsageError
from paddock.track.ship import names, parcel
from paddock.track.ship.parcel import Header, Part

PATH = "runs/abc/journal/w.jsonl"


@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.binary(max_size=300)), max_size=20), st.booleans())
def test_what_was_packed_is_unpacked(ranges: list[tuple[int, bytes]], sync: bool) -> None:
    parts = [Part(PATH, at, len(data), (0, 0)) for at, data in ranges]
    header, pieces = parcel.decode(parcel.encode(Header(1, parts, sync), [data for _, data in ranges]))
    assert header == Header(1, parts, sync)
    assert [bytes(piece) for piece in pieces] == [data for _, data in ranges]


@given(st.binary(max_size=2000))
def test_whatever_comes_is_a_parcel_or_malformed(body: bytes) -> None:
    for read in (parcel.decode, parcel.inflated):
        try:
            read(body)
        except UsageError:
            pass


@given(st.data())
def test_a_parcel_with_something_changed_is_a_parcel_or_malformed(data: st.DataObject) -> None:
    whole = bytearray(parcel.encode(Header(1, [Part(PATH, 3, 5, (3, 7)), Part(PATH, 8, 0)]), [b"hello", b""]))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    for body in (bytes(whole), bytes(whole[:cut])):
        try:
            header, pieces = parcel.decode(body)
        except UsageError:
            continue
        assert [part.size for part in header.parts] == [len(piece) for piece in pieces]


def framed(header: object, data: bytes = b"") -> bytes:
    head = wire.dumps(header)
    return len(head).to_bytes(4, "big") + head + data


BAD = {
    "nothing": b"",
    "a length that is longer than all": b"\xff\xff\xff\xff{}",
    "a header that is no object": framed([1]),
    "a version from the future": framed({"v": 99, "parts": []}),
    "bytes that no part claims": framed({"v": 1, "parts": []}, b"x"),
    "a part without bytes": framed({"v": 1, "parts": [{"path": PATH, "at": 0, "size": 5}]}, b"xx"),
    "a negative size": framed({"v": 1, "parts": [{"path": PATH, "at": 0, "size": -1}]}),
    "a negative offset": framed({"v": 1, "parts": [{"path": PATH, "at": -1, "size": 0}]}),
    "an offset beyond all files": framed({"v": 1, "parts": [{"path": PATH, "at": 1 << 62, "size": 0}]}),
    "a check before the beginning": framed({"v": 1, "parts": [{"path": PATH, "at": 1, "size": 0, "before": [2, 0]}]}),
    "more than its whole": framed({"v": 1, "parts": [{"path": PATH, "at": 0, "size": 1, "total": 0}]}, b"x"),
    "a path that leads out": framed({"v": 1, "parts": [{"path": "runs/a/files/../../x", "at": 0, "size": 0}]}),
    "too many parts": framed({"v": 1, "parts": [{"path": PATH, "at": 0, "size": 0}] * (parcel.PARTS + 1)}),
    "endless nesting": len(b"[" * 100_000).to_bytes(4, "big") + b"[" * 100_000,
    "half a character": len(b'{"v":"\xff"}').to_bytes(4, "big") + b'{"v":"\xff"}',
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_parcel_is_refused_in_a_sentence(what: str) -> None:
    with pytest.raises(UsageError) as caught:
        parcel.decode(BAD[what])
    assert caught.value.message.endswith(".")


def test_a_small_body_that_inflates_to_a_huge_one_is_refused_early() -> None:
    with pytest.raises(UsageError):
        parcel.inflated(zlib.compress(bytes(parcel.BODY_BYTES * 8)))
    with pytest.raises(UsageError):
        parcel.inflated(zlib.compress(b"one") + b"two")
    assert parcel.inflated(zlib.compress(b"one")) == b"one"


KNOWN = {
    "runs/k7f3m2qxab/run.json": names.FACTS,
    "runs/a.b-c/journal/node17-31245-9f3a1c.jsonl": names.STREAM,
    "runs/a/journal/w~1.jsonl": names.STREAM,
    "runs/a/logs/w.jsonl": names.STREAM,
    "runs/a/output/1.r3.log": names.STREAM,
    "runs/a/files/model.pt": names.WHOLE,
    "runs/a/files/.hidden/a b.txt".replace(" ", "%20"): names.WHOLE,
    "runs/a/files/caf%C3%A9": names.WHOLE,
    "runs/a/files/%FF": names.WHOLE,
    f"code/{'0' * 64}.json": names.OBJECT,
    f"code/objects/ab/{'0' * 62}": names.OBJECT,
    "artifacts/model/v3.json": names.ENTRY,
}
UNKNOWN = [
    "",
    "/",
    "run.json",
    "runs",
    "runs/a",
    "runs/a/",
    "runs//run.json",
    "runs/../run.json",
    "runs/a/../../etc/passwd",
    "runs/a/files/../run.json",
    "runs/a/files/%2e%2e/x",
    "runs/a/files/..%2fx/..",
    "runs/a/files/x%00y",
    "runs/a/files/",
    "runs/a/files/.x.0123456789ab.tmp",
    "runs/a/files/" + "x/" * 100 + "y",
    "runs/a/files/" + "x" * 300,
    "runs/.a/run.json",
    "runs/a/journal/.w.jsonl",
    "runs/a/journal/w.jsonl.gz",
    "runs/a/journal/w.txt",
    "runs/a/journal/x/w.jsonl",
    "runs/a/journal/%2e%2e%2frun.jsonl",
    "runs/a/shipped.json",
    "runs/a/stop.json",
    "runs/a/run.json/x",
    "server/token",
    "queues/default/queued/x",
    "code/../server/token",
    "code/objects/ab/cd",
    f"code/{'0' * 63}.json",
    f"code/{'G' * 64}.json",
    "artifacts/../v1.json",
    "artifacts/a/w1.json",
    "..",
    "C:\\windows",
    "\\\\host\\share",
    "runs/a/files/é",  # not encoded
]


@pytest.mark.parametrize("path", KNOWN)
def test_files_of_a_run_have_a_place(path: str) -> None:
    found = names.place(path)
    assert found is not None and found.kind == KNOWN[path]


@pytest.mark.parametrize("path", UNKNOWN)
def test_nothing_else_has_a_place(path: str) -> None:
    assert names.place(path) is None


@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40))
def test_any_name_of_a_saved_file_comes_through(name: str) -> None:
    found = names.place(names.encoded(f"runs/a/files/{name}"))
    if name in (".", "..") or len(name.encode()) > 255 or names._ASIDE.fullmatch(name):
        assert found is None
    else:
        assert found is not None and found.parts[-1] == name


@given(st.text(max_size=60))
def test_whatever_is_asked_for_stays_inside(path: str) -> None:
    for text in (path, f"runs/a/files/{path}", f"runs/{path}", f"code/{path}"):
        found = names.place(text)
        assert found is None or (".." not in found.parts and "" not in found.parts and found.parts[0] in text)

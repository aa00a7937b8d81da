"""What runs printed and what they kept, over HTTP."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import wire
from paddock.errors import NotFound
from paddock.monitor.http import inside
from paddock.monitor.http.sending import Span, asked_range
from paddock.record.layout import Home
from tests.served import Server, served
from tests.unit.monitor.conftest import LINES


def test_the_last_lines_and_then_page_by_page_to_the_beginning(shown: Server) -> None:
    page = shown.get("/api/v1/runs/first/output?attempt=1&lines=3")
    assert page["lines"] == [f"line {n}" for n in range(LINES - 3, LINES)]
    lines: list[str] = page["lines"]
    while page["start"] > 0:
        page = shown.get(f"/api/v1/runs/first/output?attempt=1&before={page['start']}&limit=10000")
        lines = page["lines"] + lines
    assert lines == [f"line {n}" for n in range(LINES)]


def test_from_the_beginning_to_the_end_with_pages_of_any_size(shown: Server) -> None:
    for limit in (7, 100, 1 << 20):
        at, lines, size = 0, [], 1
        while at < size and len(lines) < 200:
            page = shown.get(f"/api/v1/runs/first/output?attempt=1&after={at}&limit={limit}&raw=true")
            at, size, lines = page["end"], page["size"], lines + page["lines"]
        if limit > 10:
            assert lines[:200] == [f"line {n}" for n in range(200)]
    end = shown.get(f"/api/v1/runs/first/output?attempt=1&after={size}")
    assert end["lines"] == [] and end["start"] == end["end"] == size


def test_the_last_attempt_is_shown_without_what_drives_a_terminal(shown: Server) -> None:
    assert shown.get("/api/v1/runs/first/output")["lines"] == ["red", "bar 100%", "no end"]
    raw = shown.get("/api/v1/runs/first/output?raw=true")["lines"]
    assert raw[0].startswith("\x1b]0;") and raw[1] == "bar 1%\rbar 100%\r"
    found = shown.get("/api/v1/runs/first/outputs")["outputs"]
    assert [(one["attempt"], one["rank"]) for one in found] == [(1, 0), (2, 0)]


def test_no_output_is_a_sentence(shown: Server) -> None:
    for query in ("?attempt=9", "?rank=3", "?after=1&before=2"):
        assert shown.ask("GET", f"/api/v1/runs/first/output{query}").status in (400, 404)
    assert shown.ask("GET", "/api/v1/runs/live/output").status == 404


# Files


def test_files_are_listed_and_links_are_not_among_them(shown: Server) -> None:
    found = {one["path"]: one for one in shown.get("/api/v1/runs/first/files")["files"]}
    assert set(found) == {"empty", "page.html", "sub dir/a.txt"}
    assert found["sub dir/a.txt"]["size"] == 10


def test_a_file_comes_whole_or_in_parts(shown: Server) -> None:
    path = f"/api/v1/runs/first/files/{inside.file_id(b'sub dir/a.txt')}"
    whole = shown.ask("GET", path)
    assert (whole.status, whole.body, whole.headers["content-type"]) == (
        200,
        b"0123456789",
        "text/plain; charset=utf-8",
    )
    for header, status, body in (
        ("bytes=2-4", 206, b"234"),
        ("bytes=7-", 206, b"789"),
        ("bytes=-3", 206, b"789"),
        ("bytes=-99", 206, b"0123456789"),
        ("bytes=0-0", 206, b"0"),
        ("bytes=1-2,4-5", 200, b"0123456789"),
        ("bytes=4-2", 200, b"0123456789"),
        ("lines=1-2", 200, b"0123456789"),
    ):
        part = shown.ask("GET", path, headers={"Range": header})
        assert (part.status, part.body) == (status, body), header
    assert shown.ask("GET", path, headers={"Range": "bytes=10-"}).status == 416
    assert shown.ask("GET", path, headers={"If-None-Match": whole.headers["etag"]}).status == 304
    stale = shown.ask("GET", path, headers={"Range": "bytes=2-4", "If-Range": '"old"'})
    assert stale.status == 200
    head = shown.ask("HEAD", path)
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "10")


def test_a_page_among_the_files_is_saved_and_never_shown(shown: Server) -> None:
    found = shown.ask("GET", f"/api/v1/runs/first/files/{inside.file_id(b'page.html')}")
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in found.headers["content-security-policy"]


ESCAPES = [
    b"../run.json",
    b"..",
    b".",
    b"",
    b"/etc/passwd",
    b"link",
    b"up",
    b"up/run.json",
    b"up/../run.json",
    b"sub dir/../../run.json",
    b"sub dir//a.txt",
    b"sub dir/./a.txt",
    b"sub dir/a.txt/",
    b"sub dir",
    b"sub dir\0/a.txt",
    b"a.txt\0",
    b"..\\run.json",
    b"%2e%2e/run.json",
    b"..%2frun.json",
    b"....//run.json",
    b"\xc0\xae\xc0\xae/run.json",
    b"~/x",
    b"file:///etc/passwd",
    b"x" * 5000,
    b"/".join([b"d"] * 100),
]
PLAIN = [
    *("..", "../run.json", "..%2f..%2frun.json", "%2e%2e%2f%2e%2e%2frun.json", "%252e%252e%252frun.json", "....//x"),
    *("%2fetc%2fpasswd", "/etc/passwd", "//etc/passwd", "..%5c..%5crun.json", "%c0%ae%c0%ae%2f", "..;/run.json"),
    *(
        "a.txt",
        "sub%20dir/a.txt",
        "%00",
        "..%00",
        "%0a",
        "*",
        "~root",
        "file:%2f%2f%2fetc%2fpasswd",
        "YQ==",
        "YQ=",
        "Y Q",
    ),
]


@pytest.mark.parametrize("path", ESCAPES)
def test_there_is_no_way_out_by_an_id(shown: Server, path: bytes) -> None:
    word = base64.urlsafe_b64encode(path).rstrip(b"=").decode()
    found = shown.ask("GET", f"/api/v1/runs/first/files/{word}")
    assert found.status == 404, found.body[:200]


@pytest.mark.parametrize("word", PLAIN)
def test_there_is_no_way_out_by_a_path(shown: Server, word: str) -> None:
    for path in (f"/api/v1/runs/first/files/{word}", f"/api/v1/runs/{word}", f"/{word}", f"/static/{word}"):
        found = shown.ask("GET", path.replace(" ", "%20"))
        assert found.status in (404, 405), (path, found.status)
        assert b"root:" not in found.body


@given(st.text(max_size=30))
def test_any_word_is_a_file_below_or_no_file(word: str) -> None:
    try:
        parts = inside.path_of(word)
    except NotFound:
        return
    assert all(part not in (b"", b".", b"..") and b"/" not in part for part in parts)
    assert inside.file_id(b"/".join(parts)) == word


def test_a_directory_that_becomes_a_link_is_not_followed(home: Home) -> None:
    files = home.run("r").files
    files.mkdir(parents=True)
    os.symlink("/etc", files / "etc")
    with pytest.raises(NotFound):
        inside.open_inside(files, inside.file_id(b"etc/passwd"))
    os.mkfifo(files / "pipe")
    with pytest.raises(NotFound):
        inside.open_inside(files, inside.file_id(b"pipe"))


@given(st.text(max_size=20) | st.from_regex(r"bytes=\d{0,4}-\d{0,4}", fullmatch=True), st.integers(0, 100))
def test_a_range_is_inside_of_the_file(header: str, size: int) -> None:
    found = asked_range(header, size)
    if isinstance(found, Span):
        assert 0 <= found.start < found.end <= size


def test_lines_with_a_text_are_found_with_their_offsets_wherever_they_are(shown: Server) -> None:
    found = shown.get("/api/v1/runs/first/output/search?attempt=1&text=LINE%20499")
    assert [hit["line"] for hit in found["hits"]][:3] == ["line 499", "line 4990", "line 4991"]
    assert found["next"] is None and len(found["hits"]) == 11
    place = found["hits"][1]["start"]
    assert shown.get(f"/api/v1/runs/first/output?attempt=1&after={place}&limit=9")["lines"][0] == "line 4990"
    first = shown.get("/api/v1/runs/first/output/search?attempt=1&text=line&limit=2")
    second = shown.get(f"/api/v1/runs/first/output/search?attempt=1&text=line&limit=2&after={first['next']}")
    assert [hit["line"] for hit in second["hits"]] == ["line 2", "line 3"]
    assert shown.get("/api/v1/runs/first/output/search?text=red")["hits"] == [{"start": 0, "line": "red"}]
    assert shown.get("/api/v1/runs/first/output/search?text=nothing%20of%20it")["hits"] == []
    assert shown.ask("GET", "/api/v1/runs/first/output/search?text=").status == 400
    assert shown.ask("GET", "/api/v1/runs/live/output/search?text=x").status == 404


def test_a_pattern_that_backtracks_keeps_nobody_waiting(home: Home) -> None:
    """`a*a*a*b` takes the fourth power of the letters it sees; all others would wait for it."""
    logs = home.run("long").logs
    logs.mkdir(parents=True)
    home.run("long").facts.write_bytes(wire.dumps({"v": 1, "id": "long"}))
    texts = [*(f"{number} {'a' * 5000}" for number in range(5)), "aab"]
    records = [{"k": "line", "t": float(t), "level": 20, "logger": "x", "text": text} for t, text in enumerate(texts)]
    (logs / "w.jsonl").write_bytes(b"".join(map(wire.record_line, [{"k": "open", "v": 1, "t": 0.0}, *records])))
    with served(home) as server:
        found, place, more = [], "", True
        while more:
            page = server.get(f"/api/v1/runs/long/lines?match=a*a*a*b&after={place}")
            found, place, more = found + page["lines"], page["end"], page["more"]
        assert [line["text"] for line in found] == ["aab"]

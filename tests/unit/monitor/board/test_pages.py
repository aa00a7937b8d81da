"""The board is served as it was built: cached for ever by name, compressed, and for every address of a view."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from paddock.monitor.board import bundle, pages
from tests.served import Server


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle that a test can know: what Vite makes has the same shape."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Paddock</title>")
    (tmp_path / "assets/index-abc.js").write_bytes(b"js " * 100)
    (tmp_path / "assets/index-abc.js.gz").write_bytes(gzip.compress(b"js " * 100))
    (tmp_path / "assets/index-abc.css").write_bytes(b"css")
    (tmp_path / "made-of").write_text("secret")
    found = bundle.read(tmp_path)
    monkeypatch.setattr(pages, "built", lambda: found)
    return tmp_path


@pytest.mark.parametrize("view", ["/", "/runs", "/runs/abc", "/compare?run=a", "/reports/x", "/queue", "/now"])
def test_every_view_is_the_same_page(shown: Server, built: Path, view: str) -> None:
    answer = shown.ask("GET", view, token=None)
    assert answer.status == 200 and b"<title>Paddock</title>" in answer.body
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "no-cache" in answer.headers["cache-control"]
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    same = shown.ask("GET", view, token=None, headers={"If-None-Match": answer.headers["etag"]})
    assert same.status == 304


def test_files_are_compressed_for_who_wants_it_and_kept_for_ever(shown: Server, built: Path) -> None:
    plain = shown.ask("GET", "/assets/index-abc.js")
    assert plain.body == b"js " * 100 and "content-encoding" not in plain.headers
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in plain.headers["cache-control"] and plain.headers["vary"] == "accept-encoding"
    small = shown.ask("GET", "/assets/index-abc.js", headers={"Accept-Encoding": "gzip, br"})
    assert small.headers["content-encoding"] == "gzip" and gzip.decompress(small.body) == plain.body
    assert shown.ask("GET", "/assets/index-abc.css", headers={"Accept-Encoding": "gzip"}).body == b"css"


@pytest.mark.parametrize("name", ["made-of", "..%2fmade-of", "%2e%2e/made-of", "index-abc.js.gz", "", "x.js"])
def test_nothing_else_is_a_file(shown: Server, built: Path, name: str) -> None:
    answer = shown.ask("GET", f"/assets/{name}")
    assert answer.status == 404 and b"secret" not in answer.body


def test_an_address_that_is_no_view_is_not_found(shown: Server, built: Path) -> None:
    assert shown.ask("GET", "/elsewhere").status == 404


@pytest.mark.parametrize("path", ["/elsewhere", "/runs/", "/runs/a/b"])
def test_somebody_who_mistypes_an_address_sees_the_board(shown: Server, built: Path, path: str) -> None:
    answer = shown.ask("GET", path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert answer.status == 404 and b"<title>Paddock</title>" in answer.body
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/api/v1/elsewhere", "/assets/none.js"])
def test_what_programs_ask_for_is_not_found_in_json(shown: Server, built: Path, path: str) -> None:
    answer = shown.ask("GET", path, headers={"Accept": "text/html"})
    assert answer.status == 404 and answer.headers["content-type"] == "application/json"


def test_a_checkout_without_the_bundle_says_how_to_build_it(
    shown: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = bundle.read(tmp_path / "none")
    monkeypatch.setattr(pages, "built", lambda: nothing)
    answer = shown.ask("GET", "/runs")
    assert answer.status == 200 and b"make board" in answer.body


def test_the_views_of_the_server_and_of_the_page_are_the_same() -> None:
    source = Path(__file__).parents[4] / "web/src/route/place.ts"
    lists = re.search(r"LISTS[^{]*\{(.*?)\n\};", source.read_text(), re.S)
    assert lists is not None
    words = set(re.findall(r"^  (\w+):", lists[1], re.M))
    assert words == {view.split("/")[1] for view in pages.VIEWS} - {""}

"""Reports are plain files of which none is rewritten, and nobody's text is lost to another's."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from paddock.record import reports
from paddock.record.layout import Home
from tests.served import Server, served

TEXT = {"kind": "text", "text": "# <script>alert(1)</script>"}
CHART = {"kind": "comparison", "text": "run=a&run=b"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Home]]:
    home = Home(tmp_path_factory.mktemp("reports") / "home")
    home.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PADDOCK_CACHE", str(home.path.parent / "cache"))
        with served(home) as server:
            yield server, home


def said(server: Server, path: str, **body: object) -> dict[str, object]:
    answer = server.ask("POST", f"/api/v1/reports{path}", json.dumps(body).encode())
    assert answer.status in (200, 201), answer.body
    found: dict[str, object] = answer.json
    return found


def test_a_report_is_saved_read_changed_and_removed(desk: tuple[Server, Home]) -> None:
    server, home = desk
    first = said(server, "", title="Seeds", blocks=[TEXT, CHART])
    report = first["id"]
    assert server.get(f"/api/v1/reports/{report}") == first
    assert [one["title"] for one in server.get("/api/v1/reports")["reports"]] == ["Seeds"]
    folder = home.path / "reports" / str(report)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    second = said(server, f"/{report}", title="Seeds, again", blocks=[TEXT], base=first["name"])
    assert second["created"] == first["created"] and second["name"] != first["name"]
    assert {name: (folder / name).read_bytes() for name in before} == before
    gone = server.ask("POST", f"/api/v1/reports/{report}/removal", json.dumps({"base": second["name"]}).encode())
    assert gone.status == 204
    assert server.ask("GET", f"/api/v1/reports/{report}").status == 404
    assert server.get("/api/v1/reports")["reports"] == []
    assert len(list(folder.iterdir())) == 3


def test_who_changes_an_old_version_is_refused_and_nothing_is_written(desk: tuple[Server, Home]) -> None:
    server, home = desk
    first = said(server, "", title="Mine")
    said(server, f"/{first['id']}", title="Theirs", base=first["name"])
    late = server.ask(
        "POST", f"/api/v1/reports/{first['id']}", json.dumps({"title": "Late", "base": first["name"]}).encode()
    )
    assert late.status == 409 and late.error == "Refused"
    assert reports.read(home, str(first["id"])).title == "Theirs"


def test_of_two_that_were_saved_at_once_both_are_kept(desk: tuple[Server, Home]) -> None:
    _, home = desk
    made = reports.save(home, None, {"title": "One"})
    folder = reports.directory(home) / made.id
    twin = folder / "000001-zzz-1-abc.json"
    twin.write_bytes((folder / made.name).read_bytes().replace(b"One", b"Two"))
    assert reports.read(home, made.id).title == "Two"
    assert len(reports.versions(home, made.id)) == 2


@pytest.mark.parametrize("name", ["..", "a%2Fb", ".hidden", "nothing", "x" * 300])
def test_a_name_that_is_none_is_not_found(desk: tuple[Server, Home], name: str) -> None:
    assert desk[0].ask("GET", f"/api/v1/reports/{name}").status == 404


def test_a_damaged_report_does_not_hide_the_others(desk: tuple[Server, Home]) -> None:
    server, home = desk
    made = reports.save(home, None, {"title": "Broken"})
    (reports.directory(home) / made.id / "000002-x-1-a.json").write_bytes(b"{")
    whole = reports.save(home, None, {"title": "Whole"})
    listed = [one["id"] for one in server.get("/api/v1/reports")["reports"]]
    assert whole.id in listed and made.id not in listed
    assert server.ask("GET", f"/api/v1/reports/{made.id}").status == 422


@pytest.mark.parametrize(
    "body", [b"{}", b'{"title": ""}', b'{"title": "x", "blocks": [{"kind": "other", "text": ""}]}']
)
def test_what_is_no_report_is_refused(desk: tuple[Server, Home], body: bytes) -> None:
    assert desk[0].ask("POST", "/api/v1/reports", body).status == 400

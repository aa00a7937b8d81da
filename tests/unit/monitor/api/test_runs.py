"""Runs over HTTP."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from paddock.monitor.house import Found
from paddock.record.layout import Home
from tests.served import Server, served
from tests.unit.monitor.conftest import author, fill
from tests.waiting import until


def test_runs_are_listed_newest_first_with_their_last_values(shown: Server) -> None:
    found = shown.get("/api/v1/runs")
    assert [run["id"] for run in found["runs"]] == ["live", "broken", "first"]
    first = found["runs"][-1]
    assert first["metrics"]["loss"]["last_step"] == 2999 and first["metrics"]["loss"]["count"] == 3000
    assert first["config"] == {"lr": 0.1, "deep": {"a": 1}} and first["star"] is True and first["tags"] == ["base"]
    assert found["runs"][0]["state"] == "running" and found["runs"][1]["reason"] == "ValueError: x"


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("q=lr<0.15", ["first"]),
        ("q=state=failed or state=running&sort=created", ["broken", "live"]),
        ("sort=-last.loss&limit=1", ["live"]),
        ("limit=1&offset=1", ["broken"]),
        ("offset=10", []),
        ("q=tag:base star", ["first"]),
        ("q=no.such=1", []),
    ],
)
def test_runs_are_chosen_sorted_and_paged_as_on_the_command_line(shown: Server, query: str, ids: list[str]) -> None:
    found = shown.get(f"/api/v1/runs?{quote(query, safe='=&')}")
    assert [run["id"] for run in found["runs"]] == ids


def test_columns_instead_of_whole_runs(shown: Server) -> None:
    found = shown.get("/api/v1/runs?columns=id,lr,last.acc&sort=id")
    assert found["rows"] == [
        {"id": "broken", "lr": 0.2, "last.acc": None},
        {"id": "first", "lr": 0.1, "last.acc": 29.99},
        {"id": "live", "lr": None, "last.acc": None},
    ]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/runs?q=%28", 400, "QueryError"),
        ("/api/v1/runs?q=name~%28a%2B%29%2B%24", 400, "QueryError"),  # it could take for ever
        ("/api/v1/runs?sort=lrr", 404, "NotFound"),
        ("/api/v1/runs?columns=nothing", 404, "NotFound"),
        ("/api/v1/runs?limit=-1", 400, "UsageError"),
        ("/api/v1/runs?limit=x", 400, "UsageError"),
        ("/api/v1/runs?lim=1", 400, "UsageError"),
        ("/api/v1/runs?limit=1&limit=2", 400, "UsageError"),
        ("/api/v1/runs?q=%ff", 400, "UsageError"),
        ("/api/v1/runs/nobody", 404, "RunNotFound"),
        ("/api/v1/runs/name-", 409, "Ambiguous"),
        ("/api/v1/nothing", 404, "NotFound"),
        ("/api/v1/runs/", 404, "NotFound"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(shown: Server, path: str, status: int, code: str) -> None:
    found = shown.ask("GET", path)
    assert (found.status, found.error) == (status, code)
    assert "." in found.json["error"]["message"]


def test_a_method_that_is_not_there_is_refused(shown: Server) -> None:
    assert shown.ask("DELETE", "/api/v1/runs").status == 405


def test_everything_about_a_run_by_id_or_by_name(shown: Server) -> None:
    found = shown.get("/api/v1/runs/name-first")
    assert found["run"]["id"] == "first" and found["facts"]["project"] == "p"
    assert [child["id"] for child in found["children"]] == ["broken"]
    assert found["records"]["alert"][0]["text"] == "<b>90 %</b>"
    assert {writer["role"] for writer in found["writers"]} == {"main", "annotation"}


def test_a_page_that_has_not_changed_is_not_sent_again(shown: Server) -> None:
    for path in ("/api/v1/runs", "/api/v1/runs/first"):
        tag = shown.ask("GET", path).headers["etag"]
        again = shown.ask("GET", path, headers={"If-None-Match": f'"x", {tag}'})
        assert again.status == 304 and again.body == b""
        assert shown.ask("GET", path, headers={"If-None-Match": '"other"'}).status == 200


def test_what_is_written_is_seen_by_the_next_request(home: Home) -> None:
    fill(home)
    with served(home) as server:
        before = server.ask("GET", "/api/v1/runs")
        author(home, "new", created=2e9).rows(("loss",), [[0, 7.0]]).end()
        after = until(lambda: [a for a in [server.get("/api/v1/runs")] if a["runs"][0]["id"] == "new"])[0]
        assert after["version"] > before.json["version"]
        assert server.ask("GET", "/api/v1/runs", headers={"If-None-Match": before.headers["etag"]}).status == 200


def test_an_answer_that_was_overtaken_is_not_taken_for_the_newest(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends after its row was found and before the answer: who asks again must not hear that nothing changed."""
    fill(home)
    writer = author(home, "new", created=2e9)
    with served(home) as server:
        assert server.get("/api/v1/runs/new")["run"]["state"] == "running"
        house = server.house
        find = house.find

        def overtaken(name: str) -> Found:
            found = find(name)
            writer.end()
            house.fresh(at_once=True)
            return found

        monkeypatch.setattr(house, "find", overtaken)
        old = server.ask("GET", "/api/v1/runs/new")
        monkeypatch.undo()
        assert old.json["run"]["state"] == "running"
        again = server.ask("GET", "/api/v1/runs/new", headers={"If-None-Match": old.headers["etag"]})
        assert again.status == 200 and again.json["run"]["state"] == "finished"


def test_a_run_that_is_removed_goes_from_the_list(home: Home) -> None:
    import shutil

    fill(home)
    with served(home) as server:
        assert len(server.get("/api/v1/runs")["runs"]) == 3
        shutil.rmtree(home.run("first").path)
        until(lambda: [run["id"] for run in server.get("/api/v1/runs")["runs"]] == ["live", "broken"])
        assert server.ask("GET", "/api/v1/runs/first").status == 404


def test_several_homes_are_shown_as_one_and_the_first_one_wins(tmp_path: object, home: Home) -> None:
    other = Home(home.path.parent / "other")
    fill(home)
    fill(other)
    author(other, "elsewhere", created=3e9).end()
    with served(home, also=[other]) as server:
        found = server.get("/api/v1/runs")
        assert [run["id"] for run in found["runs"]] == ["elsewhere", "live", "broken", "first"]
        assert server.get("/api/v1/runs/first")["home"] == str(home.path)
        assert server.get("/api/v1/runs/elsewhere")["home"] == str(other.path)


def test_people_say_things_of_runs(home: Home) -> None:
    fill(home)
    with served(home) as server:
        said = {"tag": ["good", "späte <b>"], "untag": ["base"], "note": "kept", "star": False, "bug": True}
        run = server.ask("POST", "/api/v1/runs/first/annotations", said).json
        assert run["tags"] == ["good", "späte <b>"] and run["notes"] == "kept"
        assert run["star"] is False and run["bug"] is True
        assert server.get("/api/v1/runs/first")["run"] == run
        for body in ({}, {"tag": [""]}, {"unknown": 1}, [], None, b"{", b"\xff", {"star": "yes"}):
            found = server.ask("POST", "/api/v1/runs/first/annotations", body)
            assert found.status == 400, body
        assert server.ask("POST", "/api/v1/runs/no/annotations", {"star": True}).status == 404


def test_a_diff_of_configs(shown: Server) -> None:
    found = shown.get("/api/v1/diff?run=first&run=name-broken")
    assert found["config"] == [
        {"key": "lr", "values": {"first": 0.1, "broken": 0.2}, "equal": False},
        {"key": "deep.a", "values": {"first": 1, "broken": 2}, "equal": False},
    ]
    assert shown.get("/api/v1/diff?run=first&run=broken&packages=true")["packages"] == []
    assert shown.ask("GET", "/api/v1/diff?run=first&run=first").status == 400


def test_alerts_are_told_the_newest_first(shown: Server) -> None:
    (alert,) = shown.get("/api/v1/alerts")["alerts"]
    assert alert["run"] == "first" and alert["title"] == "hot" and alert["text"] == "<b>90 %</b>"

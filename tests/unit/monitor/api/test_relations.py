"""What belongs to a run: family, dependencies, and evaluations of its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock import wire
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import DONE, Finding, Result, encode
from paddock.queue.entry.submission import submit
from paddock.record.layout import Home
from tests.served import Server, served
from tests.unit.monitor.conftest import author
from tests.waiting import until


@pytest.fixture
def server(home: Home) -> Iterator[Server]:
    with served(home) as found:
        yield found


def test_a_task_names_those_that_it_waits_for_and_those_that_wait_for_it(server: Server, home: Home) -> None:
    def add(name: str, **more: object) -> str:
        return submit("default", "true", name=name, home=home, snapshot=False, **more).id  # type: ignore[arg-type]

    first = add("first")
    second = add("second", after=[first])
    third = add("third", after=[second])
    until(lambda: len(server.get("/api/v1/runs")["runs"]) == 3)
    found = server.get(f"/api/v1/runs/{second}/relations")
    assert found["queue"] == "default" and not found["more"]
    assert [(one["id"], one["name"], one["state"], one["when"]) for one in found["after"]] == [
        (first, "first", "queued", "success")
    ]
    assert [(one["id"], one["name"]) for one in found["dependents"]] == [(third, "third")]
    assert server.get(f"/api/v1/runs/{third}/relations")["dependents"] == []


def test_a_run_names_its_parent_and_its_children(shown: Server) -> None:
    above = shown.get("/api/v1/runs/broken/relations")
    assert above["parent"]["id"] == "first" and above["children"] == [] and above["queue"] == ""
    below = shown.get("/api/v1/runs/first/relations")
    assert below["parent"] is None and [one["id"] for one in below["children"]] == ["broken"]


def test_evaluations_are_those_of_the_checkpoints_of_this_run(server: Server, home: Home, tmp_path: Path) -> None:
    for run_id in ("mine", "other"):
        author(home, run_id).rows(("loss",), [[0, 1.0]]).end()
    ledger = Ledger.of(home, str(tmp_path))
    for step, run_id in ((10, "mine"), (20, "other"), (30, "mine")):
        finding = Finding(
            key=f"k{step}", evaluator="test", call={}, path=f"{step}.pt", fingerprint="f", step=step, run=run_id
        )
        (ledger.directory / f"k{step}.json").write_bytes(encode(finding))
    (ledger.directory / "k10.result").write_bytes(wire.encode(Result(state=DONE, values={"acc": 0.5})))
    until(lambda: len(server.get("/api/v1/runs")["runs"]) == 2)
    found = server.get("/api/v1/runs/mine/evaluations")
    assert [(one["step"], one["state"], one["values"]) for one in found["evaluations"]] == [
        (10, "done", {"acc": 0.5}),
        (30, "pending", {}),
    ]
    assert found["best"] == ["10.pt"] and len(found["watches"]) == 1
    assert server.get("/api/v1/runs/other/evaluations")["best"] == []

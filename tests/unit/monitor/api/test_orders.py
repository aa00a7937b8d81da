"""Queues over HTTP: what waits and why, and what people order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddock.queue.entry.submission import submit
from paddock.record.layout import Home
from tests.served import Server, served
from tests.unit.monitor.conftest import author
from tests.waiting import until


@pytest.fixture
def server(home: Home) -> Iterator[Server]:
    with served(home) as found:
        yield found


def submitted(home: Home, count: int, queue: str = "default") -> list[str]:
    return [submit(queue, f"echo {n}", name=f"task-{n}", home=home, snapshot=False).id for n in range(count)]


def states(server: Server, queue: str = "default") -> dict[str, str]:
    return {task["id"]: task["state"] for task in server.get(f"/api/v1/queues/{queue}/tasks")["tasks"]}


def test_what_waits_is_listed_with_its_reason_and_is_a_run_already(server: Server, home: Home) -> None:
    first, second = submitted(home, 2)
    (queue,) = server.get("/api/v1/queues")["queues"]
    assert queue["queue"] == "default" and queue["counts"]["queued"] == 2 and queue["workers"] == 0
    status = server.get("/api/v1/queues/default?limit=1")
    assert status["waiting"][0]["task"]["id"] == first and status["waiting"][0]["why"] == "no worker"
    assert status["more"] == 1
    assert server.get("/api/v1/queues/default/tasks?state=active")["total"] == 0
    one = server.get(f"/api/v1/queues/default/tasks/{second}")
    assert one["command"] == "echo 1" and one["task"]["name"] == "task-1" and one["attempts"] == []
    until(lambda: [r["state"] for r in server.get("/api/v1/runs")["runs"]] == ["queued", "queued"])
    assert server.get("/api/v1/workers")["workers"] == [] and server.get("/api/v1/watches")["watches"] == []


def test_orders_do_what_the_command_line_does(server: Server, home: Home) -> None:
    first, second, third = submitted(home, 3)

    def order(**body: object) -> dict[str, object]:
        found = server.ask("POST", "/api/v1/queues/default/orders", body)
        assert found.status == 200, found.body
        return dict(found.json)

    done = order(order="pause", tasks=[first, second])["done"]
    assert [(d["id"], d["before"], d["now"]) for d in done] == [  # type: ignore[attr-defined]
        (first, "queued", "paused"),
        (second, "queued", "paused"),
    ]
    assert states(server) == {first: "paused", second: "paused", third: "queued"}
    order(order="resume", tasks=[first])
    order(order="priority", tasks=[third], priority=7)
    assert server.get(f"/api/v1/queues/default/tasks/{third}")["task"]["priority"] == 7
    order(order="cancel", tasks=[second])
    assert states(server) == {first: "queued", third: "queued"}
    (other,) = submitted(home, 1, "other")
    order(order="move", tasks=[third], to="other")
    assert states(server, "other") == {other: "queued", third: "queued"}


def test_an_order_that_makes_no_sense_changes_nothing(server: Server, home: Home) -> None:
    first, second = submitted(home, 2)
    before = states(server)
    for body, status in (
        ({"order": "resume", "tasks": [first]}, 409),
        ({"order": "pause", "tasks": [first, "nobody"]}, 404),
        ({"order": "pause", "tasks": []}, 400),
        ({"order": "burn", "tasks": [first]}, 400),
        ({"order": "priority", "tasks": [first]}, 400),
        ({"order": "pause", "tasks": [first], "priority": 3}, 400),
        ({"order": "move", "tasks": [first]}, 400),
        ({"order": "move", "tasks": [first], "to": "nowhere"}, 404),
        ({"order": "move", "tasks": [first], "to": "default"}, 400),
        ({"order": "pause", "tasks": [second], "wait": 1e9}, 400),
    ):
        assert server.ask("POST", "/api/v1/queues/default/orders", body).status == status, body
    assert server.ask("POST", "/api/v1/queues/none/orders", {"order": "pause", "tasks": [first]}).status == 404
    assert server.ask("GET", "/api/v1/queues/default/tasks/nobody").status == 404
    assert server.ask("GET", "/api/v1/watches/none").status == 404
    assert states(server) == before


def test_a_question_is_answered_once(server: Server, home: Home) -> None:
    asker = author(home, "asks")
    asker.say(k="ask", id="main.q1", prompt="go on?", choices=["yes", "no"], secret=False)
    until(lambda: server.get("/api/v1/questions")["questions"])
    (asked,) = server.get("/api/v1/questions")["questions"]
    assert asked["run"] == "asks" and asked["prompt"] == "go on?" and asked["choices"] == ["yes", "no"]
    path = f"/api/v1/runs/asks/questions/{asked['id']}/answer"
    assert server.ask("POST", path, {"text": "perhaps"}).status == 400
    assert server.ask("POST", path, {"text": "yes"}).status == 204
    assert server.get("/api/v1/questions")["questions"] == []
    assert server.ask("POST", path, {"text": "no"}).status == 404


def test_who_hears_of_a_run_before_the_server_looks_again_finds_it_and_is_heard(server: Server, home: Home) -> None:
    """The page of what happens now reads by itself, and may know a question before the list of runs has its run."""
    server.get("/api/v1/runs")
    refresher = server.house.refresher
    refresher._cost = 1e6  # the last look was so dear that the next is far away
    author(home, "new").say(k="ask", id="main.q1", prompt="go on?", choices=["yes", "no"], secret=False)
    assert server.get("/api/v1/runs/new")["run"]["name"] == "name-new"
    refresher._cost = 1e6
    author(home, "newer").say(k="ask", id="main.q1", prompt="go on?", choices=["yes", "no"], secret=False)
    assert server.ask("POST", "/api/v1/runs/newer/questions/main.q1/answer", {"text": "yes"}).status == 204


def test_who_opens_a_task_as_soon_as_it_is_submitted_finds_it(server: Server, home: Home) -> None:
    submitted(home, 1)
    server.get("/api/v1/runs")
    server.house.refresher._cost = 1e6
    (task,) = submitted(home, 1)
    assert server.get(f"/api/v1/runs/{task}")["run"]["state"] == "queued"
    server.house.refresher._cost = 1e6
    (other,) = submitted(home, 1)
    assert server.ask("POST", f"/api/v1/runs/{other}/annotations", {"star": True}).json["star"] is True

"""Queues in Redis beside those in directories: listed with them, moved between them, cleaned as they are."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from paddock.catalog.catalog import Catalog
from paddock.queue.lifecycle import Place, Token
from paddock.queue.redis import connection
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.show.view import tasks
from paddock.record.layout import Home
from tests.redisserver import RedisServer
from tests.served import Server, served
from tests.waiting import until


def _submit(program: Any, queue: str, *words: str) -> str:
    found = program("submit", "-q", "--no-snapshot", "-Q", queue, *words)
    assert found.code == 0, found.err
    return str(found.out.strip())


def _run(program: Any, queue: str) -> None:
    assert program("worker", "--no-persist", queue).code == 0


def _states(home: Home, queue: str) -> dict[str, str]:
    return {entry.id: entry.state for entry in tasks(queue, home=home)}


def test_a_task_moves_to_redis_and_back_with_its_history(program: Any, home: Home, redis_server: RedisServer) -> None:
    url = f"{redis_server.url}?queue=q"
    failed = _submit(program, "here", "--name", "odd é", "--", "echo once; exit 3")
    _run(program, "here")
    parent = _submit(program, "here", "--priority", "7", "--", "echo parent")
    child = _submit(program, "here", "--after", parent, "--", "echo child")
    held = _submit(program, "here", "--", "echo held")
    assert program("pause", "-Q", "here", held).code == 0
    refused = program("move", "-Q", "here", parent, "--to", url)
    assert refused.code == 9 and child in refused.err  # it would be parted from who waits for it
    moved = program("move", "-Q", "here", failed, parent, child, held, "--to", url)
    assert moved.code == 0, moved.err
    assert _states(home, "here") == {}
    assert _states(home, url) == {failed: "failed", parent: "queued", child: "queued", held: "paused"}
    found = {entry.id: entry for entry in tasks(url, home=home)}
    assert found[parent].priority == 7
    assert [one.exit for one in found[failed].file.attempts] == ["exit code 3"]  # type: ignore[union-attr]
    assert program("resume", "-Q", url, held).code == 0
    _run(program, url)
    assert _states(home, url) == {failed: "failed", parent: "done", child: "done", held: "done"}
    assert program("retry", "-Q", url, failed).code == 0
    assert program("move", "-Q", url, "--all", "--yes", "--to", "back").code == 0
    assert _states(home, url) == {} and RedisQueue(url).connection.keys("rq:job:*") == []
    _run(program, "back")
    assert _states(home, "back") == {failed: "failed", parent: "done", child: "done", held: "done"}
    again = {entry.id: entry for entry in tasks("back", home=home)}[failed]
    assert again.file is not None and [one.number for one in again.file.attempts] == [1, 2]
    assert (home.run(failed).path / "output" / "2.log").read_text() == "once\n"


def test_what_redis_cannot_have_stays_where_it_is(program: Any, home: Home, redis_server: RedisServer) -> None:
    ranks = _submit(program, "here", "--workers", "2", "--", "true")
    refused = program("move", "-Q", "here", ranks, "--to", redis_server.url)
    assert refused.code == 9 and "2 ranks" in refused.err
    assert _states(home, "here") == {ranks: "queued"}


def test_who_dies_while_moving_leaves_the_task_held(program: Any, home: Home, redis_server: RedisServer) -> None:
    """It runs in neither queue until a person says so."""
    url = f"{redis_server.url}?queue=q"
    task = _submit(program, url, "--", "echo out")
    queue = RedisQueue(url)
    assert queue.move(Place("queued", task), Place("paused", task, 0, Token("move-nowhere-1-abc", 1)))
    quick = {
        "PADDOCK_LEASE_BEAT_SECONDS": "1",
        "PADDOCK_LEASE_FENCE_SECONDS": "4",
        "PADDOCK_LEASE_RECLAIM_SECONDS": "6",
    }
    worker = program.start("worker", url, env=quick)
    try:
        until(lambda: [place.token for place in queue.list(["paused"]).places] == [None], 60)
        assert tasks(url, home=home)[0].file.attempts == ()  # type: ignore[union-attr]
        assert program("resume", "-Q", url, task).code == 0
        until(lambda: _states(home, url) == {task: "done"}, 60)
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)


def test_clean_removes_what_is_over_and_keeps_what_others_wait_for(
    program: Any, home: Home, redis_server: RedisServer
) -> None:
    url = f"{redis_server.url}?queue=q"
    old, wanted = _submit(program, url, "--", "true"), _submit(program, url, "--", "true")
    _run(program, url)
    child = _submit(program, url, "--after", wanted, "--chk", "false", "--", "true")
    none = program("clean", "-Q", url, "--json", "--yes").json
    assert none["removed"] == 0  # 30 days have not gone by
    found = program("clean", "-Q", url, "--older-than", "0", "--yes", "--json").json
    assert [one["id"] for one in found["tasks"]] == [old] and [one["id"] for one in found["kept"]] == [wanted]
    assert _states(home, url) == {wanted: "done", child: "queued"}
    assert RedisQueue(url).connection.exists(f"rq:job:{old}", f"rq:results:{old}") == 0
    assert (home.run(old).path / "output" / "1.log").exists()  # the run stays
    assert program("clean", "-Q", url, child).code == 9


def test_clean_forgets_dead_workers(program: Any, redis_server: RedisServer) -> None:
    url = f"{redis_server.url}?queue=q"
    worker = program.start("worker", url)
    until(lambda: RedisQueue(url).crew(), 60)
    worker.kill()
    worker.communicate()
    assert "dead" in program("workers", "-Q", url).out
    assert program("clean", "-Q", url, "--yes").code == 0
    assert RedisQueue(url).crew() == []


def test_status_lists_the_queues_that_the_home_knows_and_who_is_away(
    program: Any, home: Home, redis_server: RedisServer, tmp_path: Path
) -> None:
    other = RedisServer(tmp_path / "other")
    try:
        here, gone = f"{redis_server.url}?queue=q", f"{other.url}?queue=gone"
        near, far = _submit(program, "near", "--", "true"), _submit(program, here, "--", "true")
        _submit(program, gone, "--", "true")
    finally:
        other.stop()
    found = {one["queue"]: one for one in program("status", "--json").json["queues"]}
    assert list(found) == ["near", gone, here]
    assert [one["id"] for one in found["near"]["waiting"]] == [near]
    assert [one["id"] for one in found[here]["waiting"]] == [far]
    assert "There is no Redis" in found[gone]["away"] and not found[here]["away"]
    shown = program("status")
    assert shown.code == 0 and "away" in shown.out and "There is no Redis" in shown.err
    assert program("status", "-Q", gone).code == 12  # who asks for it by name hears of it
    assert program("workers").code == 0
    assert f"add -Q '{here}'" in program("cancel", "-Q", "near", far).err
    top = until(lambda: _top(program, far), 60)
    assert {one["path"] for one in top["queues"] if one["away"]} == {gone}
    usual = program("status", "--json", env={"PADDOCK_QUEUE": f"{redis_server.url}?queue=usual"}).json["queues"]
    assert f"{redis_server.url}?queue=usual" in {one["queue"] for one in usual}  # also one that settings name


def _top(program: Any, task: str) -> Any:
    """Once an answer came in time: a busy machine is no reason to wait."""
    found = program("top", "--once", "--json").json
    return found if task in {one["id"] for one in found["tasks"]} else None


def test_wait_waits_for_a_redis_that_is_away_for_a_while(program: Any, redis_server: RedisServer) -> None:
    url = f"{redis_server.url}?queue=q"
    task = _submit(program, url, "--", "true")
    waiting = program.start("wait", "-Q", url, task)
    short = program.start("wait", "-Q", url, "--timeout", "8s", task)
    connection = RedisQueue(url).connection
    until(
        lambda: len(connection.client_list()) == 3 and _calls(connection.info("commandstats"), "cmdstat_time") > 15, 60
    )
    redis_server.stop()  # both have looked several times
    assert short.wait(60) == 12 and "There is no Redis" in short.communicate()[1]
    redis_server.start()
    _run(program, url)
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 0 and task in out
    assert err.count("There is no Redis") == 1 and "It is waited for" in err


def test_the_board_shows_queues_in_redis_and_gives_orders_there(
    program: Any, home: Home, redis_server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a wait for one that takes calls and never answers."""
    monkeypatch.setattr(connection, "TIMEOUT_SECONDS", 3600.0)  # who waited for it would wait for ever
    other = RedisServer(tmp_path / "other")
    here, gone = f"{redis_server.url}?queue=q", f"{other.url}?queue=gone"
    task, _ = _submit(program, here, "--", "true"), _submit(program, gone, "--", "true")
    other.process.send_signal(signal.SIGSTOP)
    try:
        with served(home) as board:
            found = until(lambda: _counted(board), 60)
            assert (found["q"]["counts"]["queued"], bool(found["gone"]["away"])) == (1, True)
            until(lambda: task in {one["id"] for one in board.get("/api/v1/now")["tasks"]}, 60)
            board.get("/api/v1/workers")
            order = {"order": "pause", "tasks": [task]}
            assert board.ask("POST", "/api/v1/queues/q/orders", order).status == 200
            assert board.ask("GET", f"/api/v1/queues/q/tasks/{task}").json["task"]["state"] == "paused"
    finally:
        other.process.send_signal(signal.SIGCONT)
        other.stop()


def _counted(board: Server) -> Any:
    found = {one["queue"]: one for one in board.get("/api/v1/queues")["queues"]}
    return found if not found["q"]["away"] else None


def test_code_that_waits_in_redis_is_no_garbage(program: Any, home: Home, redis_server: RedisServer) -> None:
    (program.cwd / "train.py").write_text("print('out')\n")
    url = f"{redis_server.url}?queue=q"
    sent = program("submit", "-q", "-Q", url, "--", "python3 train.py")
    assert sent.code == 0, sent.err
    (entry,) = tasks(url, home=home)
    assert entry.file is not None and entry.file.task.code
    old = time.time() - 3 * 86_400
    for path in home.code.rglob("*"):
        os.utime(path, (old, old))
    assert program("gc", "--json").json["code_objects"] == 0
    redis_server.stop()
    found = program("gc", "--json").json
    assert found["code_objects"] == 0 and "may be in use" in " ".join(found["notes"])
    redis_server.start()
    assert program("cancel", "-Q", url, entry.id).code == 0
    assert program("gc", "--json").json["code_objects"] > 0


def test_ls_shows_what_waits_in_redis_and_skip_existing_sees_it(
    program: Any, home: Home, redis_server: RedisServer
) -> None:
    url = f"{redis_server.url}?queue=q"
    first = _submit(program, url, "--name", "one", "--config", "lr=0.1", "--", "exit 3")
    found = program("ls", "--json").json["runs"]
    assert [(run["id"], run["name"], run["state"], run["config"]) for run in found] == [
        (first, "one", "queued", {"lr": 0.1})
    ]
    again = program("submit", "-Q", url, "--no-snapshot", "--skip-existing", "--config", "lr=0.1", "--", "exit 3")
    assert again.code == 0 and "1 task left out" in again.err
    assert program("show", "one", "--json").json["run"]["state"] == "queued"
    assert program("pause", "-Q", url, first).code == 0
    assert _listed(program) == {first: "paused"}
    assert program("resume", "-Q", url, first).code == 0
    _run(program, url)
    assert _listed(program) == {first: "failed"}
    assert program("retry", "-Q", url, first).code == 0
    assert _listed(program) == {first: "queued"}  # with its first attempt's record
    second = _submit(program, url, "--", "true")
    assert _listed(program) == {first: "queued", second: "queued"}
    assert program("cancel", "-Q", url, second, "--yes").code == 0
    assert second not in _listed(program)


def _listed(program: Any) -> dict[str, str]:
    return {run["id"]: run["state"] for run in program("ls", "--json").json["runs"]}


def test_what_waits_in_a_redis_that_is_away_is_listed_as_last_seen(program: Any, redis_server: RedisServer) -> None:
    url = f"{redis_server.url}?queue=q"
    task = _submit(program, url, "--", "true")
    assert _listed(program) == {task: "queued"}
    redis_server.stop()
    found = program("ls")
    assert found.code == 0 and task in found.out and "as it was last seen" in found.err


def test_ls_asks_for_no_task_where_nothing_has_changed(program: Any, home: Home, redis_server: RedisServer) -> None:
    url = f"{redis_server.url}?queue=q"
    _submit(program, url, "--grid", "n=1..50", "--", "true {n}")
    with Catalog.open(home) as catalog:
        catalog.refresh()
        queue = RedisQueue(url)
        before = queue.connection.info("commandstats")
        assert len(catalog.runs()) == 50
    with Catalog.open(home) as catalog:
        catalog.refresh()
        assert len(catalog.runs()) == 50
    after = queue.connection.info("commandstats")
    asked = ("cmdstat_hmget", "cmdstat_lrange", "cmdstat_hgetall", "cmdstat_hlen")
    assert [_calls(after, name) - _calls(before, name) for name in asked] == [0, 0, 0, 1]


def _calls(stats: Any, name: str) -> int:
    return int(stats.get(name, {}).get("calls", 0))


def test_a_worker_that_leaves_because_nothing_is_left_does_not_say_that_it_was_told_to(
    program: Any, redis_server: RedisServer
) -> None:
    url = f"{redis_server.url}?queue=q"
    _submit(program, url, "--", "true")
    said = program("worker", "--no-persist", url).err
    assert "done (exit code 0)" in said and "ended" in said and "stopping" not in said
    assert program("worker", "--no-persist", "--json", url).json["stopped"] == ""

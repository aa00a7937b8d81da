"""Events: what is told, to whom, and what becomes of those who do not keep up."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import msgspec
import pytest

from paddock.model import MetricStat, RunRow
from paddock.monitor.live import hub as hub_
from paddock.monitor.live.changes import changed
from paddock.monitor.live.hub import Hub
from paddock.monitor.server import serving
from paddock.record.annotation import annotate
from paddock.record.layout import Home
from tests.served import TOKEN, Server, served
from tests.unit.monitor.conftest import author, fill
from tests.waiting import DEADLINE, until


class Ear:
    """One who listens."""

    def __init__(self, server: Server, query: str = "", last: str = "") -> None:
        self.socket = server.connect()
        said = f"GET /api/v1/events?{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        said += f"Last-Event-ID: {last}\r\n" if last else ""
        self.socket.sendall((said + "\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def events(self) -> Iterator[tuple[str, str, Any]]:
        kind = number = ""
        end = time.monotonic() + DEADLINE  # beats come for ever
        while size := self.file.readline():
            assert time.monotonic() < end, "what is waited for was not told"
            piece = self.file.read(int(size, 16))
            self.file.readline()
            if not piece:
                return
            for line in piece.decode().split("\n"):
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "id":
                    number = value
                elif name == "data":
                    yield kind, number, json.loads(value)

    def next(self, kind: str) -> tuple[str, Any]:
        return next((number, data) for found, number, data in self.events() if found == kind)

    def all_of(self, *kinds: str) -> dict[str, Any]:
        """The last of each by the time each has come: one may be told twice, and several come in one piece."""
        told: dict[str, Any] = {}
        for kind, _, data in self.events():
            told[kind] = data
            if told.keys() >= set(kinds):
                break
        return told


@contextmanager
def ear(server: Server, query: str = "", last: str = "") -> Iterator[Ear]:
    found = Ear(server, query, last)
    try:
        yield found
    finally:
        found.file.close()
        found.socket.close()


@pytest.fixture
def server(home: Home) -> Iterator[Server]:
    fill(home)
    with served(home) as found:
        found.get("/api/v1/runs")
        yield found


def test_a_new_run_its_points_and_its_end_are_told(server: Server, home: Home) -> None:
    with ear(server, "only=runs") as one:
        one.next("hello")
        writer = author(home, "new", created=2e9)
        _, told = one.next("runs")
        assert [run["id"] for run in told["new"]] == ["new"] and told["removed"] == []
        writer.rows(("loss",), [[0, 3.5]])
        changes = [change for _, told in [one.next("runs")] for change in told["changed"]]
        while not any("metrics" in change for change in changes):
            changes += one.next("runs")[1]["changed"]
        (found,) = [change for change in changes if "metrics" in change]
        assert found["id"] == "new" and found["metrics"]["loss"]["last"] == 3.5
        assert "config" not in found and "name" not in found
        writer.end()
        while not any(change.get("state") == "finished" for change in changes):
            changes += one.next("runs")[1]["changed"]


def test_points_of_a_metric_are_told_once_each_in_the_order_of_writing(server: Server, home: Home) -> None:
    writer = author(home, "new", created=2e9).rows(("loss",), [[0, 0.0]])
    until(lambda: server.ask("GET", "/api/v1/series?run=new&metric=loss").status == 200)
    with ear(server, "only=none&points=new:loss") as one, ear(server, "only=none&points=new:loss") as other:
        one.next("hello")
        other.next("hello")
        for step in range(1, 30):
            writer.rows(("loss",), [[step, step / 2]])
            time.sleep(0.005)
        for each in (one, other):
            steps: list[int] = []
            values: list[float] = []
            while len(steps) < 29:
                _, told = each.next("points")
                steps += told["steps"]
                values += told["values"]
            assert steps == list(range(1, 30)) and values == [step / 2 for step in steps]


def test_what_a_run_prints_is_told_line_by_line_across_attempts(server: Server, home: Home) -> None:
    output = home.run("live").output
    output.mkdir()
    (output / "1.log").write_bytes(b"before\n")
    with ear(server, "only=none&output=live") as one:
        one.next("hello")
        with open(output / "1.log", "ab") as file:
            file.write(b"\x1b[31mone\x1b[0m\ntwo\n")
        _, told = one.next("output")
        assert told["lines"] == ["one", "two"] and told["start"] == 7
        (output / "2.log").write_bytes(b"again\n")
        _, told = one.next("output")
        assert told["lines"] == ["again"] and told["attempt"] == 2


def test_what_its_processes_log_is_told(server: Server, home: Home) -> None:
    from tests.unit.catalog.conftest import Author

    home.run("live").logs.mkdir()
    writer = Author(home.run("live").logs / "w.jsonl")
    with ear(server, "only=none&lines=live") as one:
        one.next("hello")
        writer.say(k="line", level=30, logger="root", text="[/x] 100%")
        _, told = one.next("lines")
        assert [(line["level"], line["text"]) for line in told["lines"]] == [(30, "[/x] 100%")]


def test_who_comes_back_gets_what_was_missed(server: Server, home: Home) -> None:
    with ear(server, "only=runs") as one, ear(server, "only=runs") as witness:
        number, _ = one.next("hello")
        witness.next("hello")
        one.socket.close()
        annotate(home.run("first"), {"k": "note", "text": "missed"})
        witness.next("runs")
        with ear(server, "only=runs", last=number) as again:
            kind, _, told = next(again.events())
            assert kind == "runs" and [one["notes"] for one in told["changed"]] == ["missed"]


@pytest.mark.parametrize("last", ["other.5", "x", "99999.1", "a.b.c", "9" * 99])
def test_who_comes_back_too_late_is_told_to_ask_for_everything(server: Server, last: str) -> None:
    with ear(server, "only=runs", last=last) as one:
        assert next(one.events())[0] == "resync"


@contextmanager
def nobody_looks_once_somebody_listens(server: Server) -> Iterator[None]:
    """From the moment a listener is told `hello` until the end of the block: what is written in it is found by the
    first look after it began to listen."""
    hub, held = server.house.hub, ExitStack()
    note = hub.on_topics

    def noted() -> None:
        held.enter_context(server.house.refresher.paused())
        hub.on_topics = note
        note()

    hub.on_topics = noted
    with held:
        yield


def ask(home: Home, run_id: str, prompt: str) -> None:
    author(home, run_id, writer=f"asks-{prompt}").say(k="ask", id=prompt, prompt=prompt)


def test_what_happens_right_after_hello_is_told_even_if_nobody_has_looked_since(server: Server, home: Home) -> None:
    ledger = home.path / "watches" / "w1" / "ledger"
    ledger.mkdir(parents=True)
    server.house.fresh(at_once=True)
    with ExitStack() as ears:
        with nobody_looks_once_somebody_listens(server):
            one = ears.enter_context(ear(server, "only=watches,questions&points=live:loss"))
            one.next("hello")
            (ledger / "found").touch()
            ask(home, "live", "now?")
        told = one.all_of("watches", "questions")
        assert told["watches"] == {"watches": ["w1"]}
        assert [asked["prompt"] for asked in told["questions"]["questions"]] == ["now?"]


def test_two_checkpoints_within_one_tick_of_the_disks_clock_are_told_both(server: Server, home: Home) -> None:
    ledger = home.path / "watches" / "w1" / "ledger"
    ledger.mkdir(parents=True)
    server.house.fresh(at_once=True)
    with ear(server, "only=watches") as one:
        one.next("hello")
        (ledger / "first").touch()
        one.next("watches")
        with server.house.refresher.paused():
            tick = ledger.stat().st_mtime_ns
            (ledger / "second").touch()
            os.utime(ledger, ns=(tick, tick))
        assert one.next("watches")[1] == {"watches": ["w1"]}


def test_what_a_look_found_between_a_request_and_its_stream_is_told(server: Server, home: Home) -> None:
    house = server.house
    house.follow(["questions", "points/live/loss"])
    ask(home, "live", "meanwhile?")
    author(home, "live", writer="more").rows(("loss",), [[1, 4.0]])
    house.fresh(at_once=True)
    with ear(server, "only=questions&points=live:loss") as one:
        one.next("hello")
        (home.path / "watches").mkdir()  # a reason to look that has to do with neither
        told = one.all_of("questions", "points")
        assert [asked["prompt"] for asked in told["questions"]["questions"]] == ["meanwhile?"]
        assert told["points"]["steps"] == [1]


def test_what_cannot_be_followed_is_a_sentence(server: Server) -> None:
    for query, status in (("points=live", 400), ("points=nobody:x", 404), ("only=x", 400), ("output=nobody", 404)):
        assert server.ask("GET", f"/api/v1/events?{query}").status == status
    many = "&".join(f"points=live:m{n}" for n in range(300))
    assert server.ask("GET", f"/api/v1/events?{many}").status == 400


def test_a_reader_that_takes_nothing_is_let_go_and_others_hear_everything(
    server: Server, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_, "MOST_PENDING", 200_000)
    slow = server.connect()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
    with ear(server, "only=runs") as one:
        one.next("hello")
        until(lambda: len(server.house.hub.listeners) == 2)
        loop = server.house._loop
        assert loop is not None
        for number in range(200):  # more than the kernel's buffers and ours take
            loop.call_soon_threadsafe(
                server.house.hub.publish, "runs", "runs", b'{"n":%d,"x":"%b"}' % (number, b"x" * 50_000)
            )
            assert one.next("runs")[1]["n"] == number
        until(lambda: len(server.house.hub.listeners) == 1)
    slow.close()


def test_a_client_of_old_is_told_that_there_is_no_stream_for_it(server: Server) -> None:
    with server.connect() as line:
        line.sendall(b"GET /api/v1/events HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 426")


def test_all_who_listen_are_let_go_at_once_when_the_server_ends(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "GRACE_SECONDS", 60)  # for answers under way; events are none of them
    home.prepare()
    with served(home) as server:
        ears = [Ear(server) for _ in range(20)]
        began = time.monotonic()
    assert time.monotonic() - began < 30
    for one in ears:
        assert [kind for kind, _, _ in one.events()] == ["hello"]
        one.file.close()
        one.socket.close()


def test_nobody_looks_while_nobody_asks(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from paddock.monitor.view import refresher

    monkeypatch.setattr(refresher, "INTEREST_SECONDS", 0.2)
    fill(home)
    with served(home) as server:
        server.get("/api/v1/runs")
        watching = server.house.refresher
        until(lambda: not watching.wanted())
        with watching.paused():  # who was at it has looked
            before = server.house.version
        author(home, "new", created=2e9).end()
        time.sleep(0.5)
        assert server.house.version == before
        assert server.get("/api/v1/runs")["runs"][0]["id"] == "new"


# Of the hub and of what changed, alone


def test_only_what_is_other_than_before_is_said() -> None:
    stat = MetricStat(1.0, 1, 1.0, 1, 1.0, 1, 1)
    old = RunRow(id="a", name="n", project="p", state="running", created=1.0, metrics={"x": stat, "y": stat})
    new = msgspec.structs.replace(old, state="lost", reason="gone", metrics={"x": stat._replace(last=2.0, count=2)})
    found = changed(old, new)
    assert found["state"] == "lost" and found["reason"] == "gone" and set(found) == {"id", "state", "reason", "metrics"}
    assert found["metrics"]["y"] is None and found["metrics"]["x"]["last"] == 2.0
    assert changed(new, new) == {"id": "a"}


def test_a_topic_that_nobody_followed_for_a_while_cannot_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_, "LINGER_SECONDS", 0.01)

    async def scene() -> None:
        hub = Hub("instance-x")
        _, hello = hub.join(["runs"], "")
        number = hello.split(b"id: ")[1].split(b"\n")[0].decode()
        hub.publish("runs", "runs", b"{}")
        _, missed = hub.join(["runs"], number)
        assert missed.startswith(b"event: runs")
        for listener in list(hub.listeners):
            hub.leave(listener)
        await asyncio.sleep(0.05)
        assert hub.topics == frozenset()
        hub.publish("runs", "runs", b"{}")  # to nobody
        _, late = hub.join(["runs"], f"{hub.instance}.{hub.number}")
        assert late.startswith(b"event: resync")
        hub.close()

    asyncio.run(scene())


def test_what_is_kept_for_those_who_come_back_is_bounded() -> None:
    async def scene() -> None:
        hub = Hub("instance-x")
        hub.join(["runs"], "")
        for _ in range(3000):
            hub.publish("runs", "runs", b"{}")
        assert len(hub._kept) == hub_.KEPT_EVENTS
        _, late = hub.join(["runs"], f"{hub.instance}.5")
        assert late.startswith(b"event: resync")
        hub.close()

    asyncio.run(scene())

"""Who is told of what happens to runs: once, whoever watches, and only of what is news."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock import settings, wire
from paddock.catalog.catalog import Catalog
from paddock.monitor.notices.events import events
from paddock.monitor.notices.notifying import Notifier
from paddock.monitor.now.reader import HomeReader
from paddock.record.layout import Home
from paddock.work.notices import marks as marks_module
from paddock.work.notices import notify
from paddock.work.notices.marks import Marks
from paddock.work.notices.notify import RUN_EVENTS, Notify
from tests.unit.monitor.console.pictures import busy, question, run
from tests.unit.monitor.now.test_reader import DEAD, Writer


class Told:
    """A recipient whose command writes down what it is told."""

    def __init__(self, home: Home, path: Path, **more: Any) -> None:
        self.home, self.path, self.said = home, path, list[str]()
        self.notify = Notify(on=RUN_EVENTS, command=f"cat >> '{path}'", **more)

    def watcher(self) -> Callable[[], None]:
        notifier = Notifier(self.home, [self.notify], settings.load(), self.said.append)
        reader = HomeReader(self.home, Catalog.open(self.home))
        return lambda: notifier.look(reader)

    @property
    def notices(self) -> list[dict[str, Any]]:
        return [wire.loads(line) for line in self.path.read_bytes().splitlines()] if self.path.exists() else []

    @property
    def events(self) -> list[tuple[str, str]]:
        return sorted((one["event"], one["run"]) for one in self.notices)


@pytest.fixture
def told(home: Home, tmp_path: Path) -> Told:
    return Told(home, tmp_path / "told.jsonl")


def test_a_picture_says_what_happened() -> None:
    now = busy(questions=(question(),))
    found = {(event.event, event.run.id) for event in events(now)}
    assert found == {
        ("stalled", "bb2"), ("lost", "cc3"), ("failed", "dd4"), ("finished", "ee5"), ("alert", "aa1"),
        ("question", "aa1"),
    }  # fmt: skip


def test_a_task_whose_worker_has_not_decided_yet_has_not_failed() -> None:
    tasks = tuple(task for task in busy().tasks if task.id == "aa1")
    assert events(busy(runs=(run("aa1", state="failed", reason="exit code 1"),), tasks=tasks, alerts=())) == []


def test_a_cancelled_run_is_no_failure() -> None:
    assert events(busy(runs=(run("aa1", state="killed", reason="cancelled"),), tasks=(), alerts=())) == []


def test_each_event_is_told_once_by_many_watchers_and_after_restarts(told: Told, home: Home) -> None:
    watchers = [told.watcher() for _ in range(3)]
    good, bad = Writer(home, "aa1", name="good"), Writer(home, "bb2", name="bad [/x] 100%")
    bad.record("alert", title="hot", text="90 %", level="warn")
    good.end()
    bad.end(code=1, reason="exception", exception={"type": "ValueError", "message": "no", "traceback": ""})
    for _ in range(2):
        for look in watchers:
            look()
    told.watcher()()
    assert told.events == [("alert", "bb2"), ("failed", "bb2"), ("finished", "aa1")]
    failed = next(one for one in told.notices if one["event"] == "failed")
    assert failed["text"] == "failed (ValueError: no): bad [/x] 100% (bb2)" and failed["name"] == "bad [/x] 100%"


def test_what_was_over_before_anybody_watched_is_no_news_and_what_ends_while_nobody_does_is(
    told: Told, home: Home
) -> None:
    Writer(home, "aa1").end()
    time.sleep(0.002)
    told.watcher()()
    assert told.events == []
    Writer(home, "bb2").end()
    told.watcher()()
    assert told.events == [("finished", "bb2")]


def test_lost_stalled_and_asking_runs_are_told(told: Told, home: Home) -> None:
    look = told.watcher()
    stuck = Writer(home, "aa1")
    stuck.steps([i / 10 - 60 for i in range(50)])
    asking = Writer(home, "bb2")
    asking.record("ask", id="q1", prompt="Go on?", choices=[], secret=False)
    lost = Writer(home, "cc3", pid=DEAD)
    lost.record("beat")
    look()
    look()
    assert told.events == [("lost", "cc3"), ("question", "bb2"), ("stalled", "aa1")]


def test_a_query_chooses_the_runs(home: Home, tmp_path: Path) -> None:
    told = Told(home, tmp_path / "told.jsonl", query="lr<0.2")
    look = told.watcher()
    Writer(home, "aa1", config={"lr": 0.1}).end()
    Writer(home, "bb2", config={"lr": 0.5}).end()
    look()
    assert told.events == [("finished", "aa1")]


def test_what_did_not_arrive_is_tried_again_and_complained_of_once(home: Home, tmp_path: Path) -> None:
    told = Told(home, tmp_path / "told.jsonl")
    gate = tmp_path / "gate"
    told.notify = Notify(on=("finished",), command=f"test -e '{gate}' && cat >> '{told.path}'")
    look = told.watcher()
    Writer(home, "aa1").end()
    look()
    assert told.notices == [] and len(told.said) == 1 and "exit code 1" in told.said[0]
    gate.touch()
    look()
    look()
    assert told.events == [("finished", "aa1")] and len(told.said) == 1


def test_a_sweep_that_fails_is_not_a_thousand_messages(home: Home, tmp_path: Path) -> None:
    told = Told(home, tmp_path / "told.jsonl", per_minute=2)
    look = told.watcher()
    for i in range(5):
        Writer(home, f"run{i}").end()
    look()
    assert len(told.notices) == 2


def test_another_takes_over_from_one_that_died_while_it_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Notify(command="true")
    assert Marks(home).claim(one, "failed", "aa1~1")  # and is killed
    other = Marks(home)
    assert not other.claim(one, "failed", "aa1~1")
    monkeypatch.setattr(marks_module, "STALE_SECONDS", 0.0)
    assert other.claim(one, "failed", "aa1~1")
    other.sent(one, "failed", "aa1~1")
    assert not Marks(home).claim(one, "failed", "aa1~1")


def test_no_mark_gives_a_key_away(home: Home) -> None:
    secret = Notify(webhook="https://hooks.example.org/s3cr3tkey")
    Marks(home).claim(secret, "failed", "aa1~1")
    names = [str(path) for path in home.path.rglob("*")]
    assert names and not any("s3cr3t" in name for name in names)


def test_several_recipients_stand_in_an_array_of_tables(tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_text(
        '[[notify]]\non = ["stalled", "lost"]\ncommand = "a"\n'
        '[[notify]]\non = "finished"\nquery = "tag:paper"\nmail = "b@c.d"\n'
    )
    first, second = notify.load_all(tmp_path)
    assert first.on == ("stalled", "lost") and second.query == "tag:paper" and second.mail == ("b@c.d",)

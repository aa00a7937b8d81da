"""The picture of a home, look after look."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

import paddock
from paddock import wire
from paddock.catalog.catalog import Catalog
from paddock.compare.select import parse
from paddock.monitor.now import runs as runs_module
from paddock.monitor.now.picture import Now, Run
from paddock.monitor.now.reader import HomeReader
from paddock.monitor.now.source import HomeSource
from paddock.record.journal import Journal
from paddock.record.layout import Home
from paddock.record.process import boot_id, start_ticks

DEAD = (1 << 22) - 3  # no pid of this machine


class Writer:
    """A process of a run, as far as its journal goes."""

    def __init__(
        self, home: Home, run_id: str, *, pid: int = 0, host: str = "", ago: float = 0.0, **facts: Any
    ) -> None:
        self.directory = home.run(run_id)
        for path in (self.directory.journals, self.directory.output, self.directory.logs):
            path.mkdir(parents=True, exist_ok=True)
        about = {
            "v": 1,
            "id": run_id,
            "name": run_id,
            "created": time.time() - ago,
            "host": {"name": os.uname().nodename},
        }
        self.directory.facts.write_bytes(wire.dumps(about | facts))
        self.name, pid = f"box-{os.urandom(3).hex()}", pid or os.getpid()
        self.header = {
            "run": run_id, "writer": self.name, "role": "main", "host": host or os.uname().nodename, "pid": pid,
            "start": start_ticks(pid), "boot": boot_id(), "rank": None, "attempt": 1, "oom": -1,
        }  # fmt: skip
        self.journal = Journal(self.directory.journals / f"{self.name}.jsonl", self.header)
        self.journal.started -= ago
        self.journal.append({"k": "columns", "id": 0, "names": ["loss"]})

    def steps(self, times: list[float]) -> None:
        """Seconds after its journal was opened."""
        for i, t in enumerate(times):
            self.journal.write(wire.row_line([0, i, int(t * 1000), 1 / (i + 1)]))

    def record(self, kind: str, **more: Any) -> None:
        self.journal.append_now({"k": kind, **more})

    def end(self, **end: Any) -> None:
        self.record("end", **({"code": 0, "reason": "finished"} | end))
        self.journal.close()


@pytest.fixture
def reader(home: Home) -> Iterator[HomeReader]:
    with Catalog.open(home) as catalog:
        yield HomeReader(home, catalog)


def by_id(now: Now) -> dict[str, Run]:
    return {run.id: run for run in now.runs}


def test_running_ended_and_lost_runs_are_what_they_are(home: Home, reader: HomeReader) -> None:
    running = Writer(home, "aa1", name="first")
    running.steps([0.0, 0.1])
    running.record("progress", id=f"{running.name}.1", total=10, done=4, msg=["train"], unit="step", state="running")
    failed = Writer(home, "bb2")
    failed.end(code=1, reason="exception", exception={"type": "ValueError", "message": "no", "traceback": ""})
    Writer(home, "cc3", pid=DEAD)
    now = by_id(reader.look())
    assert (now["aa1"].state, now["aa1"].name, now["aa1"].step) == ("running", "first", 1)
    assert now["aa1"].bars[0].fraction == 0.4 and now["aa1"].values[0].metric == "loss"
    assert (now["bb2"].state, now["bb2"].reason) == ("failed", "ValueError: no")
    assert now["cc3"].state == "lost"


def test_what_comes_between_two_looks_is_seen_at_the_next(home: Home, reader: HomeReader) -> None:
    first = Writer(home, "aa1")
    assert [run.id for run in reader.look().runs] == ["aa1"]
    first.steps([0.0, 1.0, 2.0])
    second = Writer(home, "bb2")
    now = by_id(reader.look())
    assert now["aa1"].step == 2 and now["bb2"].state == "running"
    first.end()
    second.record("alert", title="careful", text="", level="warn")
    now = reader.look()
    assert by_id(now)["aa1"].state == "finished" and by_id(now)["bb2"].alerts == 1
    assert [alert.title for alert in now.alerts] == ["careful"] and len(reader.look().alerts) == 1


def test_another_process_that_indexes_hides_nothing(home: Home, reader: HomeReader) -> None:
    reader.look()
    one = Writer(home, "aa1")
    with Catalog.open(home) as other:
        other.refresh()
    assert by_id(reader.look())["aa1"].state == "running"
    one.record("alert", title="x", text="", level="warn")
    one.end()
    with Catalog.open(home) as other:
        other.refresh()
    now = reader.look()
    assert by_id(now)["aa1"].state == "finished" and len(now.alerts) == 1


def test_a_run_that_stopped_stepping_is_marked_and_one_that_steps_is_not(home: Home, reader: HomeReader) -> None:
    stuck = Writer(home, "aa1")
    stuck.steps([i / 10 - 60 for i in range(50)])
    steps = Writer(home, "bb2")
    steps.steps([i / 10 - 2 for i in range(20)])
    now = reader.look()
    assert by_id(now)["aa1"].stalled and by_id(now)["aa1"].silence > 50
    assert not by_id(now)["bb2"].stalled
    assert now.counts["stalled"] == 1 and now.counts["running"] == 2


def test_progress_that_gets_on_is_no_stall(home: Home, reader: HomeReader) -> None:
    """A validation without steps, but with a bar."""
    one = Writer(home, "aa1")
    one.steps([i / 10 - 60 for i in range(50)])
    one.record("progress", id=f"{one.name}.1", total=10, done=4, msg=["validate"], unit="", state="running")
    assert not by_id(reader.look())["aa1"].stalled


def test_an_attempt_later_is_seen_although_the_run_had_ended(
    home: Home, reader: HomeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    Writer(home, "aa1").end()
    assert by_id(reader.look())["aa1"].state == "finished"
    Writer(home, "aa1")
    monkeypatch.setattr(runs_module, "SWEEP_SECONDS", 0.0)
    reader._runs._sweep_at = 0.0
    assert by_id(reader.look())["aa1"].state == "running"


def test_a_removed_run_is_gone(home: Home, reader: HomeReader) -> None:
    import shutil

    Writer(home, "aa1")
    reader.look()
    shutil.rmtree(home.run("aa1").path)
    assert reader.look().runs == ()


def test_what_ended_long_ago_is_not_of_this_minute(home: Home, reader: HomeReader) -> None:
    old = Writer(home, "aa1", ago=7200)
    old.journal.append({"k": "end", "t": time.time() - 7200, "code": 0, "reason": "finished"})
    assert reader.look().runs == ()


def test_what_ends_well_hides_nothing_that_did_not(home: Home, reader: HomeReader, monkeypatch: Any) -> None:
    monkeypatch.setattr(runs_module, "MOST_ENDED", 2)
    Writer(home, "aa1", ago=60, pid=DEAD)
    Writer(home, "bb2", ago=50).end(code=1, reason="exit code 1")
    for i in range(4):
        Writer(home, f"cc{i}", ago=40 - i).end()
    for _ in range(2):  # also at the next look
        now = by_id(reader.look())
        assert (now["aa1"].state, now["bb2"].state) == ("lost", "failed")
        assert sum(run.state == "finished" for run in now.values()) == 2


def test_a_query_narrows_runs(home: Home, reader: HomeReader) -> None:
    Writer(home, "aa1", config={"lr": 0.1})
    Writer(home, "bb2", config={"lr": 0.5})
    assert [run.id for run in reader.look(parse("lr<0.2")).runs] == ["aa1"]
    assert len(reader.look().runs) == 2


def test_a_question_is_open_until_it_is_answered(home: Home) -> None:
    one = Writer(home, "aa1", name="asker")
    one.record("ask", id="q1", prompt="Go on?", choices=["yes", "no"], secret=False)
    source = HomeSource([(home, Catalog.open(home))])
    try:
        (question,) = source.look().questions
        assert (question.run_name, question.prompt, question.choices) == ("asker", "Go on?", ("yes", "no"))
        source.answer("aa1", "q1", "yes")
        assert source.look().questions == ()
        answers = Catalog.open(home).records("aa1", ["answer"])
        assert [record["text"] for record in answers] == ["yes"]
    finally:
        source.close()


def test_a_run_that_waits_for_an_answer_has_not_stalled(home: Home, reader: HomeReader) -> None:
    one = Writer(home, "aa1")
    one.steps([i / 10 - 60 for i in range(50)])
    one.record("ask", id="q1", prompt="Go on?", choices=[], secret=False)
    now = reader.look()
    assert not by_id(now)["aa1"].stalled and by_id(now)["aa1"].questions == 1 and now.counts["stalled"] == 0


def test_tasks_say_why_they_wait_and_a_waiting_run_is_no_lost_one(home: Home, reader: HomeReader) -> None:
    first = paddock.submit("true", name="one", home=home, snapshot=False)
    paddock.submit("true", name="two", home=home, snapshot=False, after=[first.id])
    now = reader.look()
    assert [(task.title, task.state, task.why) for task in now.tasks] == [
        ("one", "queued", "no worker"),
        ("two", "queued", "after one, which is queued"),
    ]
    assert now.queues[0].counts["queued"] == 2
    Writer(home, first.id, pid=DEAD)  # an attempt that was lost with its worker; the task is queued again
    assert by_id(reader.look())[first.id].state == "queued"


def test_log_lines_of_several_runs_come_in_the_order_of_time(home: Home) -> None:
    writers = [Writer(home, run_id, name=run_id.upper()) for run_id in ("aa1", "bb2")]
    logs = [Journal(one.directory.logs / f"{one.name}.jsonl", one.header) for one in writers]
    for i in range(4):
        logs[i % 2].append({"k": "line", "t": 100.0 + i, "level": 20, "logger": "root", "text": f"line {i}"})
    source = HomeSource([(home, Catalog.open(home))])
    try:
        source.look()
        found = source.lines(0)
        assert [(line.text, line.run_name) for line in found] == [
            ("line 0", "AA1"), ("line 1", "BB2"), ("line 2", "AA1"), ("line 3", "BB2"),
        ]  # fmt: skip
        logs[0].append({"k": "line", "t": 99.0, "level": 40, "logger": "root", "text": "late", "trace": "Traceback"})
        source.look()
        assert [line.text for line in source.lines(found[-1].n)] == ["late\nTraceback"]
        assert source.lines(found[-1].n + 1) == ()
    finally:
        source.close()


def test_a_run_without_log_lines_shows_what_it_prints(home: Home) -> None:
    one = Writer(home, "aa1")
    output = one.directory.output / "1.log"
    output.write_bytes(b"epoch 1\n 10%\r 90%\nhalf")
    source = HomeSource([(home, Catalog.open(home))])
    try:
        source.look()
        found = source.lines(0)
        assert [line.text for line in found] == ["epoch 1", " 90%"]
        with output.open("ab") as file:
            file.write(b" a line\n")
        source.look()
        assert [line.text for line in source.lines(found[-1].n)] == ["half a line"]
    finally:
        source.close()


def test_cancelling_a_task_takes_it_out_and_a_run_that_is_over_is_refused(home: Home) -> None:
    task = paddock.submit("true", name="one", home=home, snapshot=False)
    Writer(home, "aa1").end()
    source = HomeSource([(home, Catalog.open(home))])
    try:
        assert len(source.look().tasks) == 1
        assert "cancelled" in source.cancel(task.id)
        assert source.look().tasks == ()
        with pytest.raises(paddock.errors.Refused):
            source.cancel("aa1")
        with pytest.raises(paddock.errors.RunNotFound):
            source.details("nothing")
    finally:
        source.close()


def test_ten_thousand_ended_runs_are_not_looked_at_again(home: Home, reader: HomeReader) -> None:
    """A hundred here: what counts is which runs a look asks for."""
    for i in range(100):
        old = Writer(home, f"old{i:03}", ago=7200)
        old.journal.append({"k": "end", "t": time.time() - 7200, "code": 0, "reason": "finished"})
        old.journal.close()
    Writer(home, "aa1")
    reader.look()
    asked: list[set[str]] = []
    original = reader.catalog.refresh_some

    def spy(run_ids: Any) -> Any:
        asked.append(set(run_ids))
        return original(run_ids)

    reader.catalog.refresh_some = spy  # type: ignore[method-assign]
    for _ in range(3):
        reader.look()
    assert asked == [{"aa1"}] * 3


def test_other_hosts_and_processes_are_shown_as_they_were_sampled(home: Home, reader: HomeReader) -> None:
    from paddock.work.usage.hostusage import HostFile

    gpu = {"number": 0, "name": "H100", "used": 5 << 30, "total": 80 << 30, "busy": 75.0}
    HostFile(home, "w-1").write(
        {"host": "node7", "cpus": 64, "cpu": 50.0, "memory": 1 << 30, "memory_total": 4 << 30, "gpus": [gpu]}
    )
    one = Writer(home, "aa1", name="used")
    one.record("usage", every=1.0, columns=["ms", "cpu", "rss"], rows=[[1000, 150.0, 2 << 30]])
    hosts = {host.name: host for host in reader.look().hosts}
    assert hosts["node7"].cpu == 0.5 and hosts["node7"].gpus[0].use == 0.75 and hosts["node7"].cpus == 64
    (process,) = hosts[os.uname().nodename].processes
    assert (process.run_name, process.cpu, process.memory) == ("used", 1.5, 2 << 30)

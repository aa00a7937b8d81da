"""A server as a source: the same picture, lines, details and orders as from the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddock
from paddock.errors import Refused, RunNotFound, Unreachable
from paddock.monitor.now.picture import Line
from paddock.monitor.now.served import ServerSource
from paddock.record.journal import Journal
from paddock.record.layout import Home
from tests.served import TOKEN, served
from tests.unit.monitor.now.test_reader import Writer


@pytest.mark.parametrize("before", [3, 60])  # more than a reader begins with
@pytest.mark.parametrize("meanwhile", [0, 2])
def test_every_line_is_told_once_whenever_its_server_is_started_anew(
    home: Home, tmp_path: Path, before: int, meanwhile: int
) -> None:
    logging, printing = Writer(home, "aa1"), Writer(home, "bb2")
    logs = Journal(logging.directory.logs / f"{logging.name}.jsonl", logging.header)
    count = 0

    def work(lines: int) -> None:
        nonlocal count
        with open(printing.directory.output / "1.log", "a") as output:
            for _ in range(lines):
                count += 1
                logs.append({"k": "line", "t": 100.0 + count, "level": 20, "logger": "root", "text": f"log {count}"})
                output.write(f"same again\nprint {count}\n")

    def look() -> list[str]:
        source.look()
        told.extend(source.lines(told[-1].n if told else 0))
        return [line.text for line in told]

    told: list[Line] = []
    work(1)
    address = str(tmp_path / "s.sock")
    with served(home, address) as server:
        source = ServerSource(server.address, TOKEN)
        look()
        work(before)
        look()
    work(meanwhile)
    with served(home, address):
        look()
        work(1)
        look()
        texts = look()
    for kind in ("log", "print"):
        assert [text for text in texts if text.startswith(kind)] == [f"{kind} {n + 1}" for n in range(count)]
    assert texts.count("same again") == count
    assert [line.n for line in told] == sorted({line.n for line in told})
    source.close()


def test_who_looks_at_few_runs_does_not_change_what_others_are_told(home: Home) -> None:
    one = Writer(home, "aa1", name="first")
    logs = Journal(one.directory.logs / f"{one.name}.jsonl", one.header)
    told: list[Line] = []
    with served(home) as server:
        whole, narrow = ServerSource(server.address, TOKEN), ServerSource(server.address, TOKEN, query="name=other")
        for n in range(3):
            logs.append({"k": "line", "t": 100.0 + n, "level": 20, "logger": "root", "text": f"log {n}"})
            whole.look()
            assert narrow.look().runs == () and narrow.lines(0) == ()
            told += whole.lines(told[-1].n if told else 0)
        assert [line.text for line in told] == ["log 0", "log 1", "log 2"]
        whole.close()
        narrow.close()


def test_what_a_server_sees_is_seen_through_it(home: Home) -> None:
    one = Writer(home, "aa1", name="first 出力", config={"lr": 0.1})
    one.steps([0.0, 0.1])
    one.record("ask", id="q1", prompt="Go on?", choices=["yes", "no"], secret=False)
    task = paddock.submit("true", name="waits", home=home, snapshot=False)
    logs = Journal(one.directory.logs / f"{one.name}.jsonl", one.header)
    logs.append({"k": "line", "t": 100.0, "level": 20, "logger": "root", "text": "[/x] 100%"})
    with served(home) as server:
        source = ServerSource(server.address, TOKEN)
        now = source.look()
        assert [(run.id, run.name, run.step) for run in now.runs] == [("aa1", "first 出力", 1)]
        assert [task.why for task in now.tasks] == ["no worker"]
        assert [line.text for line in source.lines(0)] == ["[/x] 100%"] and source.lines(1) == ()
        assert source.details("aa1").config == {"lr": "0.1"}
        assert "answered" in source.answer("aa1", "q1", "yes")
        assert "cancelled" in source.cancel(task.id)
        with pytest.raises(RunNotFound):
            source.details("nothing")
        narrow = ServerSource(server.address, TOKEN, query="lr>1")
        assert narrow.look().runs == () and narrow.lines(0) == ()
        narrow.close()
        stranger = ServerSource(server.address, "x" * 20)
        with pytest.raises(Refused):
            stranger.cancel("aa1")
        stranger.close()
    with pytest.raises(Unreachable):
        source.look()
    source.close()

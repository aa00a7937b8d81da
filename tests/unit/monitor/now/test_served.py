"""A server as a source: the same picture, lines, details and orders as from the disk."""

from __future__ import annotations

import pytest

import paddock
from paddock.errors import Refused, RunNotFound, Unreachable
from paddock.monitor.now.served import ServerSource
from paddock.record.journal import Journal
from paddock.record.layout import Home
from tests.served import TOKEN, served
from tests.unit.monitor.now.test_reader import Writer


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

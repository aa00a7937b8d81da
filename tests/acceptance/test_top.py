"""paddock top as a program: in a pipe, as JSON, and on a real terminal that it gives back as it was."""

from __future__ import annotations

import json
import os
import signal
import termios
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from paddock.record.layout import Home
from tests.acceptance.terminal import Terminal
from tests.waiting import DEADLINE, until

HOSTILE = "出力🚀[/red]\x1b[2J 100%"


@pytest.fixture
def terminal(program: Any, digits: Home) -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def start(columns: int = 80, rows: int = 24, *words: str) -> Terminal:
        made.append(Terminal(program, columns, rows, "top", *words, errors=True))
        until(lambda: made[-1].shows("? help") or made[-1].process.poll() is not None)
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_in_a_pipe_it_prints_a_table_once(program: Any, digits: Home) -> None:
    found = program("top")
    assert found.code == 0 and "\x1b" not in found.out
    assert "now" in found.out and "running" in found.out and "broken" not in found.err
    assert program("top", "--once", "name=nothing").out == ""


def test_one_look_tells_of_hosts_and_workers_too(program: Any, digits: Home, write: Any) -> None:
    write("zz1", name="survived", running=True, points={"loss": [1.0]})
    assert program("submit", "true").code == 0
    process = program.start("worker")
    try:
        until(lambda: program("workers", "-q").out)
        sections = program("top", "--once").out.split("\n\n")
    finally:
        process.terminate()
        process.communicate()
    (workers,) = [one for one in sections if one.startswith("workers\n")]
    (hosts,) = [one for one in sections if one.startswith("hosts\n")]
    assert "alive" in workers and "default" in workers
    assert "cpu" in hosts and "memory" in hosts and os.uname().nodename in hosts


def test_a_failed_run_does_not_show_the_whole_of_what_was_done_before(program: Any, digits: Home, write: Any) -> None:
    records = [{"k": "progress", "id": "w.p1", "total": 10, "done": 10, "msg": ["train"], "state": "done"}]
    write("zz1", name="late", records=records, end={"k": "end", "code": 1, "reason": "exception"})
    (row,) = [line for line in program("top", "--once").out.split("\n") if "late" in line]
    assert "failed" in row and "100%" not in row


def test_one_look_on_a_narrow_terminal_breaks_no_word_of_the_state(program: Any, digits: Home, write: Any) -> None:
    write("zz1234567x", name="a rather long name", end={"k": "end", "code": 3, "reason": "exit code 3"})
    one = Terminal(program, 44, 24, "top", "--once", errors=True)
    try:
        assert one.process.wait(DEADLINE) == 0
        until(lambda: one.shows("failed") and one.shows("running"))
        assert one.shows("a rather")
    finally:
        one.close()


def test_json_is_one_document_with_the_documented_fields(program: Any, digits: Home, write: Any) -> None:
    write("zz1", name=HOSTILE, running=True, points={"loss": [1.0, float("nan")]})
    found = program("top", "--json").json
    run = next(run for run in found["runs"] if run["id"] == "zz1")
    assert run["name"] == HOSTILE and run["state"] == "running"
    assert {value["metric"]: value["value"] for value in run["values"]} == {"loss": None}
    assert found["counts"]["running"] == 2 and found["hosts"][0]["here"] is True


def test_every_field_of_the_json_is_documented(program: Any, digits: Home) -> None:
    from pathlib import Path

    from paddock.monitor.now import picture

    text = Path(__file__).parents[2].joinpath("docs/reference/top.md").read_text()
    for kind in (picture.Now, picture.Run, picture.Task, picture.Queue, picture.Worker, picture.Watch, picture.Host,
                 picture.Question, picture.Alert, picture.Process, picture.Gpu):  # fmt: skip
        for field in kind.__struct_fields__:
            assert f"`{field}`" in text, f"{kind.__name__}.{field}"


def test_with_an_interval_json_comes_line_by_line(program: Any, digits: Home) -> None:
    process = program.start("top", "--json", "--interval", "0.1")
    try:
        looks = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert looks[1]["time"] > looks[0]["time"]
    finally:
        process.terminate()
        process.communicate()


def test_a_wrong_query_is_a_sentence_and_no_screen(program: Any, digits: Home) -> None:
    found = program("top", "lr<<", "--json")
    assert found.code == 2 and "message" in found.error


def test_the_console_shows_runs_takes_keys_follows_the_size_and_leaves_cleanly(terminal: Any, write: Any) -> None:
    write("zz1", name=HOSTILE, running=True, points={"loss": [1.0]})
    one = terminal(120, 30)
    assert one.shows("now") and one.shows("running") and one.shows("出力🚀") and one.shows("\\x1b[2J")
    assert not termios.tcgetattr(one.slave)[3] & termios.ECHO
    one.type(b"?")
    until(lambda: one.shows("ten times its median step"))
    one.type(b"\x1b")
    mark = len(one.raw)
    one.resize(140, 45)
    until(lambda: one.shows("\x1b[45;1H", mark))
    until(lambda: one.shows(" hosts 2 ", mark))
    one.type(b"q")
    assert one.leave() == (0, "")
    assert one.is_as_before


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 0), (signal.SIGHUP, 129)],
)
def test_a_signal_gives_the_terminal_back(terminal: Any, number: int, code: int) -> None:
    one = terminal()
    one.process.send_signal(number)
    assert one.leave() == (code, "")
    assert one.is_as_before


def test_a_failure_of_our_own_gives_the_terminal_back(terminal: Any, program: Any) -> None:
    """Something that cannot be: the screen is drawn by a module that is broken."""
    (program.cwd / "sitecustomize.py").write_text(
        "import paddock.monitor.console.panels as p\ndef fail(*a, **k): raise ZeroDivisionError\np.runs = fail\n"
    )
    program.environment["PYTHONPATH"] = f"{program.cwd}{os.pathsep}{program.environment['PYTHONPATH']}"
    one = terminal()
    code, said = one.leave()
    assert code == 1 and "ZeroDivisionError" in said and one.is_as_before


def test_what_comes_while_it_is_open_appears(terminal: Any, write: Any) -> None:
    one = terminal(80, 24, "--interval", "0.1")
    write("zz9", name="newcomer", running=True, points={"loss": [1.0]})
    until(lambda: one.shows("newcomer"))


def test_a_home_that_is_not_there_is_said_before_the_screen_is_taken(program: Any) -> None:
    found = program("top", "--home", str(program.cwd / "nowhere"))
    assert found.code == 5 and "There is no home" in found.err and found.out == ""

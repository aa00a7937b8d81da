"""What stands on the screen, at the sizes that people have."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.compare.text import width
from paddock.monitor.console.screen import View, screen
from paddock.monitor.console.state import PANELS, State
from paddock.monitor.now.details import Details, Member, Metric
from paddock.monitor.now.picture import Host, Process
from tests.unit.monitor.console.pictures import Pressed, bar, busy, drawn, lines, question, run

SIZES = [(80, 24), (120, 40), (160, 50), (200, 60), (40, 10), (20, 5), (1, 1)]
HOSTILE = (
    "[/red]bold[bold]",
    "\x1b[2J\x1b]0;owned\x07",
    "100% %s %d {x}",
    "日本語の名前🚀" * 5,
    "a\u202eb\u200bc",
    "tab\there\r\nnewline",
    "\ud800",
    "é" * 300,
)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_the_screen_is_exactly_as_large_as_the_terminal(columns: int, rows: int) -> None:
    for panel in PANELS:
        text = drawn(busy(), columns=columns, rows=rows, lines=lines("x" * 500), state=State(panel=panel))
        assert [width(row) for row in text.split("\n")] == [columns] * rows


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (160, 50)])
def test_foreign_text_breaks_no_column_and_drives_no_terminal(text: str, columns: int, rows: int) -> None:
    runs = (run("aa1", name=text, host=text, reason=text, state="failed"), run("bb2", bars=(bar(5, msg=(text,)),)))
    now = busy(runs=runs, questions=(question(prompt=text, choices=(text,)),), troubles=(text,), home=text)
    details = Details(id="aa1", name=text, command=(text,), config={text: text}, output=(text,), notes=text)
    for state in (State(), State(mode="details", subject="aa1"), State(panel="lines"), State(mode="answer")):
        found = drawn(now, columns=columns, rows=rows, lines=lines(text, run_name=text), state=state, details=details)
        assert [width(row) for row in found.split("\n")] == [columns] * rows
        assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in found.replace("\n", ""))
        assert not set("\u202e\u200b\ud800") & set(found)


def test_eighty_columns_show_what_matters_of_each_run() -> None:
    text = drawn(busy(), lines=lines("loss falls"))
    row = {
        name: next(line for line in text.split("\n") if f"name-{name}" in line) for name in ("aa1", "bb2", "cc3", "dd4")
    }
    assert "running" in row["aa1"] and "61%" in row["aa1"] and "1m05s" in row["aa1"] and "6,100" in row["aa1"]
    assert "2!" in row["aa1"]
    assert "stalled 3m20s" in row["bb2"] and "35%" in row["bb2"]
    assert "lost" in row["cc3"] and "no sign of life" in row["cc3"]
    assert "failed" in row["dd4"] and "ValueError" in row["dd4"]
    assert "2 running" in text and "1 stalled" in text and "2 waiting" in text
    assert "loss falls" in text and "? help" in text


def test_a_large_terminal_shows_all_panels_at_once() -> None:
    text = drawn(busy(), columns=160, rows=50, lines=lines("loss falls"))
    for panel in PANELS:
        assert f"─ {panel}" in text
    for word in (
        "sweep-1",
        "the slot is busy",
        "node1-7",
        "dead",
        "0.91 @700 acc/top1",
        "train/loss",
        "0.12345",
        "50%",
    ):
        assert word in text, word


def test_work_that_failed_or_is_lost_never_shows_a_hundred_percent() -> None:
    now = busy(
        runs=(
            run("aa1", state="failed", bars=(bar(100, state="failed", fraction=0.99),)),
            run("bb2", state="lost", bars=(bar(100, state="lost", fraction=0.99),)),
            run("cc3", bars=(bar(999, 1000),)),
        )
    )
    assert "100%" not in drawn(now, columns=120) and drawn(now, columns=120).count("99%") == 3


def test_progress_without_a_total_is_a_count() -> None:
    assert "1,234 step" in drawn(busy(runs=(run("aa1", bars=(bar(1234, None),)),)))


def test_more_rows_than_there_is_room_for_are_counted_and_the_selected_one_is_seen() -> None:
    runs = tuple(run(f"r{i:03}", name=f"training-{i:03}") for i in range(100))
    console = Pressed(busy(runs=runs))
    console("G")
    text = drawn(busy(runs=runs), state=console.state)
    assert "▌training-099" in text and "training-000" not in text
    assert "more ↓" in drawn(busy(runs=runs))


def test_the_selected_row_has_colour_only_where_something_stands() -> None:
    """An empty remark was a red block."""
    (chosen,) = (
        row
        for row in screen(View(busy(runs=(run("aa1"), run("bb2", alerts=2))), (), State()), 120, 40)
        if any("name-aa1" in text and "reverse" in style for text, style in row)
    )
    blank = {style for text, style in chosen if text and not text.strip()}
    assert blank == {"reverse"}


def test_a_quiet_home_says_so() -> None:
    empty = busy(runs=(), tasks=(), workers=(), watches=(), queues=(), counts={}, alerts=())
    text = drawn(empty)
    assert "nothing runs" in text and "no runs in the last hour" in text and "no log lines" in text
    assert "paddock worker" in drawn(empty, state=State(panel="workers"))


def test_a_question_and_a_trouble_are_seen_at_once() -> None:
    now = busy(questions=(question(prompt="Lower the rate?", choices=("yes", "no")),))
    text = drawn(now, trouble="The server does not answer.")
    assert "name-aa1 asks: Lower the rate? [yes/no]" in text and "The server does not answer." in text


def test_what_is_answered_to_a_long_question_is_seen_and_why_it_does_not_do() -> None:
    console = Pressed(busy(questions=(question(prompt="Lower the rate? " * 20, choices=("yes", "no")),)))
    console("a")
    for typed, said in (("may", ""), ("", "It takes one of: yes, no.")):
        console.type(typed or "be")
        console(*(() if typed else ("enter",)))
        last = drawn(console.now, state=console.state).split("\n")[-1]
        assert last.startswith(" name-aa1 asks: Lower") and f"[yes/no] {typed}▏" in last and said in last


def test_of_a_long_question_the_key_that_answers_it_is_still_told() -> None:
    text = drawn(busy(questions=(question(prompt="Lower the rate? " * 20, choices=("yes", "no")),)))
    assert "…  (a answers)" in text.split("\n")[1]


def test_eighty_columns_tell_runs_apart_by_the_end_of_their_names() -> None:
    assert "resnet50-lr0.03  loss falls" in drawn(busy(), lines=lines("loss falls", run_name="resnet50-lr0.03"))


def test_eighty_columns_show_when_a_bar_will_be_done() -> None:
    text = drawn(busy(), state=State(mode="details", subject="aa1"))
    assert "61 of 100 step, eta 1m05s, 2/s" in text


@pytest.mark.parametrize("columns", [80, 120])
def test_the_shape_of_a_metric_is_drawn_to_its_end(columns: int) -> None:
    rising = Metric(
        name="train/loss", last=0.89165, step=1395, min=0.43175, max=0.89165, count=365, curve=tuple(range(80))
    )
    details = Details(id="aa1", name="", metrics=(rising,))
    text = drawn(busy(), columns=columns, rows=60, state=State(mode="details", subject="aa1"), details=details)
    (row,) = [line.rstrip() for line in text.split("\n") if "365" in line]
    assert "▁" in row and row.endswith("█")


def test_a_secret_answer_is_not_shown() -> None:
    console = Pressed(busy(questions=(question(secret=True),)))
    console("a")
    console.type("hunter2")
    text = drawn(console.now, state=console.state)
    assert "hunter2" not in text and "•••••••" in text


def test_the_question_before_a_cancellation_names_the_run() -> None:
    console = Pressed(busy())
    console("c")
    assert "Cancel name-aa1 (aa1)? [y/N]" in drawn(console.now, state=console.state)


def test_details_show_config_metrics_and_processes() -> None:
    details = Details(
        id="aa1",
        name="name-aa1",
        command=("train.py", "--lr", "0.1"),
        config={"lr": "0.1", "model.depth": "3"},
        metrics=(Metric("train/loss", 0.5, 100, 0.4, 2.0, 101, (2.0, 1.0, 0.5)),),
        output=("epoch 1", "\r 10%\r 50%"),
    )
    text = drawn(busy(), columns=100, rows=50, state=State(mode="details", subject="aa1"), details=details)
    for word in ("train.py --lr 0.1", "model.depth = 3", "train/loss", "█", "epoch 1", "50%", "eta 1m05s"):
        assert word in text
    assert "10%\\r" not in text


def test_a_message_of_several_lines_stands_below_itself_and_a_long_one_is_cut() -> None:
    text = drawn(busy(), rows=40, lines=lines("a table\n| a | b |\n", "\n".join(str(i) for i in range(100, 200))))
    rows = text.split("\n")
    at = next(i for i, row in enumerate(rows) if "a table" in row)
    assert rows[at + 1].strip() == "| a | b |" and "\\n" not in text
    assert "… 87 more" in text and "112" in text and "113" not in text


def test_lines_scroll_back_and_say_how_far() -> None:
    console = Pressed(busy(), lines(*(f"line {i}" for i in range(100))))
    console("6", "up", "up", "pgup")
    text = drawn(console.now, lines=console.lines, state=console.state)
    assert "12 back" in text and "line 87" in text and "line 99" not in text


def test_without_utf8_bars_are_drawn_with_ascii() -> None:
    text = drawn(busy(), ascii_only=True)
    assert "#####" in text and "█" not in text


def test_a_fast_loop_has_its_rate_in_plain_digits() -> None:
    now = busy(runs=(run("aa1", bars=(bar(61, rate=368_214.5),)),))
    assert "368,214/s" in drawn(now)
    assert "368,214/s" in drawn(now, state=State(mode="details", subject="aa1"))


def used(pid: int, cpu: float, **more: Any) -> Process:
    return Process(run="aa1", run_name="name-aa1", pid=pid, cpu=cpu, memory=2_000_000_000, **more)


def test_what_each_process_of_a_run_uses_stands_beside_it() -> None:
    host = Host(name="node1", processes=(used(7, 0.25), used(8, 1.5, gpu=0.9, gpu_memory=3_000_000_000)))
    members = tuple(Member(f"node1-{pid}-abc", "child", "node1", pid, None, 1, state)
                    for pid, state in ((7, "running"), (8, "running"), (9, "gone")))  # fmt: skip
    state, details = State(mode="details", subject="aa1"), Details(id="aa1", name="", members=members)
    text = drawn(busy(hosts=(host,)), rows=40, state=state, details=details)
    row = {pid: next(line for line in text.split("\n") if f"node1-{pid}-abc" in line) for pid in (7, 8, 9)}
    assert row[7].split()[-3:] == ["25%", "2.0", "GB"]
    assert row[8].split()[-6:] == ["150%", "2.0", "GB", "90%", "3.0", "GB"]
    assert row[9].split()[-1] == "gone"


def test_however_many_processes_a_host_has_the_busiest_are_named() -> None:
    host = Host(name="node1", cpu=0.5, runs=1, processes=tuple(used(pid, pid / 10) for pid in range(1, 40)))
    text = drawn(busy(hosts=(host,)), columns=160, rows=50)
    assert "processes" in text and "name-aa1:39 390% 2.0 GB, name-aa1:38" in text

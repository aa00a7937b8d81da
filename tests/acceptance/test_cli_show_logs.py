"""paddock show, paddock logs"""

from __future__ import annotations

import time

import pytest

from paddock import wire


def test_show_tells_how_a_run_failed_and_what_it_met(program, digits):
    out = program("show", "broken").out
    for expected in (
        "failed (ValueError: loss is nan)",
        "line 3",
        "diverged at step 1",
        "error: diverged",
        "2 dropped: unser",
    ):
        assert expected in out
    assert "lr" in out and "9" in out


def test_show_names_parent_and_children(program, digits, write):
    write("dd1", name="child", parent="aa0")
    assert "child (dd1)" in program("show", "aa0").out
    assert program("show", "aa0", "--json").json["children"][0]["id"] == "dd1"
    assert program("show", "dd1", "--json").json["run"]["parent"] == "aa0"


def test_show_json_has_facts_writers_and_records(program, digits):
    found = program("show", "bb1", "--json").json
    assert found["facts"]["command"] == ["train.py"]
    assert found["writers"][0]["role"] == "main"
    assert found["records"]["mark"][0]["data"] == {"norm": 3}


def test_show_has_the_last_timing_of_each_event(program, write):
    said = [("forward", 0.5, 0.1), ("backward", 0.25, None), ("forward", 0.00042, 0.00001)]
    timings = [{"k": "runtime", "event": e, "mean": mean, "std": std, "instances": 10} for e, mean, std in said]
    write("timed", records=timings)
    shown = program("show", "timed").out.partition("timings")[2].split("processes")[0]
    assert [line.split() for line in shown.splitlines()[2:4]] == [
        ["forward", "0.00042s", "1e-05s", "10"],
        ["backward", "0.25s", "null", "10"],
    ]


def test_a_broken_journal_line_is_counted_and_shown(program, digits):
    path = next((digits.runs / "aa0" / "journal").iterdir())
    lines = path.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b"0", b"7")
    path.write_bytes(b"\n".join(lines))
    assert "1 journal line could not be read" in program("show", "aa0").out
    assert "damaged" in program("ls").out.splitlines()[0]
    assert program("show", "aa0", "--json").json["run"]["damaged"] == 1


def test_logs_prints_what_the_run_printed(program, digits):
    assert program("logs", "aa1").out == "epoch 0\nepoch 1\nseed 1\n"
    assert program("logs", "aa1", "-n", "2").out == "epoch 1\nseed 1\n"
    assert program("logs", "aa1", "-n", "0").out == ""
    assert program("logs", "aa1", "--json").json["lines"] == ["epoch 0", "epoch 1", "seed 1"]


def test_logs_strips_what_drives_a_terminal_and_folds_progress_bars(program, write):
    write("r1", output="\x1b[31mred\x1b[0m \x1b]0;title\x07done\x1b[2J\n 10%\r 50%\r100%\nlast without end")
    assert program("logs", "r1").out == "red done\n100%\nlast without end\n"
    assert "\x1b[31m" in program("logs", "r1", "--raw").out


def test_logs_by_attempt_and_rank(program, write):
    directory = write("r1", output="first\n")
    (directory.output / "2.log").write_text("second\n")
    (directory.output / "2.r3.log").write_text("rank three\n")
    assert program("logs", "r1").out == "second\n"
    assert program("logs", "r1", "--attempt", "1").out == "first\n"
    assert program("logs", "r1", "--rank", "3").out == "rank three\n"
    result = program("logs", "r1", "--rank", "9")
    assert result.code == 3 and "attempt 2 rank 3" in result.err


def test_a_run_without_output_says_so(program, write):
    write("r1")
    result = program("logs", "r1")
    assert (result.code, result.out) == (0, "") and "no recorded output" in result.err


def test_a_long_log_is_tailed_from_its_end(program, write):
    write("r1", output="".join(f"line {n}\n" for n in range(100_000)))
    assert program("logs", "r1", "-n", "3").out == "line 99997\nline 99998\nline 99999\n"
    assert len(program("logs", "r1", "-n", "20000").out.splitlines()) == 20000


def test_following_ends_when_the_run_does_and_loses_nothing(program, write):
    directory = write("live", running=True, output="one\n")
    process = program.start("logs", "live", "-f")
    assert process.stdout.readline() == "one\n"
    with open(directory.output / "1.log", "a") as file:
        file.write("two\nthr")
    assert process.stdout.readline() == "two\n"
    with open(directory.output / "1.log", "a") as file:
        file.write("ee\nlast")
    with open(directory.journals / "box-1-aa.jsonl", "ab") as journal:
        journal.write(wire.record_line({"k": "end", "t": time.time(), "code": 0, "reason": "finished"}))
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "three\nlast\n", "")


@pytest.mark.parametrize("created", [1e300, -1e12, float("nan"), 10**400], ids=["far", "past", "nan", "huge"])
def test_a_run_created_beyond_the_calendar_is_shown(program, write, created):
    marks = [{"k": "mark", "step": 1, "name": "odd", "data": {}, "t": 10**400}]
    directory = write("odd1", records=marks, points={"x": [1.0]})
    write("odd2", created=1e300, points={"x": [1.0]})
    facts = wire.loads(directory.facts.read_bytes()) | {"created": created}
    directory.facts.write_bytes(wire.dumps(facts if created == 10**400 else wire.plain(facts).value))
    for arguments in ("show odd1", "show odd1 --json", "ls", "ls --json", "ls age>1d", "show odd"):
        result = program(*arguments.split())
        assert result.code == (4 if arguments == "show odd" else 0), (arguments, result.err)

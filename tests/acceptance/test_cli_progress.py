"""Progress, log lines and questions, as a person meets them: a script that runs, and the command line beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.waiting import DEADLINE, until

EXAMPLE = Path(__file__).parents[2] / "examples" / "progress.py"
ASKS = """
import sys, time
import paddock
from paddock.monitor import Progress

paddock.init(id="asks", name="asks", capture_logging=True)
outer = Progress.new(10, ("epoch [/x]", "\\x1b[2J"))
outer.advance(4)
print("answer:", paddock.ask("Go on?", choices=["yes", "no"]), flush=True)
"""


def start(program: Any, script: Path, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script)],
        env={**program.environment, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_example_counts_logs_and_asks(program) -> None:
    process = start(program, EXAMPLE, POINTS="12", SECONDS="0.01")
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    found = program("show", "search", "--json").json
    search, polishing = found["progress"]
    assert (search["done"], search["total"], search["state"], search["unit"]) == (12, 12, "done", "point")
    assert (polishing["msg"], polishing["done"], polishing["state"]) == (["polishing"], 10, "done")
    lines = program("logs", "search", "--logging", "--json").json["lines"]
    assert lines[0]["text"] == "looking at 12 points" and lines[-1]["text"] == "kept: yes"
    assert {line["pid"] for line in lines} > {process.pid}  # those of the pool, too
    high = program("logs", "search", "--level", "warning").out.splitlines()
    assert high and all("WARNING" in line and "is high" in line for line in high)
    assert program("logs", "search", "--logging", "-n", "1", "--grep", "looking").out.count("\n") == 1
    assert "polishing: 100%" in err


def test_a_question_is_listed_and_answered_from_elsewhere(program, tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text(ASKS)
    process = start(program, script)
    until(lambda: program("questions", "--quiet").out)
    (question,) = program("questions", "--json").json["questions"]
    assert (question["run"], question["prompt"], question["choices"]) == ("asks", "Go on?", ["yes", "no"])
    shown = program("show", "asks").out
    assert "Go on? [yes, no]" in shown and "paddock answer asks" in shown
    assert "epoch [/x] \\x1b[2J" in shown and "40%" in shown and "\x1b" not in shown
    listed = program("ls").out.splitlines()
    assert "progress" in listed[0] and "40%" in listed[1]
    assert program("answer", "asks", "perhaps", "--json").error["exit_code"] == 2
    assert program("answer", "asks", question["id"]).code == 2
    assert program("answer", "asks", "q1", "y").code == 0
    out, _ = process.communicate(timeout=DEADLINE)
    assert out.strip() == "answer: yes"
    assert program("answer", "asks", "yes", "--json").error["exit_code"] == 3
    assert program("questions").err == "No questions.\n"
    assert "progress" not in program("ls").out.splitlines()[0]


def test_log_lines_are_followed_until_the_run_ends(program, tmp_path: Path) -> None:
    script = tmp_path / "logs.py"
    go = tmp_path / "go"
    script.write_text(
        "import logging, os, time, paddock\n"
        "paddock.init(id='lines', capture_logging=True)\n"
        "logging.info('first')\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
        "logging.info('second'); logging.error('third')\n"
    )
    process = start(program, script)
    until(lambda: program("logs", "lines", "--logging").out.count("first"))
    following = program.start("logs", "lines", "-f", "--logging")
    assert following.stdout is not None
    assert "first" in following.stdout.readline()
    go.touch()
    rest, err = following.communicate(timeout=DEADLINE)
    assert [line.split()[-1] for line in rest.splitlines()] == ["second", "third"] and err == ""
    process.communicate(timeout=DEADLINE)


def test_bad_options_are_said_in_a_sentence(program, tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text("import paddock\npaddock.init(id='plain')\nprint('one\\ntwo')\n")
    start(program, script).communicate(timeout=DEADLINE)
    assert program("logs", "plain", "--level", "loud").code == 2
    assert "no regular expression" in program("logs", "plain", "--grep", "(").err
    assert "has no log lines" in program("logs", "plain", "--logging").err
    assert program("logs", "plain", "--grep", "tw").out == "two\n"
    assert program("logs", "plain", "--logging", "--json").json == {"run": "plain", "lines": []}
    assert os.path.exists(program.home)

"""What every verb shares: help, JSON errors, exit codes, pipes, interruption."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from paddock.cli.main import VERBS

OWN_VERBS = [name for name in VERBS if name != "run"]


@pytest.mark.parametrize("verb", OWN_VERBS)
def test_each_verb_explains_itself(program, verb):
    result = program(verb, "-h" if verb == "ls" else "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: paddock {verb}")
    assert "--json" in result.out and "--home" in result.out


def test_help_lists_every_verb_without_importing_any(program):
    result = program("--help")
    assert result.code == 0
    for name, (_, about) in VERBS.items():
        assert re.search(rf"^  {name} +{re.escape(about)}$", result.out, re.MULTILINE)
    script = (
        "import sys, paddock.cli.main as m\n"
        "try: m.main(['--help'])\n"
        "except SystemExit: pass\n"
        "known = ('paddock.cli.main', 'paddock.cli.verbs')\n"
        "print([n for n in sys.modules if n.startswith('paddock.cli.') and n not in known], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=program.environment)
    assert done.stderr.strip() == "[]"


def test_without_a_verb_the_help_is_shown(program):
    assert program().out == program("--help").out


def test_the_version_is_told(program):
    assert re.fullmatch(r"paddock \d+\.\d+\.\d+\n", program("--version").out)


def test_an_unknown_verb_names_the_near_one(program):
    result = program("shwo")
    assert result.code == 2
    assert "There is no verb 'shwo'. Did you mean 'show'?" in result.err


def test_a_usage_error_is_json_when_json_was_asked_for(program):
    error = program("ls", "--json", "--nonsense").error
    assert error["type"] == "UsageError" and error["exit_code"] == 2
    assert "--nonsense" in error["message"]
    assert program("show", "--json").error["exit_code"] == 2


def test_an_unknown_run_is_one_sentence_and_exit_code_3(program, digits):
    result = program("show", "digts-1")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("paddock: There is no run 'digts-1'")
    assert "Did you mean digits-1" in result.err
    error = program("show", "digts-1", "--json").error
    assert (error["type"], error["exit_code"]) == ("RunNotFound", 3)


def test_an_ambiguous_name_gets_a_list_and_exit_code_4(program, digits):
    result = program("show", "aa")
    assert result.code == 4
    assert "'aa' fits 4 runs" in result.err
    assert len([line for line in result.err.splitlines() if line.startswith("    aa")]) == 4
    error = program("show", "aa", "--json").error
    assert error["exit_code"] == 4 and len(error["candidates"]) == 4


def test_a_run_is_found_by_id_prefix_and_name(program, digits):
    for name in ("bb1", "bb", "broken"):
        assert program("show", name, "--json").json["run"]["id"] == "bb1"


def test_a_query_error_marks_the_place(program, digits):
    result = program("ls", "lr<")
    assert result.code == 2
    assert result.err.splitlines()[1:3] == ["    lr<", "       ^"]
    assert program("ls", "lr<", "--json").error["type"] == "QueryError"


def test_an_unexpected_error_asks_for_a_report_and_shows_the_traceback_on_request(program, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import paddock.compare.source as v\ndef source(home=None): raise RuntimeError('boom')\nv.source = source\n"
    )
    env = {"PYTHONPATH": f"{broken}{os.pathsep}{program.environment['PYTHONPATH']}"}
    result = program("ls", env=env)
    assert result.code == 1
    assert "RuntimeError: boom" in result.err and "PADDOCK_DEBUG=1" in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in program("ls", env={**env, "PADDOCK_DEBUG": "1"}).err
    assert program("ls", "--json", env=env).error["exit_code"] == 1


def test_a_reader_that_has_seen_enough_is_no_error(program, write):
    write("long", output="line of output\n" * 200_000)
    process = program.start("logs", "long")
    assert process.stdout.readline() == "line of output\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(30) == 141
    process.stderr.close()
    process.stdin.close()


def test_an_interruption_ends_quietly_with_130(program, write):
    write("live", running=True, output="first\n")
    process = program.start("logs", "live", "-f")
    assert process.stdout.readline() == "first\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, "")
    assert "Traceback" not in out


def in_terminal(program, *arguments: str, columns: int = 100, **env: str) -> str:
    """What a person would see: the program with a terminal as its stdout."""
    master, slave = pty.openpty()
    os.environ.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "paddock", *arguments],
        env={**program.environment, "TERM": "xterm-256color", "COLUMNS": str(columns), **env},
        stdin=slave,
        stdout=slave,
        stderr=subprocess.STDOUT,
    )
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            block = os.read(master, 65536)
        except OSError:  # the terminal's other end was closed
            break
        if not block:
            break
        seen += block
    os.close(master)
    assert process.wait(30) == 0
    return seen.decode()


def test_a_terminal_gets_colours_that_fit_and_no_color_is_honoured(program, digits):
    coloured = in_terminal(program, "ls", columns=60)
    assert "\x1b[32mfinished" in coloured
    bare = in_terminal(program, "ls", columns=60, NO_COLOR="1")
    assert "\x1b[3" not in bare
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert all(len(line) <= 60 for line in plain.splitlines())


def test_a_pipe_gets_plain_text_that_is_not_cut(program, write):
    write("wide", name="n" * 150, config={"text": "x" * 100})
    write("wide2", name="m", config={"text": "y" * 100})
    out = program("ls").out
    assert "\x1b" not in out
    assert "n" * 150 in out and "x" * 100 in out


def test_control_characters_in_a_record_never_reach_the_terminal(program, write):
    write("evil", name="a\x1b]0;owned\x07b", notes="\x1b[2Jx\u202ey", config={"k\x1b[1m": "v\x1b[31m"})
    for arguments in (("ls",), ("show", "evil"), ("ls", "-c", "id,name,notes")):
        out = program(*arguments).out
        assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out
    assert program("show", "evil", "--json").json["run"]["name"] == "a\x1b]0;owned\x07b"


@pytest.mark.parametrize(
    "arguments",
    [
        ("ls",),
        ("show", "bb1"),
        ("logs", "aa0"),
        ("series", "aa0", "acc", "loss"),
        ("compare",),
        ("diff", "aa0", "aa2", "--env", "--code"),
        ("query", "--sql", "SELECT id, created FROM runs"),
        ("export", "-o", "points.csv"),
        ("tag", "aa0", "+x"),
        ("note", "aa0", "fine"),
        ("star", "aa0"),
        ("bug", "aa0"),
        ("rm", "aa0", "--yes"),
        ("gc", "--pack"),
        ("doctor",),
        ("doctor", "--settings"),
    ],
)
def test_each_verb_prints_one_json_document(program, digits, arguments):
    result = program(*arguments, "--json")
    assert result.code == 0
    assert isinstance(result.json, dict)


def test_nan_and_infinity_are_null_and_text_in_json(program, write):
    write("odd", points={"x": [float("nan")]}, config={"a": float("inf"), "b": float("nan")})
    found = json.loads(program("ls", "--json").out, parse_constant=pytest.fail)["runs"][0]
    assert found["config"] == {"a": "inf", "b": None}
    assert found["metrics"]["x"]["last"] is None


def test_a_shell_can_complete_verbs(program):
    env = {"_PADDOCK_COMPLETE": "bash_complete", "COMP_WORDS": "paddock ser", "COMP_CWORD": "1"}
    assert program(env=env).out.split() == ["plain,serve", "plain,series"]


def test_an_output_that_cannot_be_written_is_told(program, digits):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "paddock", "ls"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=program.environment,
        )
    assert done.returncode == 5 and "No space left" in done.stderr and "Traceback" not in done.stderr


def test_a_closed_output_is_no_error(program, digits):
    command = f"{sys.executable} -m paddock ls >&-"
    assert subprocess.run(["sh", "-c", command], env=program.environment, capture_output=True).returncode == 0


ODD = ["text", 3, [1, "x"], {"a": {"b": None}}, True]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_values_in_a_record_break_no_verb(program, write, odd):
    names = ("host", "code", "environment", "command", "cwd", "executable", "tags", "notes", "parent", "group", "name")
    kinds = ("mark", "alert", "artifact", "use", "file", "image", "table", "note", "tag", "star", "metric", "runtime")
    members = (
        "t",
        "step",
        "name",
        "data",
        "title",
        "files",
        "size",
        "path",
        "version",
        "add",
        "goal",
        "text",
        "exception",
    )
    write("odd1", **{key: odd for key in names if key != "name"}, points={"x": [1.0]})
    write(
        "odd2",
        records=[{"k": kind, **dict.fromkeys(members[1:], odd)} for kind in kinds],
        points={"x": [2.0]},
        end=dict.fromkeys(("code", "reason", "signal", "exception"), odd),
    )
    for arguments in ("ls --json", "show odd1", "show odd2", "show odd2 --json", "diff odd1 odd2 --env --code", "gc"):
        result = program(*arguments.split())
        assert result.code == 0, (arguments, result.err)
    assert program("reproduce", "odd1").code == 3

"""paddock run: the main-script contract, watched from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "contract.py"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", "false")


def paddock_run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paddock", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]


def test_overrides_reach_the_config_and_the_log_functions_the_run(read, home) -> None:
    done = paddock_run("--id", "c1", "--tag", "a", EXAMPLE, "lr=0.25", "model.start=8")
    assert done.returncode == 0, done.stderr
    found = read(home.runs / "c1")
    assert found.facts["config"] == {"lr": 0.25, "steps": 10, "model": {"start": 8.0}}
    assert found.facts["tags"] == ["a"]
    assert found.values("x/value")[:2] == [4.0, 2.0]
    assert len(found.points["distance{to=minimum}"]) == 10
    assert found.records["info"][-1]["set"] == {"state.progress": 1.0}
    assert float((home.runs / "c1" / "files" / "x.txt").read_text()) == 8.0 / 2**10
    assert found.records["exit"][0]["code"] == 0


def test_the_script_still_runs_alone(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "distance" in done.stdout


def test_a_wrong_override_is_a_sentence_and_exit_code_2(home) -> None:
    done = paddock_run(EXAMPLE, "lrr=1")
    assert done.returncode == 2
    assert "Did you mean 'lr'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_script_without_the_contract_runs_as_it_is(read, home, tmp_path: Path) -> None:
    script = tmp_path / "a plain script.py"
    script.write_text("import sys, paddock\nprint(__name__, sys.argv[1:])\npaddock.log({'a': 1})\nsys.exit(5)\n")
    done = paddock_run("--id", "plain", script, "--lr", "3")
    assert done.returncode == 5
    assert done.stdout == "__main__ ['--lr', '3']\n"
    found = read(home.runs / "plain")
    assert found.values("a") == [1]
    assert [r["reason"] for r in found.records["end"] if r["code"] == 5] == ["exit"]
    assert found.records["exit"][0]["code"] == 5


def test_an_exception_in_main_is_recorded_and_shown(read, home, tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("config = {}\ndef main():\n    raise ValueError('broken')\n")
    done = paddock_run("--id", "fails", script)
    assert done.returncode == 1
    assert "ValueError: broken" in done.stderr
    ends = [r for r in read(home.runs / "fails").records["end"] if "exception" in r]
    assert ends[0]["exception"]["message"] == "broken"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_supervisor_sees_the_signal(read, home, tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, signal, time\nconfig = {}\n"
        f"def main():\n    log_metric('a', 1)\n    os.kill(os.getpid(), {int(number)})\n    time.sleep(60)\n"
    )
    done = paddock_run("--id", "killed", script)
    assert done.returncode == 128 + number
    (seen,) = read(home.runs / "killed").records["exit"]
    assert (seen["signal"], seen["code"], seen["oom"]) == (number.name.removeprefix("SIG"), None, False)


def test_a_signal_to_the_supervisor_reaches_the_script(read, home, tmp_path: Path) -> None:
    script = tmp_path / "waits.py"
    script.write_text("import time\nconfig = {}\ndef main():\n    print('up', flush=True)\n    time.sleep(60)\n")
    command = [sys.executable, "-m", "paddock", "run", "--id", "waits", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout and process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    ends = read(home.runs / "waits").records["end"]
    assert any(end.get("signal") == "TERM" for end in ends)


def test_resume_goes_on_as_the_next_attempt(read, home) -> None:
    assert paddock_run("--id", "again", EXAMPLE).returncode == 0
    refused = paddock_run("--id", "again", EXAMPLE)
    assert refused.returncode == 6 and "--resume allow" in refused.stderr
    assert paddock_run("--id", "again", "--resume", "allow", EXAMPLE).returncode == 0
    found = read(home.runs / "again")
    assert sorted({r["attempt"] for r in found.records["open"]}) == [1, 2]
    assert sorted(os.listdir(home.runs / "again" / "output")) == ["1.log", "2.log"]


def test_a_missing_script_is_a_sentence(home) -> None:
    done = paddock_run("nowhere.py")
    assert done.returncode == 2
    assert "There is no script 'nowhere.py'" in done.stderr


def test_the_command_is_kept_as_it_was_typed(read, home) -> None:
    paddock_run("--id", "typed", "--name", "x", EXAMPLE, "lr=0.5")
    assert read(home.runs / "typed").facts["command"] == ["paddock", "run", str(EXAMPLE), "lr=0.5"]


def test_json_says_which_run_it_was_and_leaves_stdout_to_it(home) -> None:
    done = paddock_run("--json", "--id", "j", EXAMPLE, "steps=1")
    assert json.loads(done.stdout) == {"run": "j", "attempt": 1, "exit_code": 0}


def test_a_scripts_own_init_names_the_run_and_the_command_line_goes_before(read, home, tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(
        "import paddock\nr = paddock.init(project='own', name='mine', tags=['a'], config={'lr': 1})\n"
        "r.log({'a': 1})\nraise SystemExit(3)\n"
    )
    done = paddock_run("--id", "own", "--name", "told", "--tag", "b", script)
    assert done.returncode == 3
    found = read(home.runs / "own")
    assert [found.facts[k] for k in ("project", "name", "tags", "config")] == ["own", "told", ["a", "b"], {"lr": 1}]
    assert {end["code"] for end in found.records["end"]} == {3, 0}  # the script's, and the supervisor's own


def test_a_home_that_moved_under_a_run_is_no_surprise(read, home, tmp_path: Path) -> None:
    """The journal is held open: renaming the home while a run writes loses nothing."""
    script = tmp_path / "moves.py"
    script.write_text(
        "import time, sys\nconfig = {}\ndef main():\n"
        "    log_metric('a', 1)\n    print('up', flush=True)\n    sys.stdin.readline()\n    log_metric('a', 2)\n"
    )
    command = [sys.executable, "-m", "paddock", "run", "--id", "moves", str(script)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == b"up\n"
        moved = tmp_path / "moved"
        os.rename(home.path, moved)
        process.stdin.write(b"\n")
        process.wait(timeout=60)
    assert read(moved / "runs" / "moves").values("a") == [1, 2]

"""paddock watch with a real evaluator, a real worker and a real training run."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

EVALUATOR = """
import zipfile
from helper import scale

def acc(path):
    with zipfile.ZipFile(path) as file:
        return {"acc": scale * len(file.namelist()), "note": "fine"}

def bad(path):
    raise ValueError("no such class")

def two(path, other):
    pass

def sends(path):
    import paddock
    paddock.submit(f"echo {path}", queue="cluster")
"""


@pytest.fixture
def place(program: Any) -> Path:
    (program.cwd / "metrics.py").write_text(EVALUATOR)
    (program.cwd / "helper.py").write_text("scale = 0.1\n")
    (program.cwd / "out").mkdir()
    return program.cwd / "out"


def save(path: Path, entries: int) -> None:
    aside = path.with_name(f".{path.name}")
    with zipfile.ZipFile(aside, "w") as file:
        for number in range(entries):
            file.writestr(str(number), os.fsencode(path.name))
    aside.rename(path)


def evaluate(program: Any, place: Path, *options: str) -> None:
    found = program("watch", "out", "--once", "--quiet-time", "0s", "--eval-existing", *options)
    assert found.code == 0, found.err
    found = program("worker", "evaluation", "--no-persist", "--slots", "2")
    assert found.code == 0, found.err


def test_scores_are_in_the_training_run_at_their_steps(program: Any, place: Path) -> None:
    script = "import paddock\npaddock.init(name='t', config={'out': 'out'}).log({'loss': 1})\n"
    (program.cwd / "train.py").write_text(script)
    assert program("run", "train.py").code == 0
    for step in (100, 300, 200):
        save(place / f"step={step}.pt", step // 100)
    evaluate(program, place, "--evaluator", "metrics.py:acc")
    assert program("series", "t", "eval/acc/acc").out.split()[2::2] == ["100", "200", "300"]
    run = program("show", "t", "--json").json
    assert run["run"]["metrics"]["eval/acc/acc"]["last_step"] == 300
    assert run["run"]["metrics"]["eval/acc/acc"]["count"] == 3
    assert run["run"]["state"] == "finished"
    children = program("ls", "job_type=eval", "--json").json["runs"]
    assert {(child["parent"], child["state"]) for child in children} == {(run["run"]["id"], "finished")}


def test_scores_without_a_step_are_where_the_training_was(program: Any, place: Path) -> None:
    script = """
import os, sys, time, paddock
with paddock.init(name="t", config={"out": "out"}) as run:
    for step in (10, 20, 30):
        run.log({"loss": 1}, step=step)
        time.sleep(0.3)
        if step == 20:
            with open("now", "w"):
                pass
            time.sleep(0.3)
"""
    (program.cwd / "train.py").write_text(script)
    assert program("run", "train.py").code == 0
    for name in ("last.pt", "final.pt"):
        save(place / name, 1)
    written = os.stat(program.cwd / "now").st_mtime
    os.utime(place / "last.pt", (written, written))
    evaluate(program, place, "--evaluator", "metrics.py:acc")
    assert program("series", "t", "eval/acc/acc").out.split()[2::2] == ["20", "30"]


def test_a_trainer_without_paddock_gets_a_run_for_its_scores(program: Any, place: Path) -> None:
    save(place / "step=100.pt", 1)
    evaluate(program, place, "--evaluator", "metrics.py:acc", "--evaluator", "metrics.py:sends")
    (run,) = program("ls", "job_type=train", "--json").json["runs"]
    assert (run["name"], run["metrics"]["eval/acc/acc"]["last"]) == ("out", 0.1)
    # An evaluator may have it evaluated elsewhere, by whatever works there.
    (task,) = program.home.glob("queues/cluster/queued/*")
    assert f"{place}/step=100.pt" in task.read_text()


def test_a_command_evaluates_and_its_results_are_read(program: Any, place: Path) -> None:
    save(place / "step=100.pt", 1)
    text = """printf '{"results": {"task": {"acc,none": 0.5}}}' > {out}/results.json; test -f {path}"""
    printed = """printed: test -f {path} && echo '{"acc": 0.25}' > {out}"""
    evaluate(program, place, "--command", text, "--command", printed)
    (run,) = program("ls", "job_type=train", "--json").json["runs"]
    assert sorted(stat["last"] for stat in run["metrics"].values()) == [0.25, 0.5]


def test_a_command_that_has_a_place_for_results_and_leaves_none_is_done_without_scores_which_is_said(
    program: Any, place: Path
) -> None:
    save(place / "step=100.pt", 1)
    evaluate(program, place, "--command", "csv: echo acc,0.5 > {out}/a.csv; ls {path}", "--command", "quiet: ls {path}")
    found = {one["evaluator"]: one for one in program("watch", "show", "out", "--json").json["evaluations"]}
    assert {name: (one["state"], one["reason"]) for name, one in found.items()} == {
        "csv": ("done", "no numbers were found in {out}"),
        "quiet": ("done", ""),
    }


def test_a_command_that_fails_says_how_and_shows_what_it_printed(program: Any, place: Path) -> None:
    save(place / "step=100.pt", 1)
    evaluate(
        program, place, "--command", "bad: echo no weights in {path} >&2; exit 7", "--command", "cut: kill -9 $$ {path}"
    )
    found = {one["evaluator"]: one for one in program("watch", "show", "out", "--json").json["evaluations"]}
    assert (found["bad"]["state"], found["bad"]["reason"]) == ("failed", "the command ended with exit code 7")
    assert (found["cut"]["state"], found["cut"]["reason"]) == ("failed", "the command ended with signal KILL")
    runs = {run["config"]["evaluator"]: run for run in program("ls", "job_type=eval", "--json").json["runs"]}
    assert {name: run["state"] for name, run in runs.items()} == {"bad": "failed", "cut": "failed"}
    said = program("logs", runs["bad"]["id"]).out
    assert "no weights in" in said and "Traceback" not in said


def test_a_command_gets_the_path_as_it_is_within_quotes_too(program: Any, place: Path) -> None:
    strange = place / "it's $(touch fooled) `touch fooled`"
    strange.mkdir()
    save(strange / "step=100.pt", 1)
    text = """test -f {path} -a -f "{path}" -a -f '{path}' && echo '{"ok": 1}' > "{out}/results.json\""""
    evaluate(program, place, "--command", text)
    (run,) = program("ls", "job_type=train", "--json").json["runs"]
    assert [stat["last"] for stat in run["metrics"].values()] == [1.0]
    assert not list(program.cwd.rglob("fooled*"))


def test_a_name_that_is_no_text_is_a_name(program: Any, place: Path) -> None:
    save(place / os.fsdecode(b"caf\xe9 step=100.pt"), 1)
    save(place / "two\nlines step=200.pt", 2)
    command = """test -f {path} && echo '{"there": 1}' > {out}/results.json"""
    evaluate(program, place, "--evaluator", "metrics.py:acc", "--command", command)
    found = program("watch", "show", "out", "--json").json["evaluations"]
    assert [one["state"] for one in found] == ["done"] * 4, found
    assert {Path(one["checkpoint"]).name for one in found} == {"caf\\udce9 step=100.pt", "two\nlines step=200.pt"}


def test_an_evaluator_that_raises_is_recorded_with_its_traceback(program: Any, place: Path) -> None:
    save(place / "step=100.pt", 1)
    evaluate(program, place, "--evaluator", "metrics.py:bad")
    (run,) = program("ls", "job_type=eval", "--json").json["runs"]
    assert (run["state"], run["reason"]) == ("failed", "ValueError: no such class")
    assert "no such class" in program("logs", run["id"]).out


def test_odd_numbers_are_values_and_what_cannot_be_kept_is_a_failure_with_its_reason(program: Any, place: Path) -> None:
    (program.cwd / "odd.py").write_text(
        "def numbers(path):\n    return {'nan': float('nan'), 'inf': float('inf'), 'huge': 10**400, 'half\\udcff': 1}\n"
        "def circle(path):\n    found = {}\n    found['found'] = found\n    return found\n"
    )
    save(place / "step=100.pt", 1)
    evaluate(program, place, "--evaluator", "odd.py:numbers", "--evaluator", "odd.py:circle")
    found = {one["evaluator"]: one for one in program("watch", "show", "out", "--json").json["evaluations"]}
    assert found["numbers"]["values"] == {"nan": None, "inf": "inf", "half\\udcff": 1}
    assert (found["circle"]["state"], found["circle"]["reason"][:14]) == ("failed", "RecursionError")
    assert program("watch", "ls").code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--evaluator", "nowhere.py:acc"), "no file nowhere.py"),
        (("--evaluator", "metrics.py:nothing"), "has no function 'nothing'"),
        (("--evaluator", "metrics.py:two"), "cannot be called with a path alone"),
        (("--evaluator", "no_such_module.fn"), "no module 'no_such_module'"),
        (("--evaluator", "justaname"), "names no function"),
        (("--command", "echo"), "does not use {path}"),
        ((), "Nothing evaluates"),
        (("--evaluator", "metrics.py:acc", "--regex-filter", "("), "cannot be read"),
        (("--evaluator", "metrics.py:acc", "--step-rule", "x"), "no group"),
        (("--evaluator", "metrics.py:acc", "--num-eval-workers", "-1"), "not in the range"),
        (("--evaluator", "metrics.py:acc", "--polling-interval", "0"), "is too short"),
        (("--evaluator", "metrics.py:acc", "--marker", "{step}.done"), "has {step}, which is never filled in"),
    ],
)
def test_what_cannot_work_is_said_at_the_start(program: Any, place: Path, words: tuple[str, ...], says: str) -> None:
    found = program("watch", "out", "--once", *words)
    assert (found.code, says in found.err) == (2, True), found.err


def test_a_directory_whose_name_looks_like_a_glob_is_itself(program: Any, place: Path) -> None:
    (program.cwd / "lr=[0.1]").mkdir()
    assert program("watch", "lr=[0.1]", "lr=*", "--once", "--evaluator", "metrics.py:acc").code == 0
    assert [watch["directory"] for watch in program("watch", "ls", "--json").json["watches"]] == [
        str(program.cwd / "lr=[0.1]")
    ]


def test_a_checkpoint_is_found_again_by_a_watch_that_a_link_leads_to(program: Any, place: Path) -> None:
    (program.cwd / "link").symlink_to("out")
    words = ("watch", "link", "--once", "--quiet-time", "0s", "--evaluator", "metrics.py:acc")
    assert program(*words).code == 0
    save(place / "step=100.pt", 1)
    assert program(*words).code == 0
    assert program("worker", "evaluation", "--no-persist").code == 0
    again = program("watch", "rescan", "link", "--checkpoint", "link/step=100.pt", "--json")
    assert again.json["again"] == [str(program.cwd / "link" / "step=100.pt")], again.err


def test_what_has_failed_is_not_kept_when_the_watch_has_looked(program: Any, place: Path) -> None:
    save(place / "step=100.pt", 1)
    evaluate(program, place, "--evaluator", "metrics.py:bad")
    assert list(place.glob(".paddock-pins/*"))
    assert program("watch", "out", "--once", "--evaluator", "metrics.py:bad").code == 0
    assert not list(place.glob(".paddock-pins"))


def test_one_look_says_what_it_found(program: Any, place: Path) -> None:
    words = ("watch", "out", "--once", "--quiet-time", "0s", "--eval-existing", "--evaluator", "metrics.py:acc")
    save(place / "step=100.pt", 1)
    first = program("watch", "out", "--once", "--quiet-time", "0s", "--evaluator", "metrics.py:acc")
    assert "passing over 1 checkpoint from before the first watch (see --eval-existing)" in first.err
    loss = program("watch", "out", "--once", "--quiet-time", "0s", "--evaluator", "loss:metrics.py:acc", "-q")
    assert (loss.code, loss.out) == (0, "")  # only what was submitted
    assert [one["checkpoint"] for one in program(*words, "--json").json["found"]] == [str(place / "step=100.pt")]
    assert program(*words, "--json").json == {"found": [], "remarks": []}
    save(place / "step=200.pt", 2)
    assert program(*words, "-q").out == f"{place / 'step=200.pt'}\n"
    save(place / "step=300.pt", 3)
    again = program(*words)
    assert "No worker evaluates them" in again.err and "passing over" not in again.err


def test_one_look_at_a_directory_that_is_not_there_is_a_mistake(program: Any, place: Path) -> None:
    found = program("watch", "out", "nowhere", "--evaluator", "metrics.py:acc", "--once")
    assert (found.code, "no directory nowhere" in found.err) == (2, True)


def test_a_watch_with_its_own_worker_evaluates_what_appears(program: Any, place: Path) -> None:
    process = program.start(
        "watch", "out", "--evaluator", "metrics.py:acc", "--polling-interval", "0.2", "--quiet-time", "0s"
    )
    try:
        ledger = program.home / "watches"
        until(lambda: process.poll() is not None or list(ledger.glob("*/begun")))
        assert process.poll() is None, process.communicate()
        save(place / "step=7.pt", 2)
        until(lambda: process.poll() is not None or list(ledger.glob("*/ledger/*.result")))
        until(lambda: os.listdir(place) == ["step=7.pt"])  # its pin goes after its result is there
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert list(ledger.glob("*/ledger/*.result")) and os.listdir(place) == ["step=7.pt"]  # no pin is left

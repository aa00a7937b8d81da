"""paddock watch ls, show and stop: what is watched, what became of it, and its end."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.watched import evaluations, prepare, save, until_states, watching
from tests.waiting import until


@pytest.fixture
def out(program: Any) -> Path:
    return prepare(program)


def listed(program: Any) -> list[dict[str, Any]]:
    return program("watch", "ls", "--json").json["watches"]


def test_a_watch_is_listed_with_who_keeps_it_and_how_it_stands(program: Any, out: Path) -> None:
    save(out / "step=1.pt")
    with watching(program, "out", "--evaluator", "metrics.py:acc") as process:
        save(out / "step=3.pt", 3)
        save(out / "step=2.pt", 2)
        until_states(program, "skipped", "done", "done")
        (watch,) = listed(program)
        assert watch["directory"] == str(out) and watch["evaluators"] == ["acc"] and watch["watched"]
        assert [(one["pid"], one["state"], one["here"]) for one in watch["watchers"]] == [(process.pid, "alive", True)]
        assert watch["counts"] | {"done": 2, "skipped": 1, "pending": 0, "failed": 0} == watch["counts"]
        assert (watch["best"]["metric"], watch["best"]["step"]) == ("acc/acc", 3)
        text = program("watch", "ls").out
        assert [part for part in ("alive", "0.3 @3 acc/acc", "out") if part not in text] == []
    (watch,) = listed(program)
    assert (watch["watched"], watch["watchers"]) == (False, [])


def test_the_only_watch_need_not_be_named(program: Any, out: Path) -> None:
    found = program("watch", "show")
    assert (found.code, "Which watch" in found.err, "makes one" in found.err) == (2, True, True)
    words = ("--evaluator", "metrics.py:acc", "--once")
    assert program("watch", "out", *words).code == 0
    assert program("watch", "show", "--json").json["directory"] == str(out)
    assert program("watch", "rescan").code == 0
    (program.cwd / "other").mkdir()
    assert program("watch", "other", *words).code == 0
    found = program("watch", "show")
    assert (found.code, "There are" in found.err, "other" in found.err) == (2, True, True)
    with watching(program, "out", "--evaluator", "metrics.py:acc"):
        assert program("watch", "show", "--json").json["directory"] == str(out)


def test_every_checkpoint_is_shown_with_its_times_scores_and_reasons(program: Any, out: Path) -> None:
    save(out / "step=1.pt")
    with watching(program, "out", "--evaluator", "metrics.py:acc", "--evaluator", "metrics.py:bad"):
        save(out / "step=2.pt", 2)
        found = until_states(program, "skipped", "skipped", "done", "failed")
    by = {(one["step"], one["evaluator"]): one for one in found}
    assert by[1, "acc"]["reason"] == "it was there before"
    assert by[2, "bad"]["reason"] == "ValueError: no such class"
    done = by[2, "acc"]
    assert done["values"] == {"acc": 0.2}
    assert done["found"] <= done["started"] <= done["ended"]
    assert done["waited"] == pytest.approx(done["started"] - done["found"])
    text = program("watch", "show", "out").out
    assert [part for part in ("ValueError: no such class", "acc=0.2", "step=1.pt") if part not in text] == []
    assert program("watch", "show", "out", "--state", "failed", "-q").out.split() == [str(out / "step=2.pt")]


def test_what_was_cancelled_or_killed_is_told_apart(program: Any, out: Path) -> None:
    with watching(program, "out", "--evaluator", "metrics.py:slow", "--no-worker"):
        save(out / "step=1.pt")
        (one,) = until_states(program, "pending")
        assert program("cancel", one["task"], "-Q", "evaluation").code == 0
        (one,) = until_states(program, "cancelled")
        assert one["reason"] == "its task was taken out of the queue"
    worker = program.start("worker", "evaluation", "--no-persist")
    save(out / "step=2.pt")
    try:
        with watching(program, "out", "--evaluator", "metrics.py:slow", "--timeout", "1s"):
            found = until_states(program, "cancelled", "failed")
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert "timed out" in found[-1]["reason"]


def test_a_watch_that_is_not_known_is_answered_with_those_that_are(program: Any, out: Path) -> None:
    found = program("watch", "show", "nowhere")
    assert (found.code, "no watch 'nowhere'" in found.err) == (3, True)
    program("watch", "out", "--once", "--evaluator", "metrics.py:acc")
    found = program("watch", "show", "nowhere")
    assert found.code == 3 and str(out) in found.err
    (watch,) = listed(program)
    for word in (watch["watch"], watch["watch"][:6], str(out), "out", "./out/", f"{program.cwd.name}/out"):
        assert program("watch", "show", word, "--json").json["watch"] == watch["watch"], word


def test_a_directory_whose_name_is_no_text_is_watched_shown_and_stopped_as_any_other(program: Any, out: Path) -> None:
    odd = os.fsdecode(b"o\xffdd\nname")
    (program.cwd / odd).mkdir()
    with watching(program, odd, "--evaluator", "metrics.py:acc") as process:
        save(program.cwd / odd / "step=1.pt")
        until_states(program, "done", where=odd)
        assert program("watch", "rescan", odd).out == "Nothing new.\n"
        assert program("watch", "ls").code == program("watch", "show", odd).code == 0
        assert program("watch", "show", "nowhere").code == 3
        assert program("watch", "stop", odd).code == 0
        assert process.wait(60) == 0


def test_a_directory_called_ls_can_be_watched(program: Any, out: Path) -> None:
    (program.cwd / "ls").mkdir()
    assert program("watch", "./ls", "--once", "--evaluator", "metrics.py:acc").code == 0
    assert [watch["directory"] for watch in listed(program)] == [str(program.cwd / "ls")]
    found = program("watch", "ls", "--evaluator", "metrics.py:acc")
    assert (found.code, "./ls" in found.err) == (2, True)
    found = program("watch", "list")
    assert (found.code, "paddock watch ls" in found.err) == (2, True)


def test_stop_ends_the_watcher_and_gives_back_what_runs(program: Any, out: Path) -> None:
    with watching(program, "out", "--evaluator", "metrics.py:slow") as process:
        save(out / "step=1.pt")
        until(lambda: (program.cwd / "running").exists())
        found = program("watch", "stop", "out", "--json").json
        assert len(found["stopped"]) == 1 and found["left"] == []
        assert process.wait(60) == 0
        assert "1 evaluation left in the queue" in process.stderr.read()
    assert list((program.home / "watchers").iterdir()) == []
    assert [one["state"] for one in evaluations(program)] == ["pending"]
    found = program("watch", "stop", "out")
    assert (found.code, "Nobody watches out" in found.err) == (3, True)
    assert program("watch", "stop", "--all").code == 0


def test_removing_its_file_stops_a_watcher(program: Any, out: Path) -> None:
    with watching(program, "out", "--evaluator", "metrics.py:acc") as process:
        (name,) = [one["watcher"] for one in listed(program)[0]["watchers"]]
        (program.home / "watchers" / name).unlink()
        assert process.wait(60) == 0


def test_finish_sees_to_what_is_there_first(program: Any, out: Path) -> None:
    with watching(program, "out", "--evaluator", "metrics.py:acc", "--no-worker") as process:
        save(out / "step=1.pt")
        until_states(program, "pending")
        assert len(program("watch", "stop", "--all", "--finish", "--json").json["finishing"]) == 1
        assert program("worker", "evaluation", "--no-persist").code == 0
        assert process.wait(60) == 0
        assert "left in the queue" not in process.stderr.read()
    assert [one["state"] for one in evaluations(program)] == ["done"]


def test_a_watcher_of_two_directories_is_not_ended_for_one_without_asking(program: Any, out: Path) -> None:
    (program.cwd / "other").mkdir()
    with watching(program, "out", "other", "--evaluator", "metrics.py:acc") as process:
        until(lambda: len(list(program.home.glob("watches/*/begun"))) == 2)
        found = program("watch", "stop", "out")
        assert (found.code, "also watches other" in found.err) == (9, True)
        assert process.poll() is None
        assert program("watch", "stop", "out", stdin="y\n").code == 0
        assert process.wait(60) == 0


def test_a_killed_watcher_is_dead_and_its_worker_ends_with_it(program: Any, out: Path) -> None:
    with watching(program, "out", "--evaluator", "metrics.py:acc") as process:
        until(lambda: program("workers", "-Q", "evaluation", "--json").json["workers"])
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        until(lambda: program("workers", "-Q", "evaluation", "--json").json["workers"] == [], pause=0.1)
        (watch,) = listed(program)
        assert [one["state"] for one in watch["watchers"]] == ["dead"] and not watch["watched"]
        found = program("watch", "stop", "out")
        assert found.code == 0 and "was dead already" in found.out
    assert listed(program)[0]["watchers"] == []


def test_what_cannot_be_watched_is_no_watch(program: Any, out: Path) -> None:
    found = program("watch", "nothing://bucket/x", "--evaluator", "metrics.py:acc", "--once")
    assert (found.code, "cannot be watched" in found.err) == (2, True), found.err
    assert listed(program) == []


def test_a_worker_that_ends_with_its_watcher_is_not_started_again(program: Any, out: Path) -> None:
    """`timeout` and some shells send two signals, and the second one is passed on to the worker."""
    with watching(program, "out", "--evaluator", "metrics.py:acc") as process:
        (worker,) = until(lambda: program("workers", "-Q", "evaluation", "--json").json["workers"])
        os.kill(process.pid, signal.SIGSTOP)
        os.kill(worker["pid"], signal.SIGTERM)
        until(lambda: Path(f"/proc/{worker['pid']}/stat").read_text().rpartition(")")[2].split()[0] == "Z")
        os.kill(process.pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGCONT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0 and "started again" not in said, said


def test_a_rescan_from_elsewhere_finds_the_module_where_it_was_watched_from(program: Any, out: Path) -> None:
    words = ("watch", "out", "--once", "--evaluator", "metrics.acc", "--quiet-time", "0s")
    assert program(*words).code == 0
    save(out / "step=1.pt")
    elsewhere = program.cwd / "elsewhere"
    elsewhere.mkdir()
    program.cwd = elsewhere
    found = program("watch", "rescan", str(out), "--json")
    assert found.json["new"] == [str(out / "step=1.pt")], found.err

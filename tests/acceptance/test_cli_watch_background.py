"""paddock watch --detach, [[watch]] tables, rescan and shutdown, with real watchers and workers."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.record.process import start_ticks
from tests.acceptance.watched import QUICK, alive, evaluations, is_watched, prepare, save, until_states, watching
from tests.waiting import until


@pytest.fixture
def out(program: Any) -> Iterator[Path]:
    yield prepare(program)
    if is_watched(program):
        program("shutdown", "--yes", "--force")


def has_ended(pid: int) -> bool:
    return start_ticks(pid) == ""


def detach(program: Any, *words: str) -> Any:
    found = program("watch", *words, *QUICK, "--detach", "--json")
    assert found.code == 0, found.err
    return found.json


def test_a_detached_watch_outlives_its_terminal_evaluates_and_is_stopped(program: Any, out: Path) -> None:
    said = program("watch", "out", "--evaluator", "metrics.py:acc", *QUICK, "--detach")
    assert said.code == 0, said.err
    assert [word for word in ("watch show out", "watch stop out", "tail -f") if word not in said.out] == []
    (one,) = alive(program)
    assert (os.getsid(one["pid"]) == os.getsid(0), one["detached"]) == (False, True)
    with open(f"/proc/{one['pid']}/stat") as file:
        terminal = int(file.read().rpartition(")")[2].split()[4])
    assert terminal == 0
    save(out / "step=1.pt")  # not what was there before: it had begun when the command returned
    until_states(program, "done")
    log = Path(one["log"])
    assert "found" in log.read_text() and log.is_relative_to(program.home / "watches")
    assert program("watch", "stop", "out").code == 0
    assert has_ended(one["pid"]) and alive(program) == []


def test_the_commands_that_it_names_can_be_pasted(program: Any, out: Path) -> None:
    spaced = out.rename(out.with_name("my runs"))
    said = program("watch", "my runs", "--evaluator", "metrics.py:acc", *QUICK, "--detach").out
    show, stop = (shlex.split(line.strip())[1:] for line in said.splitlines() if "paddock watch" in line)
    assert program(*show).code == 0 and program(*stop).code == 0, said
    spaced.rename(out)


def test_what_is_watched_already_is_not_watched_again(program: Any, out: Path) -> None:
    (program.cwd / "other").mkdir()
    detach(program, "out", "--evaluator", "metrics.py:acc")
    (first,) = alive(program)
    again = program("watch", "out", "--evaluator", "metrics.py:acc", "--detach")
    assert (again.code, f"watched already, by {first['watcher']}" in again.err) == (0, True)
    found = detach(program, "out", "other", "--evaluator", "metrics.py:acc")
    assert found["already"] == [str(out)] and found["watching"] == [str(program.cwd / "other")]
    detach(program, "out", "--evaluator", "metrics.py:loss")
    assert len(alive(program)) == 3


def test_what_cannot_work_is_said_before_it_goes_to_the_background(program: Any, out: Path) -> None:
    found = program("watch", "out", "--evaluator", "metrics.py:nothing", "--detach")
    assert (found.code, "has no function" in found.err) == (2, True)
    (program.home / "watchers").write_text("in the way")
    found = program("watch", "out", "--evaluator", "metrics.py:acc", "--detach")
    assert found.code != 0 and "did not begin in the background" in found.err
    (program.home / "watchers").unlink()


def test_a_watcher_on_another_host_is_shown_as_such_and_told_to_stop(program: Any, out: Path) -> None:
    detach(program, "out", "--evaluator", "metrics.py:acc")
    (one,) = alive(program)
    file = program.home / "watchers" / one["watcher"]
    elsewhere = file.with_name("node17-1-abcdef")
    lines = file.read_text().replace(f"host: {os.uname().nodename}", "host: node17").splitlines(keepends=True)
    assert program("watch", "stop", "out").code == 0
    elsewhere.write_text("".join(lines))
    facts = '{"posts":[{"watch":"%s","directory":"%s","evaluators":{"acc":{}}}],"queues":[],"started":1.0}'
    name = next((program.home / "watches").iterdir()).name
    elsewhere.with_suffix(".json").write_text(facts % (name, out))
    assert "alive on node17" in program("watch", "ls").out
    found = program("watch", "stop", "out", "--timeout", "0.2s")
    assert "not ended yet" in found.err and not elsewhere.exists()  # it ends itself when it sees that
    elsewhere.with_suffix(".json").unlink()


TABLES = """
[[watch]]
directory = "out"
evaluator = ["metrics.py:acc", "metrics.py:loss"]
polling-interval = 0.2
quiet_time = "0s"

[[watch]]
directory = ["two", "three*"]
command = "echo {path}"
eval-existing = true
polling-interval = 0.2
quiet-time = "0s"
num-eval-workers = 1
"""


def test_the_tables_of_paddock_toml_are_watched_from_anywhere_below(program: Any, out: Path) -> None:
    (program.cwd / "paddock.toml").write_text(TABLES)
    for name in ("two", "three-a", "three-b", "deep"):
        (program.cwd / name).mkdir()
    save(program.cwd / "three-a" / "step=5.pt")
    top = program.cwd
    program.cwd = top / "deep"
    found = program("watch", "--detach", "--json")
    program.cwd = top
    assert found.code == 0, found.err
    assert found.json["watching"] == [str(top / name) for name in ("out", "two", "three-a", "three-b")]
    save(out / "step=1.pt")
    assert {one["evaluator"] for one in until_states(program, "done", "done")} == {"acc", "loss"}
    until_states(program, "done", where="three-a")
    assert len(alive(program)) == 1
    queue = program("workers", "-Q", "evaluation", "--json").json["workers"]
    assert [worker["slots"] for worker in queue] == [5]


def test_two_tables_may_name_one_directory(program: Any, out: Path) -> None:
    """Say, an evaluator for the GPUs and one beside them."""
    tables = (
        f'[[watch]]\ndirectory = "out"\nevaluator = "metrics.py:{name}"\nqueue = "{name}"\n' for name in ("acc", "loss")
    )
    (program.cwd / "paddock.toml").write_text("\n".join(tables))
    assert detach(program, "out", "--evaluator", "metrics.py:acc", "-Q", "acc")["watching"] == [str(out)]
    found = program("watch", "--detach", "--json").json  # the other evaluator is not watched for yet
    assert (found["watching"], found["already"]) == ([str(out)], [str(out)])
    assert program("watch", "stop", "out", "--yes").code == 0
    found = program("watch", "--detach")
    assert found.code == 0 and "Watching out in the background" in found.out
    assert program("watch", "--detach", "--json").json["watching"] == []
    save(out / "step=1.pt")
    assert {one["evaluator"] for one in until_states(program, "done", "done")} == {"acc", "loss"}
    (watch,) = program("watch", "ls", "--json").json["watches"]
    assert watch["evaluators"] == ["acc", "loss"]
    assert "stopped: out (" in program("watch", "stop", "out").out
    words = ("watch", "--once", "--json")  # of both tables
    save(out / "step=2.pt", 2)
    assert sorted(one["evaluator"] for one in program(*words).json["found"]) == ["acc", "loss"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('regexfilter = "x"', ("'regexfilter'", "'regex-filter'", "number 1")),
        ('eval-existing = "yes"', ("eval-existing", "true or false")),
        ("retries = [1, 2]", ("retries", "one value")),
        ('retries = "many"', ("--retries", "many")),
        ("zzz = 1", ("'zzz'", "evaluator")),
        ("detach = true", ("'detach'", "no option")),
    ],
)
def test_a_mistake_in_a_table_is_named(program: Any, out: Path, line: str, says: tuple[str, ...]) -> None:
    text = f'[[watch]]\ndirectory = "out"\nevaluator = "metrics.py:acc"\n{line}\n'
    (program.cwd / "paddock.toml").write_text(text)
    found = program("watch", "--once")
    assert (found.code, [word for word in says if word not in found.err]) == (2, []), found.err


def test_one_table_in_single_brackets_is_explained(program: Any, out: Path) -> None:
    (program.cwd / "paddock.toml").write_text('[watch]\ndirectory = "out"\n')
    found = program("watch", "--once")
    assert (found.code, "[[watch]]" in found.err) == (2, True)


def test_two_watchers_on_one_directory_evaluate_once(program: Any, out: Path) -> None:
    with (
        watching(program, "out", "--evaluator", "metrics.py:acc"),
        watching(program, "out", "--evaluator", "metrics.py:acc"),
    ):
        for step in range(10):
            save(out / f"step={step}.pt")
        until_states(program, *["done"] * 10)
    runs = program("ls", "job_type=eval", "--json").json["runs"]
    assert len(runs) == 10


def test_rescan_evaluates_what_came_while_nobody_watched(program: Any, out: Path) -> None:
    assert program("watch", "out", "--evaluator", "metrics.py:acc", "--once", *QUICK).code == 0
    save(out / "step=1.pt")
    found = program("watch", "rescan", "out")
    assert found.code == 0 and "step=1.pt" in found.out and "No worker evaluates them" in found.err
    assert program("watch", "rescan", "out").out == "Nothing new.\n"
    assert program("worker", "evaluation", "--no-persist").code == 0
    assert [one["state"] for one in evaluations(program)] == ["done"]


def test_rescan_evaluates_anew_what_has_failed_with_the_evaluator_as_it_is_now(program: Any, out: Path) -> None:
    with watching(program, "out", "--evaluator", "metrics.py:bad", "--evaluator", "metrics.py:acc"):
        save(out / "step=1.pt")
        until_states(program, "failed", "done")
        (program.cwd / "mended").touch()
        found = program("watch", "rescan", "out", "--failed", "--json").json
        assert (found["new"], found["again"]) == ([], [str(out / "step=1.pt")])
        until_states(program, "done", "done")
        # also when its task is not in the queue any more
        (program.cwd / "mended").unlink()
        save(out / "step=2.pt", 2)
        until_states(program, "done", "done", "done", "failed")
        assert program("clean", "-Q", "evaluation", "--state", "failed", "--yes").code == 0
        (program.cwd / "mended").touch()
        assert len(program("watch", "rescan", "out", "--failed", "--json").json["again"]) == 1
        until_states(program, "done", "done", "done", "done")


def test_one_checkpoint_is_evaluated_whatever_became_of_it(program: Any, out: Path) -> None:
    save(out / "step=1.pt")
    with watching(program, "out", "--evaluator", "metrics.py:acc"):
        until_states(program, "skipped")
        assert program("watch", "rescan", "out", "--checkpoint", "out/step=1.pt").code == 0
        until_states(program, "done")
        (run,) = program("ls", "job_type=train", "--json").json["runs"]
        assert run["metrics"]["eval/acc/acc"]["last"] == 0.1
        again = program("watch", "rescan", "out", "--checkpoint", "out/step=1.pt", "--json").json
        assert again["again"] == [str(out / "step=1.pt")]
        until_states(program, "done")
    (out / "half.pt").write_bytes((out / "step=1.pt").read_bytes()[:50])
    found = program("watch", "rescan", "out", "--checkpoint", "out/half.pt")
    assert (found.code, "no complete checkpoint" in found.err) == (3, True)
    found = program("watch", "rescan", "out", "--checkpoint", "metrics.py")
    assert (found.code, "not below" in found.err) == (2, True)


def test_shutdown_ends_what_watches_started_and_nobody_else(program: Any, out: Path) -> None:
    (program.cwd / "other").mkdir()
    mine = program.start("worker", "evaluation", "--slots", "1")
    until(lambda: list(program.home.glob("queues/evaluation/workers/*")))
    (own,) = program.home.glob("queues/evaluation/workers/*")
    try:
        detach(program, "out", "other", "--evaluator", "metrics.py:slow", "--num-eval-workers", "1")
        save(out / "step=1.pt")
        save(out / "step=2.pt")
        save(out / "step=3.pt")
        until_states(program, "running", "running", "pending")
        refused = program("shutdown", stdin="\n")
        assert refused.code == 9 and len(alive(program)) == 1
        (one,) = alive(program)
        found = program("shutdown", "--yes", "--json").json
        assert (found["watchers"], found["workers"], found["left"]) == ([one["watcher"]], 1, [])
        assert alive(program) == [] and has_ended(one["pid"])
        assert mine.poll() is None and list(program.home.glob("queues/evaluation/workers/*")) == [own]
        # nothing of ours waits in the queue; what somebody else's worker runs goes on
        assert list(program.home.glob("queues/evaluation/queued/*")) == []
        (program.cwd / "go").touch()
    finally:
        mine.send_signal(signal.SIGTERM)
        mine.communicate(timeout=60)
    detach(program, "out", "--evaluator", "metrics.py:slow")
    until_states(program, "done", "done", "done")
    assert "nothing to shut down" not in program("shutdown", "--yes").err
    assert "nothing to shut down" in program("shutdown", "--yes").err


def test_shutdown_is_done_where_nobody_can_be_asked_and_takes_the_flags_of_assayer(program: Any, out: Path) -> None:
    for words in (("--eval_queue_name", "other", "--redis_host", "localhost", "--redis_port", "6379"), ("--json",)):
        detach(program, "out", "--evaluator", "metrics.py:slow")
        assert len(alive(program)) == 1
        assert program("shutdown", *words, stdin="").code == 0
        assert alive(program) == []


def test_shutdown_finds_the_workers_of_a_killed_watcher(program: Any, out: Path) -> None:
    detach(program, "out", "--evaluator", "metrics.py:acc")
    (one,) = alive(program)
    until(lambda: program("workers", "-Q", "evaluation", "--json").json["workers"])
    (worker,) = program("workers", "-Q", "evaluation", "--json").json["workers"]
    os.kill(worker["pid"], signal.SIGSTOP)  # else it would end with its watcher
    os.kill(one["pid"], signal.SIGKILL)
    until(lambda: has_ended(one["pid"]))
    found = program("shutdown", "--yes", "--force", "--json").json
    assert found["workers"] == 1
    until(lambda: has_ended(worker["pid"]))


def test_shutdown_by_force_waits_for_nobody(program: Any, out: Path) -> None:
    detach(program, "out", "--evaluator", "metrics.py:acc")
    (one,) = alive(program)
    os.kill(one["pid"], signal.SIGSTOP)
    assert program("shutdown", "--yes", "--force", "--json").json["left"] == []
    assert has_ended(one["pid"]) and alive(program) == []


def test_two_watches_of_a_directory_may_have_a_queue_each(program: Any, out: Path) -> None:
    """A heavy evaluator on the GPUs, say, and a light one beside it: each sees what waits in the queue of the other."""
    save(out / "step=1.pt")
    once = ("--eval-existing", "--once", *QUICK)
    assert program("watch", "out", "--evaluator", "metrics.py:bad", "-Q", "gpu", *once).code == 0
    assert program("watch", "out", "--evaluator", "metrics.py:acc", "-Q", "cpu", *once).code == 0
    assert [one["state"] for one in evaluations(program)] == ["pending", "pending"]
    assert program("shutdown", "--yes", "--json").json["evaluations"] == 2
    assert list(program.home.glob("queues/*/queued/*")) == []
    for name, queue in (("bad", "gpu"), ("acc", "cpu")):
        assert program("watch", "out", "--evaluator", f"metrics.py:{name}", "-Q", queue, *once).code == 0
        assert program("worker", queue, "--no-persist").code == 0
    assert sorted(one["state"] for one in evaluations(program)) == ["done", "failed"]
    assert len(program("watch", "rescan", "out", "--failed", "--json").json["again"]) == 1
    assert len(list(program.home.glob("queues/gpu/queued/*"))) == 1  # where its workers are
    assert list(program.home.glob("queues/cpu/queued/*")) == []
    # what waits for others is nothing that this one would see to before it ends
    found = program("watch", "out", "--evaluator", "metrics.py:acc", "-Q", "cpu", "--until-eof", *QUICK, stdin="")
    assert found.code == 0 and "left in the queue" not in found.err

"""Interpreters that wait with the evaluator imported: each evaluates one checkpoint, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Result
from paddock.queue.directory import find_queue
from paddock.queue.lifecycle import ACTIVE
from paddock.record.layout import Home
from tests.conftest import read_directory
from tests.waiting import until

# Every import is noted with the process and the program that did it: spare.py ahead, call.py for one evaluation alone.
METRICS = """
import os, sys, time
from pathlib import Path
from helper import scale

HERE = Path(__file__).parent
with open(HERE / "imports", "a") as file:
    file.write(f"{Path(sys.argv[0]).name} {os.getpid()}\\n")
print("imported early")
seen = []

def acc(path):
    print("evaluates", Path(path).name)
    first = not seen and "MARKED" not in os.environ and os.getcwd() == str(HERE)
    seen.append(path)
    os.environ["MARKED"] = "1"
    os.chdir("/")
    if "segv" in path:
        import signal
        os.kill(os.getpid(), signal.SIGSEGV)
    if "exit" in path:
        os._exit(7)
    if "meet" in path:
        (HERE / f"here-{Path(path).name}").touch()
        while len(list(HERE.glob("here-*"))) < 2:
            time.sleep(0.01)
    if "hang" in path:
        import subprocess
        children = [subprocess.Popen(["sleep", "600"], start_new_session=True, env={"PATH": os.environ["PATH"]})]
        (HERE / "children").write_text(" ".join(str(p) for p in [os.getpid(), children[0].pid]))
        time.sleep(600)
    ours = os.environ["PADDOCK_RUN_ID"].startswith("eval-")
    return {"pid": os.getpid(), "scale": scale, "first": int(first), "ours": int(ours)}
"""


class Place:
    """A watch of `out`, and what its evaluations said."""

    def __init__(self, program: Any) -> None:
        self.program, self.home, self.cwd = program, Home(program.home), program.cwd
        (self.cwd / "metrics.py").write_text(METRICS)
        (self.cwd / "helper.py").write_text("scale = 1\n")
        (self.cwd / "out").mkdir()
        self.processes: list[subprocess.Popen[str]] = []

    def watch(self, *options: str, slots: int = 2) -> subprocess.Popen[str]:
        words = ("watch", "out", "--evaluator", "metrics.py:acc", "--num-eval-workers", str(slots), *options)
        process = self.program.start(*words)
        self.processes.append(process)
        until(lambda: list(self.home.path.glob("watches/*/begun")) or process.poll() is not None)
        assert process.poll() is None
        return process

    def imported(self, program: str) -> list[int]:
        """The processes that have imported the evaluator, by what they were started as."""
        with contextlib.suppress(FileNotFoundError):
            lines = (self.cwd / "imports").read_text().splitlines()
            return [int(line.split()[1]) for line in lines if line.startswith(program)]
        return []

    def waiting(self, count: int = 2) -> set[int]:
        """Those that wait for an evaluation, once there are so many."""

        def alive() -> set[int]:
            return {pid for pid in self.imported("spare.py") if lives(pid)} - set(self.evaluated())

        return set(until(lambda: found if len(found := alive()) >= count else None))

    def evaluated(self) -> list[int]:
        return [int(result.values["pid"]) for result in self.results().values() if "pid" in result.values]

    @property
    def ledger(self) -> Ledger:
        return Ledger.of(self.home, str(self.cwd / "out"))

    def results(self) -> dict[str, Result]:
        """By the checkpoint's name."""
        found = {}
        for name in self.ledger.names():
            key, _, kind = name.partition(".")
            finding = self.ledger.finding(key)
            result = self.ledger.result(key) if kind == "result" else None
            if result is not None and finding is not None:
                found[os.path.basename(finding.path)] = result
        return found

    def save(self, name: str) -> None:
        aside = self.cwd / "out" / f".{name}"
        with zipfile.ZipFile(aside, "w") as file:
            file.writestr("data", name)
        aside.rename(self.cwd / "out" / name)

    def score(self, name: str) -> dict[str, Any]:
        result: Result = until(lambda: self.results().get(name))
        assert result.state == "done", result
        return result.values

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.program("ls", "job_type=eval", "--json").json["runs"]
        return found

    def end(self) -> None:
        for process in self.processes:
            process.terminate()
            process.communicate(timeout=60)


@pytest.fixture
def place(program: Any) -> Iterator[Place]:
    found = Place(program)
    yield found
    found.end()


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def all_gone(pids: set[int]) -> Callable[[], bool]:
    return lambda: not any(map(lives, pids))


def test_each_evaluation_has_an_interpreter_that_was_ready_before_the_checkpoint(place: Place) -> None:
    place.watch()
    for number in range(3):
        ready = place.waiting()
        place.save(f"step={number}.pt")
        score = place.score(f"step={number}.pt")
        assert score["pid"] in ready
        assert (score["first"], score["ours"]) == (1, 1)  # what an earlier one did to itself is not seen
    until(lambda: len(find_queue("evaluation", place.home).list(["done"]).places) == 3)
    assert place.imported("call.py") == place.imported("call.py")[:1]  # the look at the start, and nothing else
    (last,) = [run for run in place.runs() if run["config"]["step"] == 2]
    said = [line for line in place.program("logs", last["id"]).out.splitlines() if not line.startswith("paddock:")]
    assert said == ["imported early", "evaluates step=2.pt"]
    assert len(set(place.imported("spare.py"))) == len(place.imported("spare.py"))


def test_an_evaluator_that_was_edited_is_seen_also_by_those_that_wait(place: Place) -> None:
    place.watch()
    before = place.waiting()
    (place.cwd / "helper.py").write_text("scale = 20\n")
    place.save("step=1.pt")  # at once: nobody has had time to start again
    assert place.score("step=1.pt")["scale"] == 20
    until(all_gone(before))
    ready = place.waiting()
    place.save("step=2.pt")
    score = place.score("step=2.pt")
    assert (score["scale"], score["pid"] in ready) == (20, True)


def test_an_evaluator_that_cannot_be_imported_any_more_says_so_in_its_run(place: Place) -> None:
    place.watch()
    place.waiting()
    (place.cwd / "helper.py").write_text("scale = 1 / 0\n")
    place.save("step=1.pt")
    until(lambda: find_queue("evaluation", place.home).list(["failed"]).places)
    assert "ZeroDivisionError" in place.program("logs", place.runs()[0]["id"]).out
    (place.cwd / "helper.py").write_text("scale = 300\n")
    place.save("step=2.pt")
    assert place.score("step=2.pt")["scale"] == 300


def test_one_that_crashes_leaves_the_others_alone(place: Place) -> None:
    place.watch()
    for name in ("segv", "exit"):
        place.waiting()
        place.save(f"{name}-step=1.pt")
    queue = find_queue("evaluation", place.home)
    until(lambda: len(queue.list(["failed"]).places) == 2)
    ready = place.waiting()
    place.save("step=2.pt")
    assert place.score("step=2.pt")["pid"] in ready
    exits = {queue.read(found).attempts[-1].exit for found in queue.list(["failed"]).places}
    assert exits == {"signal SEGV", "exit code 7"}


def test_two_evaluate_at_once(place: Place) -> None:
    place.watch()
    ready = place.waiting()
    place.save("meet-step=1.pt"), place.save("meet-step=2.pt")
    pids = {place.score(f"meet-step={step}.pt")["pid"] for step in (1, 2)}
    assert pids == ready


def test_a_cancelled_one_leaves_no_process(place: Place) -> None:
    place.watch()
    ready = place.waiting()
    place.save("hang-step=1.pt")
    pids = set(map(int, until(lambda: (f := place.cwd / "children").exists() and f.read_text()).split()))
    assert len(pids & ready) == 1
    (task,) = find_queue("evaluation", place.home).list([ACTIVE]).places
    assert place.program("cancel", "-Q", "evaluation", task.id).code == 0
    until(all_gone(pids))


def test_a_hanging_one_is_ended_by_its_timeout_which_began_with_the_task(place: Place) -> None:
    place.watch("--timeout", "3")
    place.waiting()
    place.save("hang-step=1.pt")
    queue = find_queue("evaluation", place.home)
    (found,) = until(lambda: queue.list(["failed"]).places)
    note = queue.read(found).attempts[-1]
    assert note.outcome == "timed out" and note.seconds >= 3
    until(all_gone(set(map(int, (place.cwd / "children").read_text().split()))))


def test_isolated_evaluations_each_have_a_process_that_was_started_for_them(place: Place) -> None:
    place.watch("--isolate")
    for step in (1, 2):
        place.save(f"step={step}.pt")
        assert place.score(f"step={step}.pt")["pid"] == place.imported("call.py")[-1]
    assert place.imported("spare.py") == []


def test_a_worker_that_learns_of_an_evaluator_by_its_tasks_keeps_it_ready(place: Place) -> None:
    place.watch("--no-worker")
    place.processes.append(place.program.start("worker", "evaluation"))
    place.save("step=1.pt")
    assert place.score("step=1.pt")["pid"] == place.imported("call.py")[-1]
    ready = place.waiting(1)
    place.save("step=2.pt")
    assert place.score("step=2.pt")["pid"] in ready


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_those_that_wait_end_with_their_worker(place: Place, number: int) -> None:
    watching = place.watch()
    ready = place.waiting()
    (worker,) = children(watching.pid)
    os.kill(worker, number)
    until(all_gone(ready | {worker}))


def test_those_that_wait_end_when_worker_and_guard_are_killed(place: Place) -> None:
    watching = place.watch()
    ready = place.waiting()
    (worker,) = children(watching.pid)
    (guard,) = [pid for pid in children(worker) if ready & set(children(pid))]
    for pid in (worker, guard):
        os.kill(pid, signal.SIGKILL)
    until(all_gone(ready | {worker, guard}))


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_an_evaluator_that_begins_a_run_while_it_is_imported_is_not_kept_ready(place: Place) -> None:
    """That run has to be the evaluation's own."""
    (place.cwd / "helper.py").write_text("import paddock\npaddock.init(name='mine')\nscale = 1\n")
    place.watch()
    place.save("step=1.pt")
    assert place.score("step=1.pt")["pid"] == place.imported("call.py")[-1]
    runs = place.program("ls", "--json").json["runs"]
    assert sorted(run["job_type"] for run in runs) == ["eval", "train"]


def test_the_code_of_an_evaluation_is_that_of_the_evaluator(place: Place) -> None:
    place.watch()
    place.waiting()
    place.save("step=1.pt")
    place.score("step=1.pt")
    until(lambda: find_queue("evaluation", place.home).list(["done"]).places)
    (run,) = place.runs()
    (record,) = read_directory(place.home.run(run["id"]).path).records["code"]
    code = record["code"]
    assert (code["root"], code["script"], code["files"]) == (str(place.cwd), "metrics.py", 2)

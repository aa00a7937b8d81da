"""What Slurm does to jobs, and what becomes of their tasks: on a real cluster, which PADDOCK_TEST_SLURM names."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from paddock.work.launch import jobs as memory
from tests.acceptance.conftest import new_program
from tests.cluster import slurm as cluster
from tests.conformance.slurm import _CONF, SlurmBackend
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.skipif(not _CONF, reason="make test-slurm starts the cluster")
TWICE = "echo begun >> {0}; test $(wc -l < {0}) -ge 2 || sleep 600"


class Queue(SlurmBackend):
    """The queue of a partition."""

    partition = "main"

    @property
    def url(self) -> str:
        return f"slurm://{self.partition}"

    def close(self) -> None:
        self.slurm("scancel", "--name=paddock-pilot")  # what a failed test has left
        super().close()


@pytest.fixture
def slurm(home: Home, tmp_path: Path) -> Iterator[Queue]:
    made = Queue(new_program(home.path, tmp_path), home)
    try:
        yield made
    finally:
        made.close()


def outcomes(slurm: Queue, task: str) -> list[str]:
    return [attempt.outcome for attempt in slurm.attempts(task)]


def counting(slurm: Queue, tmp_path: Path, *programs: str) -> Path:
    """From now on each call of these programs is noted in a file."""
    calls, directory = tmp_path / "calls", tmp_path / "counting"
    directory.mkdir(exist_ok=True)
    for name in programs:
        (directory / name).write_text(f'#!/bin/sh\necho {name} >> "{calls}"\nexec {shutil.which(name)} "$@"\n')
        (directory / name).chmod(0o755)
    slurm.program.environment["PATH"] = f"{directory}:{os.environ['PATH']}"
    return calls


def test_a_task_gets_the_gpus_that_it_asked_for(slurm: Queue) -> None:
    task = slurm.submit("echo $CUDA_VISIBLE_DEVICES $SLURM_CPUS_PER_TASK", "--gpus", "2", "--cpus", "2", "--mem", "1G")
    assert slurm.wait(task) == {task: "done"}
    assert slurm.output(task) == "0,1 2\n"


def test_slurm_itself_holds_back_a_task_until_its_parent_is_done(slurm: Queue) -> None:
    go = slurm.program.cwd / "go"
    parent = slurm.submit(f"until test -e {go}; do sleep 0.1; done; echo one >> order")
    child = slurm.submit("echo two >> order", "--after", parent)
    (job,) = [row for row in slurm.jobs() if row.name == child]
    assert (job.word, job.reason) == ("PENDING", "Dependency")
    go.touch()
    until(lambda: slurm.states([parent, child]) == {parent: "done", child: "done"}, pause=0.2)  # nobody looks
    assert (slurm.program.cwd / "order").read_text().split() == ["one", "two"]


def test_a_child_of_a_paused_task_takes_no_room_and_starts_after_it(slurm: Queue) -> None:
    slurm.partition = "single"
    first = slurm.submit("sleep 600")
    parent = slurm.submit("true")
    child = slurm.submit("true", "--after", parent)
    slurm.order("pause", parent)
    slurm.until(lambda: not [row for row in slurm.jobs() if row.name in (parent, child) and row.state.may_run])
    slurm.tend()
    assert not [row for row in slurm.jobs() if row.name == child and row.state.may_run]
    slurm.order("cancel", first)
    slurm.order("resume", parent)
    assert slurm.wait(parent, child) == {parent: "done", child: "done"}


def test_a_job_that_was_started_before_we_died_is_found_again(slurm: Queue) -> None:
    slurm.program.environment["PADDOCK_HOME"] = str(slurm.home.path)
    slurm.partition = "single"
    blocker = slurm.submit("sleep 600")
    code = (
        "import os, signal\n"
        "from paddock.work.launch import tending\n"
        "tending.memory.note = lambda *about: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from paddock.work.launch.submission import submit_all\n"
        f"submit_all([{{'cmd': 'echo once >> once', 'snapshot': False}}] * 3, queue={slurm.url!r})\n"
    )
    died = subprocess.run([sys.executable, "-c", code], env=slurm.program.environment, cwd=slurm.program.cwd)
    assert died.returncode == -signal.SIGKILL
    queue = find_queue(slurm.url, slurm.home)
    tasks = [task for task in slurm.look() if task != blocker]
    assert len(tasks) == 3
    assert not any(memory.started(queue, task) for task in tasks)
    before = sorted(row.id for row in slurm.jobs())
    assert len(before) == 4
    slurm.tend()
    assert sorted(row.id for row in slurm.jobs()) == before  # no second job for any
    slurm.order("cancel", blocker)
    assert set(slurm.wait(*tasks).values()) == {"done"}
    assert (slurm.program.cwd / "once").read_text().split() == ["once"] * 3


@pytest.mark.parametrize("usual", ["SQUEUE_PARTITION=low", "SQUEUE_QOS=high"])
def test_what_a_person_has_made_usual_for_squeue_hides_no_job(slurm: Queue, usual: str) -> None:
    slurm.submit("sleep 600")
    before = [row.id for row in slurm.jobs()]
    name, _, value = usual.partition("=")
    for _ in range(2):
        assert slurm.program("status", "-Q", slurm.url, env={name: value}).code == 0
    assert [row.id for row in slurm.jobs()] == before and len(before) == 1


def test_a_home_whose_name_is_as_odd_as_names_can_be(tmp_path: Path) -> None:
    place = tmp_path / "a 'b' \"c\" $(touch pwned) `d` %j \\ é 漢\n#SBATCH --array=1-9"
    place.mkdir()
    made = Queue(new_program(place / "home", place), Home(place / "home"))
    try:
        one = made.submit("pwd; echo $PADDOCK_HOME")
        assert made.wait(one) == {one: "done"}
        many = made.grid("n", 3, "echo {n}")
        assert set(made.wait(*many).values()) == {"done"}
        assert [made.output(task) for task in many] == ["0\n", "1\n", "2\n"]
        assert f"{place}/cwd\n" in made.output(one)
        assert not list(place.rglob("pwned"))
    finally:
        made.close()


def test_the_task_of_a_job_that_was_killed_at_once_runs_again(slurm: Queue) -> None:
    task = slurm.submit(TWICE.format("begun"))
    slurm.until((slurm.program.cwd / "begun").exists)
    (job,) = slurm.jobs()
    slurm.slurm("scancel", "--signal=KILL", "--full", job.id)
    assert slurm.wait(task) == {task: "done"}
    assert outcomes(slurm, task) in (["lost", "done"], ["requeued", "done"])


def test_a_job_that_somebody_cancelled_by_slurms_own_means_gives_its_task_back(slurm: Queue) -> None:
    task = slurm.submit(TWICE.format("begun"))
    slurm.until((slurm.program.cwd / "begun").exists)
    (job,) = slurm.jobs()
    slurm.slurm("scancel", job.id)
    slurm.until(lambda: slurm.state(task) == "queued")
    assert outcomes(slurm, task) == ["requeued"]
    slurm.until(lambda: not any(row.state.may_run for row in slurm.jobs()))  # and it stays cancelled
    assert slurm.wait(task) == {task: "done"}


def test_a_preempted_task_has_not_failed_and_runs_again(slurm: Queue) -> None:
    slurm.partition = "low"
    task = slurm.submit(TWICE.format("begun"), "--cpus", "60")
    other = slurm.submit("sleep 600", "--cpus", "60")
    slurm.until(lambda: slurm.states([task, other]) == {task: "active", other: "active"})
    slurm.until((slurm.program.cwd / "begun").exists)
    urgent = Queue(slurm.program, slurm.home)
    urgent.partition = "high"
    first = urgent.submit("true", "--cpus", "60", "--engine", "nodelist=n1")
    try:
        assert urgent.wait(first) == {first: "done"}
        slurm.until(lambda: "queued" in slurm.states([task, other]).values() or len(slurm.attempts(task)) > 1)
        moved = task if slurm.attempts(task) else other
        assert outcomes(slurm, moved) == ["requeued"]
        slurm.start_worker()
        slurm.until(lambda: slurm.state(moved) in ("active", "done"))
    finally:
        urgent.close()


def test_what_is_longer_than_its_jobs_time_goes_on_in_the_next(slurm: Queue) -> None:
    """A job of one task, and a pilot, at the same time: each takes a minute."""
    slurm.partition = "brief"
    task = slurm.submit(TWICE.format("begun"), "--time", "1m")
    other = slurm.program("submit", "-q", "--no-snapshot", "-Q", "q", "--", TWICE.format("other")).out.strip()
    pilot = ("scale", "slurm", "--once", "--max", "1", "--time", "1m", "--engine", "partition=brief", "q")
    assert slurm.program(*pilot).code == 0
    slurm.until((slurm.program.cwd / "begun").exists)
    slurm.until((slurm.program.cwd / "other").exists)
    until(lambda: outcomes(slurm, task) == ["requeued"], 2 * DEADLINE, pause=0.5)
    slurm.until(lambda: any(row.word == "PENDING" for row in slurm.jobs()))  # by itself: nobody has looked
    (job,) = slurm.jobs()
    slurm.start_worker()
    assert slurm.wait(task) == {task: "done"}
    assert [row.id for row in slurm.jobs()] == [job.id]
    assert outcomes(slurm, task) == ["requeued", "done"]
    queue = find_queue("q", slurm.home)
    until(lambda: not pilots(slurm), pause=0.3)
    (place,) = queue.list(["queued"]).places
    assert (place.id, [one.outcome for one in queue.read(place).attempts]) == (other, ["requeued"])
    assert pilots(slurm, "-t", "all") == ["COMPLETED"]  # it left in time: nobody had to end it


def test_cancel_ends_the_job_of_a_worker_that_hangs(slurm: Queue) -> None:
    task = slurm.submit("echo $$ > pid; sleep 600")
    slurm.until((slurm.program.cwd / "pid").exists)
    seen = slurm.alive()
    os.kill(seen.identity.pid, signal.SIGSTOP)
    started = slurm.program.start("cancel", "-Q", slurm.url, "--timeout", "46s", task)
    started.communicate(timeout=DEADLINE)
    slurm.until(lambda: not any(row.state.may_run for row in slurm.jobs()))
    assert slurm.state(task) == "gone"
    until(lambda: not os.path.exists(f"/proc/{(slurm.program.cwd / 'pid').read_text().strip()}"))


def test_a_job_that_dies_before_its_worker_starts_says_why(slurm: Queue) -> None:
    task = slurm.submit("true", "--engine", "python=/no/such/python")
    slurm.until(lambda: not any(row.state.may_run for row in slurm.jobs()))
    for _ in range(3):
        found = slurm.program("status", "-Q", slurm.url)
        slurm.until(lambda: not any(row.state.may_run for row in slurm.jobs()))
    found = slurm.program("status", "-Q", slurm.url)
    assert "/no/such/python" in found.out
    assert "several jobs that ended before the task began" in found.err
    assert slurm.state(task) == "queued"


def test_a_thousand_tasks_are_two_arrays_one_question_and_one_cancellation(slurm: Queue, tmp_path: Path) -> None:
    """Whether they all run, the conformance suite tries."""
    calls = counting(slurm, tmp_path, "sbatch", "squeue", "scontrol", "scancel", "sacct")
    submit = ("submit", "-q", "--no-snapshot", "-Q", slurm.url, "--engine", "begin=now+1hour")
    ids = slurm.program(*submit, "--grid", "n=0..999", "--", "echo {n} >> all").out.split()
    assert len(set(ids)) == 1000
    assert sorted(calls.read_text().split()) == ["sbatch", "sbatch", "scontrol"]  # an array has 600 elements at most
    calls.unlink()
    slurm.tend()
    assert calls.read_text().split() == ["squeue"]
    assert sorted(row.word for row in slurm.jobs()) == ["PENDING"] * 1000
    calls.unlink()
    slurm.order("cancel", "-y", "--all")
    assert slurm.look() == {}
    slurm.until(lambda: not any(row.state.may_run for row in slurm.jobs()))


def test_a_cluster_that_does_not_answer_costs_nothing_but_time(tmp_path: Path, home: Home) -> None:
    place = tmp_path / "down"
    place.mkdir()
    (place / "slurm.conf").write_text(cluster.configuration(place, [1, 2]) + "MessageTimeout=2\n")
    program = new_program(home.path, tmp_path)
    program.environment["SLURM_CONF"] = str(place / "slurm.conf")
    found = program("submit", "-q", "--no-snapshot", "--on", "slurm://", "--", "true")
    assert (found.code, len(found.out.split())) == (0, 1)
    assert "Slurm does not answer" in found.err and "The tasks are queued" in found.err
    told = program("submit", "--json", "--no-snapshot", "--on", "slurm://", "--", "true").json
    assert "Slurm does not answer" in told["trouble"][0] and len(told["tasks"]) == 1
    (queue,) = program("status", "--json").json["queues"]
    assert queue["counts"]["queued"] == 2
    assert ["Slurm does not answer" in one["why"] for one in queue["waiting"]] == [True, True]
    program.environment["PATH"] = str(place)
    found = program("status")
    assert "no squeue on this machine" in found.err and "login node" in found.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--on", "slurm://nope"), "Invalid partition name specified. `sinfo` lists"),
        (("--on", "slurm://main?account=nope"), "combination specified. `sacctmgr show assoc"),
        (("--on", "slurm://main", "--gpus", "9"), "No node has that much"),
        (("--on", "slurm://main", "--time", "1h", "--engine", "partition=brief"), "time limit"),
    ],
)
def test_what_slurm_refuses_is_said_in_its_own_words_and_the_task_is_queued(
    slurm: Queue, options: tuple[str, ...], words: str
) -> None:
    found = slurm.program("submit", "-q", "--no-snapshot", *options, "--", "true")
    assert found.code == 9
    assert words.lower() in found.err.lower() and "is queued" in found.err
    task = found.out.strip()
    waiting = [one for queue in slurm.program("status", "--json").json["queues"] for one in queue["waiting"]]
    assert [one["id"] for one in waiting] == [task]
    assert words.lower() in waiting[0]["why"].lower()


@pytest.fixture
def few(slurm: Queue) -> Iterator[str]:
    """A quality of service of which a user may have three jobs."""
    try:
        slurm.slurm("sacctmgr", "-i", "add", "qos", "few", "set", "MaxSubmitJobsPerUser=3")
        slurm.slurm("sacctmgr", "-i", "modify", "user", "root", "set", "qos+=few")
        yield "few"
    finally:
        slurm.slurm("sacctmgr", "-i", "delete", "qos", "few")


def test_a_sweep_of_more_than_a_user_may_submit_goes_in_as_there_is_room(slurm: Queue, few: str) -> None:
    submit = ("submit", "-q", "--no-snapshot", "-Q", slurm.url, "--engine", f"qos={few}")
    found = slurm.program(*submit, "--grid", "n=0..6", "--", "echo {n} >> all")
    assert found.code == 0 and "the others start when some of those are over" in found.err
    assert set(slurm.wait(*found.out.split()).values()) == {"done"}
    assert sorted((slurm.program.cwd / "all").read_text().split()) == list("0123456")


def pilots(slurm: Queue, *options: str) -> list[str]:
    text = slurm.slurm("squeue", "-h", "-r", "-n", "paddock-pilot", "-o", "%T %Z", *options)
    return [line.split()[0] for line in text.splitlines() if str(slurm.home.path) in line]


def test_as_many_workers_run_as_the_queue_needs_and_they_leave_when_nothing_is_left(slurm: Queue) -> None:
    def scale(*words: str) -> str:
        found = slurm.program("scale", "slurm", "--once", "--max", "3", "--gpus", "1", "--time", "10m", *words, "q")
        assert found.code == 0, found.err
        return found.err

    submit = ("submit", "-q", "--no-snapshot", "-Q", "q", "--gpus", "1")
    found = slurm.program(*submit, "--grid", "n=0..4", "--", "echo {n} $CUDA_VISIBLE_DEVICES >> all; sleep 1")
    assert found.code == 0, found.err
    assert "3 started" in scale()
    assert len(pilots(slurm)) == 3
    assert "started" not in scale()
    assert slurm.program("wait", "-Q", "q").code == 0
    lines = (slurm.program.cwd / "all").read_text().splitlines()
    assert sorted(line.split()[0] for line in lines) == list("01234")
    assert {line.split()[1] for line in lines} <= {"0", "1"}
    until(lambda: not pilots(slurm), pause=0.3)
    assert "started" not in scale()


def test_a_task_of_several_ranks_gets_as_many_workers_and_what_is_too_large_gets_none(slurm: Queue) -> None:
    scale = ("scale", "slurm", "--once", "--json", "--max", "4", "--time", "10m", "q")
    submit = ("submit", "-q", "--no-snapshot", "-Q", "q")
    task = slurm.program(*submit, "--workers", "3", "--", "echo $RANK").out.strip()
    large = slurm.program(*submit, "--gpus", "9", "--", "true").out.strip()
    found = slurm.program(*scale).json
    assert (found["tasks"], found["started"], found["too_large"]) == (2, 3, 1)
    assert slurm.program("wait", "-Q", "q", task).code == 0
    until(lambda: not pilots(slurm), pause=0.3)
    found = slurm.program(*scale).json
    assert (found["tasks"], found["started"], found["too_large"]) == (1, 0, 1)
    assert [place.id for place in find_queue("q", slurm.home).list(["queued"]).places] == [large]


def test_why_workers_fail_is_said(slurm: Queue) -> None:
    scale = ("scale", "slurm", "--once", "--engine", "python=/no/such/python", "q")
    assert slurm.program("submit", "-q", "--no-snapshot", "-Q", "q", "--", "true").code == 0
    assert "1 started" in slurm.program(*scale).err
    until(lambda: not pilots(slurm), pause=0.3)
    said = slurm.program(*scale).err
    assert "1 job failed" in said and "/no/such/python" in said


def test_workers_that_stay_are_ended_by_down_and_give_their_tasks_back(slurm: Queue) -> None:
    base = ("scale", "slurm", "--max", "3", "--min", "1")
    assert slurm.program(*base, "--once", "q").code == 0
    task = slurm.program("submit", "-q", "--no-snapshot", "-Q", "q", "--", "sleep 600").out.strip()
    queue = find_queue("q", slurm.home)
    until(lambda: [place for place in queue.list(["active"]).places if place.id == task], pause=0.2)
    keeps = slurm.program.start(*base, "--every", "1", "q")
    assert keeps.stderr is not None and "1 task; jobs: 1 running" in keeps.stderr.readline()
    keeps.send_signal(signal.SIGINT)
    _, err = keeps.communicate(timeout=DEADLINE)
    assert keeps.returncode == 0 and "left alone" in err
    assert len(pilots(slurm)) == 1
    assert "1 job ended" in slurm.program(*base, "--down", "q").out
    until(lambda: [place for place in queue.list(["queued"]).places if place.id == task], pause=0.2)
    until(lambda: not pilots(slurm), pause=0.3)

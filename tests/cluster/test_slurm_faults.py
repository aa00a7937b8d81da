"""What becomes of tasks when a part of Slurm dies: a node, the controller, the accounting. On a cluster of our own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.record.layout import Home
from tests.acceptance.conftest import new_program
from tests.cluster import slurm as cluster
from tests.cluster.test_slurm import TWICE, Queue, outcomes
from tests.conformance.slurm import _CONF
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.skipif(not _CONF, reason="make test-slurm starts the cluster")
HERE = Path(_CONF).parent


@pytest.fixture
def slurm(home: Home, tmp_path: Path) -> Iterator[Queue]:
    made = Queue(new_program(home.path, tmp_path), home)
    try:
        yield made
    finally:
        _answers(made)
        made.close()


def _answers(slurm: Queue) -> None:
    until(lambda: slurm.slurm("scontrol", "ping").count("UP"), pause=0.2)


@pytest.fixture
def node(slurm: Queue) -> Iterator[list[str]]:
    """Nodes that a test takes away: put their names in here."""
    taken: list[str] = []
    yield taken
    for name in taken:
        cluster.stop_one(HERE, f"slurmd-{name}")
        cluster.start_node(HERE, name)
        slurm.slurm("scontrol", "update", f"nodename={name}", "state=resume")
    until(lambda: cluster._idle_nodes(Path(_CONF)) == 2, pause=0.3)


def _lose(slurm: Queue, name: str) -> None:
    """As when the controller has not heard of it for long."""
    cluster.stop_one(HERE, f"slurmd-{name}", signal.SIGKILL)
    slurm.slurm("scontrol", "update", f"nodename={name}", "state=down", "reason=test")


def _processes(job: str) -> list[int]:
    """Of a job, whatever became of their parents."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"SLURM_JOB_ID={job}\0".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _begins_elsewhere(slurm: Queue, dead: str) -> None:
    """Slurm lets a requeued job wait for two minutes: it is told not to, as soon as it would."""

    def begun() -> bool:
        slurm.start_worker()
        return any(row.node not in ("", dead) for row in slurm.jobs())

    try:
        until(begun, slurm.patience, pause=0.5)
    except AssertionError as error:
        raise AssertionError(f"{error}: {slurm.jobs()}") from None


def test_a_task_whose_node_died_runs_again_on_another_and_the_attempt_is_counted(slurm: Queue, node: list[str]) -> None:
    task = slurm.submit(TWICE.format("begun"))
    slurm.until((slurm.program.cwd / "begun").exists)
    (before,) = slurm.jobs()
    node.append(before.node)
    _lose(slurm, before.node)
    for pid in _processes(before.id):
        os.kill(pid, signal.SIGKILL)
    _begins_elsewhere(slurm, before.node)
    assert slurm.wait(task) == {task: "done"}
    assert outcomes(slurm, task) == ["lost", "done"]
    assert [(row.id, row.node != before.node) for row in slurm.jobs()] == [(before.id, True)]


def test_a_node_that_only_seems_to_be_dead_does_not_make_two_copies(slurm: Queue, node: list[str]) -> None:
    go = slurm.program.cwd / "go"
    task = slurm.submit(f"echo begun >> begun; until test -e {go}; do sleep 0.1; done")
    slurm.until((slurm.program.cwd / "begun").exists)
    (before,) = slurm.jobs()
    node.append(before.node)
    _lose(slurm, before.node)
    _begins_elsewhere(slurm, before.node)  # for nothing
    slurm.tend()
    go.touch()
    assert slurm.wait(task) == {task: "done"}
    assert (slurm.program.cwd / "begun").read_text().split() == ["begun"]
    assert outcomes(slurm, task) == ["done"]


def test_while_the_controller_is_away_nothing_is_known_and_nothing_is_done(slurm: Queue) -> None:
    go = slurm.program.cwd / "go"
    task = slurm.submit(f"echo begun >> begun; until test -e {go}; do sleep 0.1; done")
    slurm.until((slurm.program.cwd / "begun").exists)
    _is_saved(slurm)
    cluster.stop_one(HERE, "slurmctld", signal.SIGKILL)
    try:
        slurm.program.environment["SLURM_CONF"] = _impatient(slurm)
        found = slurm.program("status", "-Q", slurm.url)
        assert found.code == 0 and "Slurm does not answer" in found.err
        assert slurm.state(task) == "active"
        waiting = slurm.submit("true")
        assert slurm.state(waiting) == "queued"
        go.touch()
        slurm.until(lambda: slurm.state(task) == "done")  # its worker needs no controller
    finally:
        slurm.program.environment["SLURM_CONF"] = _CONF
        cluster.start_controller(HERE)
        _answers(slurm)
    assert slurm.wait(waiting) == {waiting: "done"}
    assert (slurm.program.cwd / "begun").read_text().split() == ["begun"]
    assert outcomes(slurm, task) == ["done"]
    assert sorted(row.name for row in slurm.jobs()) == sorted([task, waiting])


def _is_saved(slurm: Queue) -> None:
    """The controller writes what it knows every few seconds. One that comes back without a job gives its number to the
    next, and a node that still runs the first takes itself out of service."""
    (job,) = slurm.jobs()
    mark = f"saved-{job.name}"
    slurm.slurm("scontrol", "update", f"JobId={job.id}", f"AdminComment={mark}")
    until(lambda: mark.encode() in (HERE / "state" / "job_state").read_bytes(), pause=0.2)


def _impatient(slurm: Queue) -> str:
    """The same cluster, for clients that do not wait long for it."""
    path = slurm.program.cwd / "slurm.conf"
    path.write_text(Path(_CONF).read_text() + "MessageTimeout=2\n")
    (path.parent / "gres.conf").write_text((HERE / "gres.conf").read_text())
    return str(path)


@pytest.fixture
def forgetful() -> Iterator[None]:
    """A controller that forgets jobs as soon as they are over."""
    conf = Path(_CONF)
    text = conf.read_text()
    try:
        conf.write_text(text.replace("MinJobAge=300", "MinJobAge=2"))
        _reconfigure()
        yield
    finally:
        conf.write_text(text)
        _reconfigure()


def _reconfigure() -> None:
    subprocess.run(["scontrol", "reconfigure"], env={**os.environ, "SLURM_CONF": _CONF}, check=True, timeout=DEADLINE)


def test_of_a_job_that_squeue_has_forgotten_sacct_says_how_it_ended(slurm: Queue, forgetful: None) -> None:
    task = slurm.submit("true", "--engine", "python=/no/such/python")
    for _ in range(3):  # then it gets no more jobs
        until(lambda: not slurm.jobs(), pause=0.5)
        slurm.tend()
    until(lambda: not slurm.jobs(), pause=0.5)
    (why,) = [one["why"] for one in slurm.program("status", "--json").json["queues"][0]["waiting"]]
    assert "FAILED" in why and "/no/such/python" in why
    # Where there is no accounting, the job is over all the same, and its log says what it can.
    cluster.stop_one(HERE, "slurmdbd")
    try:
        (why,) = [one["why"] for one in slurm.program("status", "--json").json["queues"][0]["waiting"]]
        assert "FAILED" not in why and "/no/such/python" in why
    finally:
        cluster.start_accounting(HERE)
    assert slurm.state(task) == "queued"

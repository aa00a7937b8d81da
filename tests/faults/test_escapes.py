"""The ways in which a process escapes its parent, as tasks of a queue: none survives, however task or worker end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.work.processes import cgroup, process
from paddock.work.processes.process import Process
from tests.faults.farm import Farm
from tests.waiting import until

LEAF = 'echo $$ >"$1.new"; mv "$1.new" "$1"; exec sleep 1000'
ESCAPES = {
    "background": "sh leaf {pid} &",
    "re-parented": "(sh leaf {pid} &)",
    "setsid": "setsid sh leaf {pid} &",
    "double-fork": "(setsid sh -c '(sh leaf {pid} <&- >&- 2>&- 9>&- &)' &)",
    "nohup": "nohup sh leaf {pid} &",
    "ignores-TERM": "trap '' TERM; sh leaf {pid} &",
    "no environment": "(setsid env -i sh leaf {pid} <&- >&- 2>&- 9>&- &)",
}
HIDE = 'for g in /sys/fs/cgroup/unified /sys/fs/cgroup; do umount -l "$g"; done 2>/dev/null; exec "$@"'


@pytest.fixture(params=["cgroup", "no cgroup"])
def before(request: pytest.FixtureRequest) -> list[str]:
    """What to start a worker with, so that it has control groups or has none."""
    usable = bool(cgroup.usable())
    if request.param == "cgroup":
        return [] if usable else pytest.skip("no control groups can be made here")
    hidden = ["unshare", "--mount", "sh", "-c", HIDE, "sh"]
    if usable and subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("only root can hide the control groups")
    return hidden if usable else []


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path)
    (tmp_path / "leaf").write_text(LEAF)
    yield made
    made.close()


def plant(farm: Farm) -> tuple[list[str], list[Process]]:
    """A task for each escape; the tasks, and the processes that escaped."""
    pids = [farm.directory / f"pid{n}" for n in range(len(ESCAPES))]
    tasks = []
    for escape, pid in zip(ESCAPES.values(), pids, strict=True):
        tasks.append(farm.put(f"cd {farm.directory}; {escape.format(pid=pid.name)}\nsleep 1000"))
    until(lambda: all(path.exists() for path in pids))
    return tasks, [found for path in pids if (found := process.look(int(path.read_text())))]


def survivors(leaves: list[Process]) -> int:
    return sum((now := process.look(leaf.pid)) is not None and now.lives and now.start == leaf.start for leaf in leaves)


def test_none_survives_the_removal_of_its_task(farm: Farm, before: list[str]) -> None:
    farm.start("--slots", str(len(ESCAPES)), before=before)
    tasks, leaves = plant(farm)
    for task in tasks:
        assert farm.rm(task)
    until(lambda: survivors(leaves) == 0)


def test_none_survives_the_end_of_its_worker(farm: Farm, before: list[str]) -> None:
    worker = farm.start("--slots", str(len(ESCAPES)), "--grace", "1s", before=before)
    tasks, leaves = plant(farm)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
    assert survivors(leaves) == 0
    assert {farm.state(task) for task in tasks} == {"queued"}


@pytest.mark.parametrize("victim", ["worker", "guard"])
def test_none_survives_a_kill_of_the_worker_or_of_its_guard(farm: Farm, before: list[str], victim: str) -> None:
    worker = farm.start("--slots", str(len(ESCAPES)), before=before)
    _, leaves = plant(farm)
    guard = int(farm.identity(worker).guard.split()[0])
    os.kill(worker.pid if victim == "worker" else guard, signal.SIGKILL)
    until(lambda: survivors(leaves) == 0)


def test_when_both_are_killed_the_next_worker_ends_them(farm: Farm, before: list[str]) -> None:
    worker = farm.start("--slots", str(len(ESCAPES)), before=before)
    tasks, leaves = plant(farm)
    guard = int(farm.identity(worker).guard.split()[0])
    worker.send_signal(signal.SIGSTOP)  # or it would see its guard die, and end them itself
    os.kill(guard, signal.SIGKILL)
    worker.kill()
    worker.wait()
    assert survivors(leaves) > 0
    farm.start("--slots", "1", before=before)
    # Nothing tells whose a process is that has neither the environment nor the session nor a group of its task; and
    # one that dropped them before its task had a group, while others began too, has none.
    hopeless = 1
    try:
        until(lambda: survivors(leaves) <= hopeless)
    finally:
        for leaf in leaves:
            process.send(leaf, signal.SIGKILL)
    assert len(tasks) == len(ESCAPES)


def test_when_both_are_killed_a_cancel_from_python_ends_what_is_left(farm: Farm) -> None:
    (task,) = farm.submit("sleep 1000")
    worker = farm.start()
    until(lambda: farm.began(task.id))
    token = farm.place(task.id).token  # type: ignore[union-attr]
    guard = int(farm.identity(worker).guard.split()[0])
    worker.send_signal(signal.SIGSTOP)
    os.kill(guard, signal.SIGKILL)
    worker.kill()
    worker.wait()
    assert process.tokens_of(token.worker)  # type: ignore[union-attr]
    assert task.cancel(timeout=60)
    assert not process.tokens_of(token.worker)  # type: ignore[union-attr]
    assert farm.state(task.id) == "gone"

"""Workers that die, stop, or see another time: their tasks run again, never twice at once, and not for ever."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.checker import check
from tests.faults.farm import QUICK, Farm
from tests.waiting import until

another_host = pytest.mark.skipif(
    subprocess.run(["sh", "-c", "unshare --uts hostname node-a"], stderr=subprocess.DEVNULL, check=False).returncode
    != 0,
    reason="another host name needs root",
)


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path, **QUICK)
    yield made
    made.close()


def host(name: str, clock: str = "") -> list[str]:
    """What a worker is started with to be on a host of that name, with a clock that is so far off."""
    faked = ["faketime", "-m", "--exclude-monotonic", "-f", clock] if clock else []
    return ["unshare", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "sh", *faked]


def test_a_lost_workers_task_runs_again_on_the_same_host(tmp_path: Path) -> None:
    """Within 15 seconds is the promise, by the leases that everybody has; how long it took is printed."""
    farm = Farm(tmp_path)
    try:
        task = farm.put("test $PADDOCK_ATTEMPT -gt 1 || sleep 1000")
        first, _ = farm.start(), farm.start()
        until(lambda: farm.began(task) == 1)
        holder = next(worker for worker in farm.workers if str(worker.pid) in farm.place(task).token.worker)  # type: ignore[union-attr]
        began = time.monotonic()
        holder.kill()
        until(lambda: farm.began(task) == 2)
        print(f"a killed worker's task ran again after {time.monotonic() - began:.1f} s")
        until(lambda: farm.state(task) == "done")
        assert farm.outcomes(task) == ["lost", "done"]
        assert check(farm, [task]).faults == (0, 0, 0)
        assert first.pid
    finally:
        farm.close()


@pytest.mark.parametrize(
    "kill",
    [
        pytest.param(
            'read -r _ _ _ worker _ </proc/$PPID/stat; kill -9 "$worker" $PPID', id="its worker and its guard"
        ),
        pytest.param("kill -9 $PPID", id="its guard"),
    ],
)
def test_a_task_that_takes_its_workers_with_it_fails_after_five_losses(farm: Farm, kill: str) -> None:
    """The guard is the parent of a task, the worker that of the guard, which ends when its guard has died."""
    poison = farm.put(f"{kill}; sleep 1000")
    good = farm.put("true")
    for _ in range(5):
        worker = farm.start()
        worker.wait(timeout=60)
    farm.finish()
    assert (farm.state(poison), farm.state(good)) == ("failed", "done")
    assert farm.outcomes(poison) == ["lost"] * 5
    assert farm.began(poison) == 5


@pytest.mark.parametrize("elsewhere", [False, pytest.param(True, marks=[another_host, pytest.mark.long])])
def test_a_worker_that_is_stopped_past_its_lease_never_makes_two_copies(farm: Farm, elsewhere: bool) -> None:
    """Its guard ends its task, another worker runs it, and what it says when it wakes up is filed, not accepted."""
    task = farm.put("if test $PADDOCK_ATTEMPT = 1; then sleep 1000; else sleep 2; fi")
    first = farm.start(before=host("node-a") if elsewhere else None)
    until(lambda: farm.began(task) == 1)
    first.send_signal(signal.SIGSTOP)
    second = farm.start(before=host("node-b") if elsewhere else None)
    until(lambda: farm.began(task) == 2)
    first.send_signal(signal.SIGCONT)
    until(lambda: farm.state(task) == "done")
    assert farm.outcomes(task) == ["lost", "done"]
    assert check(farm, [task]).faults == (0, 0, 0)
    log = next(p for p in farm.queue.workers.iterdir() if f"-{first.pid}-" in p.name)
    until(lambda: "filed with the run" in log.read_text())
    assert first.poll() is None and second.poll() is None  # both go on working
    other = farm.put("true")
    until(lambda: farm.state(other) == "done")


def test_a_result_that_comes_after_a_takeover_is_filed_and_not_accepted(farm: Farm) -> None:
    """The task ended well, but its worker was stopped before it could say so."""
    task = farm.put("test $PADDOCK_ATTEMPT -gt 1 || while ! test -e go; do sleep 0.01; done", cwd=farm.directory)
    first = farm.start()
    until(lambda: farm.began(task) == 1)
    first.send_signal(signal.SIGSTOP)
    (farm.directory / "go").touch()
    until(lambda: any(line.startswith("end") for line in farm.lines(task)))
    farm.start()
    until(lambda: farm.state(task) == "done")
    first.send_signal(signal.SIGCONT)
    log = next(p for p in farm.queue.workers.iterdir() if f"-{first.pid}-" in p.name)
    until(lambda: "filed with the run" in log.read_text())
    assert farm.outcomes(task) == ["lost", "done"]
    assert check(farm, [task]).faults == (0, 0, 0)


@another_host
@pytest.mark.skipif(shutil.which("faketime") is None, reason="faketime is not installed: apt install faketime")
def test_hosts_whose_clocks_differ_by_days_agree_about_who_lives(tmp_path: Path) -> None:
    """Three hosts, one of them three hours ahead, one two days behind. A long task outlives many leases, and when its
    host dies with all its processes another one runs it."""
    clocks = {"node-a": "", "node-b": "+3h", "node-c": "-2d"}
    if subprocess.run([*host("node-b", "+3h"), "true"], check=False).returncode:
        pytest.skip("faketime does not work here")
    farm = Farm(tmp_path, **QUICK)
    try:
        for name, clock in clocks.items():
            farm.start("--slots", "2", before=host(name, clock))
        until(lambda: len({one.host for one in farm.identities()}) == 3)
        long = 2 * QUICK["reclaim"]
        tasks = [task.id for task in (*farm.submit(f"sleep {long}", 3), *farm.submit("sleep 0.05", 30))]
        until(lambda: all(farm.state(task) == "done" for task in tasks))
        assert not any("lost" in farm.outcomes(task) for task in tasks)
        last = farm.put("test $PADDOCK_ATTEMPT -gt 1 || sleep 1000")
        until(lambda: farm.began(last) == 1)
        kill_host(farm, farm.place(last).token.worker)  # type: ignore[union-attr]
        until(lambda: farm.state(last) == "done")
        assert farm.outcomes(last) == ["lost", "done"]
        assert check(farm, [*tasks, last]).faults == (0, 0, 0)
    finally:
        farm.close()


def kill_host(farm: Farm, worker: str) -> None:
    """Everything on it at once: stopped first, so that nobody has time for last words."""
    one = next(one for one in farm.identities() if one.worker == worker)
    pids = [one.pid, int(one.guard.split()[0])]
    for pid in pids:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        pids += [int(child) for child in children if int(child) not in pids]
        os.kill(pid, signal.SIGSTOP)
    for pid in reversed(pids):
        os.kill(pid, signal.SIGKILL)

"""A task of several ranks starts as one and ends as one, whatever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.queue.directory import DirectoryQueue, find_queue
from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import GANGS, Seat
from paddock.queue.entry.submission import Submitted, submit
from paddock.queue.task import TaskFile
from paddock.record.layout import Home
from tests.faults.gang_storm import storm
from tests.waiting import until

WORKER = """
import sys
from pathlib import Path
from paddock.queue.directory import find_queue
from paddock.record.layout import Home
from paddock.queue.lifecycle import Liveness
from paddock.work.slots import Slots
from paddock.work.options import Options
from paddock.work.worker import Worker
home = Home(Path(sys.argv[1]))
gpus = tuple(sys.argv[5].split(",")) if sys.argv[5] else ()
options = Options(
    Slots(int(sys.argv[3]), gpus),
    persist=sys.argv[2] == "persist",
    grace=5.0,
    liveness=Liveness(beat=0.3),  # and so often it looks whether others live
    patience=float(sys.argv[4]),
)
sys.exit(Worker(home, [find_queue("default", home)], options, Path(sys.argv[1]) / "cache").run())
"""

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(home: Home) -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def begin(
        slots: int = 1, mode: str = "persist", patience: float = 60.0, gpus: str = "", **env: str
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", WORKER, str(home.path), mode, str(slots), str(patience), gpus]
        started.append(subprocess.Popen(command, env={**os.environ, **env}))
        return started[-1]

    yield begin
    for process in started:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture
def queue(home: Home) -> DirectoryQueue:
    found = find_queue("default", home)
    found.prepare()
    return found


def put(home: Home, command: str, workers: int, **about: object) -> Submitted:
    return submit(command, home=home, snapshot=False, n_workers=workers, **about)


def state(queue: DirectoryQueue, task: Submitted) -> str:
    return next((p.state for p in queue.list().places if p.id == task.id), "gone")


def file(queue: DirectoryQueue, task: Submitted) -> TaskFile:
    return queue.read(next(p for p in queue.list().places if p.id == task.id))


def outcomes(queue: DirectoryQueue, task: Submitted) -> list[str]:
    return [attempt.outcome for attempt in file(queue, task).attempts]


def move(queue: DirectoryQueue, task: Submitted, to: str) -> None:
    """What a person does: mv."""
    place = next(p for p in queue.list().places if p.id == task.id)
    os.rename(queue.file(place), queue.directory(to) / place.name)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def pids(path: Path) -> list[int]:
    """Each rank writes `RANK PID` as it starts; whole lines only."""
    text = path.read_text() if path.exists() else ""
    return [int(line.split()[1]) for line in text[: text.rfind("\n") + 1].splitlines()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def none_left(path: Path) -> bool:
    return not any(alive(pid) for pid in pids(path))


def is_clean(queue: DirectoryQueue) -> bool:
    where = queue.path / GANGS
    return not where.exists() or os.listdir(where) == []


def sleeps(log: Path, seconds: float = 1000) -> str:
    return f"echo $RANK $$ >> {log}; exec sleep {seconds}"


SUM = """
import fcntl, os, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
with open(os.environ["PADDOCK_RENDEZVOUS"], "a+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(f"{rank}\\n")
while len(found := open(os.environ["PADDOCK_RENDEZVOUS"]).read().split()) < world:
    time.sleep(0.01)
import paddock
run = paddock.init(project="gang")
run.log({"sum": sum(map(int, found)), "rank": run.rank})
names = ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "PADDOCK_ATTEMPT", "PADDOCK_WORLD_SIZE")
print(rank, *(os.environ[name] for name in names))
"""


def test_four_ranks_on_two_workers_find_each_other(home, queue, start, read, tmp_path) -> None:
    script = tmp_path / "sum.py"
    script.write_text(SUM)
    start(2), start(2)
    task = put(home, f"{sys.executable} {script}", 4)
    until(lambda: state(queue, task) == "done")
    found = read(home.runs / task.id)
    assert found.values("sum") == [6, 6, 6, 6]
    assert sorted(found.values("rank")) == [0, 1, 2, 3]
    assert sorted(r["rank"] for r in found.records["open"] if r["role"] == "main") == [0, 1, 2, 3]
    assert [r["code"] for r in found.records["exit"]] == [0]
    outputs = [home.run(task.id).output / f"1{rank}.log" for rank in ("", ".r1", ".r2", ".r3")]
    printed = [path.read_text().splitlines()[-1].split() for path in outputs]
    assert [words[:3] for words in printed] == [["0", "0", "2"], ["1", "1", "2"], ["2", "0", "2"], ["3", "1", "2"]]
    assert [words[3:] for words in printed] == [[node, "127.0.0.1", "1", "4"] for node in "0011"]
    (attempt,) = file(queue, task).attempts
    assert (attempt.outcome, attempt.exit, attempt.worker.count(",")) == ("done", "exit code 0", 1)
    until(lambda: is_clean(queue))


def test_a_failing_rank_ends_the_others_and_every_retry_has_a_rendezvous_of_its_own(
    home, queue, start, tmp_path
) -> None:
    log, places = tmp_path / "log", tmp_path / "places"
    begun = f"test $(grep -cx $PADDOCK_RENDEZVOUS {places}) = 3"  # all ranks of this attempt
    fails = f"test $RANK = 2 && {{ until {begun}; do sleep 0.05; done; exit 3; }}"
    command = f"echo $PADDOCK_RENDEZVOUS >> {places}; {fails}; {sleeps(log)}"
    start(2), start(1)
    task = put(home, command, 3, retries=1)
    until(lambda: state(queue, task) == "failed")
    assert none_left(log)
    assert outcomes(queue, task) == ["failed", "failed"]
    assert [attempt.exit for attempt in file(queue, task).attempts] == ["rank 2: exit code 3"] * 2
    assert len(lines(places)) == 6 and len(set(lines(places))) == 2
    small = put(home, "true", 1)
    until(lambda: state(queue, small) == "done")
    until(lambda: is_clean(queue))


def test_a_killed_rank_ends_the_others(home, queue, start, tmp_path) -> None:
    log = tmp_path / "log"
    start(1), start(1)
    task = put(home, sleeps(log), 2)
    until(lambda: len(pids(log)) == 2)
    os.kill(pids(log)[1], signal.SIGKILL)
    until(lambda: state(queue, task) == "failed")
    assert none_left(log)
    assert file(queue, task).attempts[0].exit.endswith("signal KILL")


def holder(process: subprocess.Popen[bytes], queue: DirectoryQueue) -> str:
    """Its name; "" when it has none yet."""
    return next((name for name in os.listdir(queue.workers) if f"-{process.pid}-" in name), "")


@pytest.mark.parametrize("leader", [True, False])
def test_a_killed_worker_loses_the_attempt_and_all_ranks_run_again_never_twice_at_once(
    home, queue, start, tmp_path, leader
) -> None:
    log, fast = tmp_path / "log", tmp_path / "fast"
    workers = [start(1), start(1), start(1)]
    until(lambda: all(holder(worker, queue) for worker in workers))
    task = put(home, f"test -e {fast} && exit 0; {sleeps(log)}", 2)
    until(lambda: len(pids(log)) == 2)
    (place,) = [p for p in queue.list(["active"]).places if p.id == task.id]
    assert place.token is not None
    seats = {name.rpartition("~")[2].rpartition(".")[0] for name in os.listdir(queue.path / GANGS / task.id)}
    leads = [w for w in workers if holder(w, queue) == place.token.worker]
    follows = [w for w in workers if holder(w, queue) in seats and w not in leads]
    victim = (leads if leader else follows)[0]
    first = pids(log)
    victim.kill()
    victim.wait()
    until(lambda: len(pids(log)) == 4)
    assert not any(map(alive, first)), "the second attempt began when nothing of the first was left"
    assert outcomes(queue, task) == ["lost"]
    fast.touch()
    for pid in pids(log)[2:]:
        os.kill(pid, signal.SIGTERM)
    until(lambda: state(queue, task) == "failed")
    until(lambda: is_clean(queue))


def test_nothing_starts_while_a_rank_of_an_earlier_attempt_may_be_there(home, queue, start, tmp_path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    workers = [start(1), start(1)]
    until(lambda: all(holder(worker, queue) for worker in workers))
    task = put(home, f"ls {queue.path}/{GANGS}/$PADDOCK_RUN_ID >> {log}", 2, chk=f"test -e {gate}")
    old = gang.rank_name(7, Seat(holder(workers[0], queue), 999))
    (queue.path / GANGS / task.id).mkdir(parents=True)
    (queue.path / GANGS / task.id / old).touch()
    gate.touch()
    until(lambda: state(queue, task) == "done")
    seen = lines(log)
    assert seen and (old not in seen or old.replace("rank-", "failed-") in seen), "its worker says that it is gone"


def test_a_rank_of_a_stopped_worker_holds_back_the_next_attempt(home, queue, start, tmp_path) -> None:
    """Its lease is good for minutes yet, so its guard lets the rank run."""
    log = tmp_path / "log"
    workers = [start(1), start(1)]
    task = put(home, sleeps(log), 2)
    until(lambda: len(pids(log)) == 2)
    (place,) = [p for p in queue.list(["active"]).places if p.id == task.id]
    assert place.token is not None
    (leader,) = [w for w in workers if holder(w, queue) == place.token.worker]
    (stopped,) = [w for w in workers if w is not leader]
    stopped.send_signal(signal.SIGSTOP)
    start(1), start(1)
    leader.kill()
    leader.wait()
    until(lambda: sum(name.startswith("offer~") for name in os.listdir(queue.path / GANGS / task.id)) == 2)
    time.sleep(1.0)
    assert state(queue, task) == "queued" and len(pids(log)) == 2
    assert sum(map(alive, pids(log))) == 1
    stopped.send_signal(signal.SIGCONT)
    until(lambda: len(pids(log)) == 4)
    assert not any(map(alive, pids(log)[:2]))
    assert outcomes(queue, task) == ["lost"]


@pytest.mark.parametrize("leader", [True, False])
def test_a_worker_that_is_told_to_go_gives_all_ranks_back(home, queue, start, tmp_path, leader) -> None:
    log = tmp_path / "log"
    workers = [start(1), start(1)]
    task = put(home, sleeps(log), 2)
    until(lambda: len(pids(log)) == 2)
    (place,) = [p for p in queue.list(["active"]).places if p.id == task.id]
    assert place.token is not None
    victim = next(w for w in workers if (holder(w, queue) == place.token.worker) is leader)
    victim.send_signal(signal.SIGTERM)
    assert victim.wait(timeout=60) == 0
    until(lambda: state(queue, task) == "queued")
    assert none_left(log)
    assert outcomes(queue, task) == ["requeued"]


def test_rm_kills_all_ranks_and_mv_pauses_them(home, queue, start, tmp_path) -> None:
    ticks = [tmp_path / f"ticks{rank}" for rank in range(3)]
    log = tmp_path / "log"
    start(2), start(1)
    command = f"echo $RANK $$ >> {log}; while sleep 0.05; do echo x >> {tmp_path}/ticks$RANK; done"
    task = put(home, command, 3)
    until(lambda: all(advances(tick) for tick in ticks))
    move(queue, task, "paused")
    until(lambda: not any(advances(tick) for tick in ticks))
    assert not none_left(log)
    move(queue, task, "active")
    until(lambda: all(advances(tick) for tick in ticks))
    queue.file(next(p for p in queue.list().places if p.id == task.id)).unlink()
    until(lambda: none_left(log))
    assert state(queue, task) == "gone"
    again = put(home, sleeps(log), 3)
    until(lambda: len(pids(log)) == 6)
    move(queue, again, "failed")
    until(lambda: none_left(log))
    until(lambda: [p.token for p in queue.list(["failed"]).places if p.id == again.id] == [None])
    until(lambda: is_clean(queue))


def advances(path: Path) -> bool:
    before = path.stat().st_size if path.exists() else 0
    time.sleep(0.2)
    return path.exists() and path.stat().st_size > before


def test_what_nobody_has_room_for_keeps_nobody_waiting(home, queue, start, tmp_path) -> None:
    log = tmp_path / "log"
    start(1), start(1)
    big, small = put(home, f"echo $RANK $$ >> {log}", 4), put(home, "true", 1)
    until(lambda: state(queue, small) == "done")
    assert state(queue, big) == "queued" and lines(log) == []
    start(2)
    until(lambda: state(queue, big) == "done")
    assert sorted(line.split()[0] for line in lines(log)) == ["0", "1", "2", "3"]


def test_kept_slots_go_to_smaller_tasks_after_a_while_and_to_better_ones_at_once(home, queue, start, tmp_path) -> None:
    log, end = tmp_path / "log", tmp_path / "end"
    start(1, patience=1.0), start(1, patience=1.0)
    long = put(home, f"while ! test -e {end}; do sleep 0.05; done", 1)
    until(lambda: state(queue, long) == "active")
    big = put(home, f"echo big >> {log}", 2)
    until(lambda: not is_clean(queue))
    better = put(home, f"echo better >> {log}", 1, priority=1)
    until(lambda: state(queue, better) == "done")
    small = put(home, f"echo small >> {log}", 1)
    until(lambda: state(queue, small) == "done")
    assert state(queue, big) == "queued"
    end.touch()
    until(lambda: state(queue, big) == "done")
    assert lines(log) == ["better", "small", "big", "big"]


def test_gangs_that_want_the_same_slots_all_run(home, queue, start) -> None:
    tasks = [put(home, "sleep 0.1", workers, priority=rank % 2) for rank, workers in enumerate((2, 3, 3, 2, 3, 4))]
    workers = [start(slots, "drain") for slots in (2, 1, 1)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0, 0]
    assert {state(queue, task) for task in tasks} == {"done"}
    assert [outcomes(queue, task) for task in tasks] == [["done"]] * len(tasks)
    assert is_clean(queue)


def test_ranks_of_one_worker_see_its_gpus_and_use_the_one_of_their_local_rank(home, queue, start, tmp_path) -> None:
    log = tmp_path / "log"
    start(2, gpus="4,7")
    one = put(home, f"echo $LOCAL_RANK $CUDA_VISIBLE_DEVICES >> {log}", 2, gpus=1)
    until(lambda: state(queue, one) == "done")
    assert sorted(lines(log)) == ["0 4,7", "1 4,7"]


def test_a_task_is_no_rank_of_its_workers_step(home, queue, start, tmp_path) -> None:
    log = tmp_path / "log"
    start(1, SLURM_PROCID="3", SLURM_NTASKS="8", RANK="3", SLURM_JOB_ID="77")
    task = put(home, f"echo job $SLURM_JOB_ID rank $RANK$SLURM_PROCID >> {log}", 1)
    until(lambda: state(queue, task) == "done")
    assert lines(log) == ["job 77 rank"]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
def test_whatever_is_killed_stopped_or_moved_all_ranks_run_together_and_never_twice_at_once(
    tmp_path, seed, long
) -> None:
    found, blows = storm(tmp_path, tasks=20 if long else 4, workers=3, seconds=60 if long else 5, seed=seed)
    assert found.faults == (0, 0, 0) and found.done == found.tasks, (found, blows)


CONTRACT = """
config = {"lr": 0.1}


def main():
    with open(distributed_init_file, "a") as file:
        file.write(f"{rank} of {n_workers}\\n")
    log_metric("rank", rank)
    print(distributed_init_file)
"""


def test_a_script_with_config_and_main_finds_its_rank(home, queue, start, read, tmp_path) -> None:
    script = tmp_path / "fit.py"
    script.write_text(CONTRACT)
    start(2)
    task = put(home, f"{sys.executable} -m paddock run {script} lr=0.3 && cat $PADDOCK_RENDEZVOUS", 2)
    until(lambda: state(queue, task) in ("done", "failed"))
    printed = [(home.run(task.id).output / name).read_text() for name in ("1.log", "1.r1.log")]
    assert state(queue, task) == "done", printed
    assert all(f"{GANGS}/{task.id}/rendezvous~" in text for text in printed)
    assert "0 of 2" in printed[0] and "1 of 2" in printed[1]
    assert sorted(read(home.runs / task.id).values("rank")) == [0, 1]

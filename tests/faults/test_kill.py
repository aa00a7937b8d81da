"""kill -9 at any instant, from 1 to 16 processes: what log() acknowledged is there. The count of what is lost is 0."""

from __future__ import annotations

import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.waiting import until

# Each process counts, in memory that outlives it, the calls of log() that returned.
LOGGER = """
    import mmap, os, struct, sys, time
    import paddock
    number, board = int(sys.argv[1]), open(sys.argv[2], "r+b")
    counters = mmap.mmap(board.fileno(), 0)
    run = paddock.init(id="shared", mode="shared")
    counters[number * 8:number * 8 + 8] = struct.pack("<q", -1)
    while not counters[-1]:
        time.sleep(0.01)
    step = 0
    while True:
        run.log({f"p{number}/loss": step + 0.5, f"p{number}/step": step}, step=step)
        step += 1
        counters[number * 8:number * 8 + 8] = struct.pack("<q", step)
"""


@pytest.mark.parametrize("processes", [1, 2, 5, 16])
def test_nothing_acknowledged_is_lost(script, read, home, tmp_path: Path, processes: int) -> None:
    chance = random.Random(processes)
    board = tmp_path / "board"
    board.write_bytes(bytes(8 * processes + 1))  # the last byte starts them all, once all are ready
    running = [script(LOGGER, number, board) for number in range(processes)]
    with open(board, "r+b") as file:
        counters = mmap.mmap(file.fileno(), 0)
        until(lambda: all(_count(counters, n) == -1 for n in range(processes)))
        counters[-1:] = b"!"
        until(lambda: all(_count(counters, n) > 0 for n in range(processes)))
        for process in chance.sample(running, len(running)):
            time.sleep(chance.random() * 0.05)
            process.send_signal(signal.SIGKILL)
        for process in running:
            process.wait()
        acknowledged = [_count(counters, n) for n in range(processes)]
    found = read(home.runs / "shared")
    lost = 0
    for number, count in enumerate(acknowledged):
        steps = found.values(f"p{number}/step")
        assert steps == list(range(len(steps)))
        lost += max(0, count - len(steps))
    assert lost == 0
    assert found.damaged == 0


def _count(counters: mmap.mmap, number: int) -> int:
    return struct.unpack("<q", counters[number * 8 : number * 8 + 8])[0]


def test_a_killed_run_is_lost_and_never_running(script, home, tmp_path: Path) -> None:
    from paddock.catalog.catalog import Catalog

    process = script(
        """
        import paddock, time
        run = paddock.init(id="dies")
        run.log({"a": 1})
        print("up", flush=True)
        time.sleep(600)
        """,
        stdout=-1,
    )
    assert process.stdout.readline() == b"up\n"
    with Catalog.open(home) as catalog:
        catalog.refresh()
        assert catalog.run("dies").state == "running"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        catalog.refresh()
        assert catalog.run("dies").state == "lost"


FORKS = """
    import os, sys
    import paddock
    run = paddock.init(id="forks")
    run.log({"parent": 0})
    children = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            for step in range(200):
                run.log({f"child{number}": step}, step=step)
            if number == 0:
                sys.exit(0)      # runs the inherited exit hooks
            if number == 1:
                os.kill(os.getpid(), 9)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    run.log({"parent": 1})
"""


def test_forked_children_write_their_own_journals_and_do_not_end_the_run(script, read, home) -> None:
    assert script(FORKS).wait() == 0
    found = read(home.runs / "forks")
    assert found.values("parent") == [0, 1]
    assert all(found.values(f"child{n}") == list(range(200)) for n in range(4))
    assert sorted(r["role"] for r in found.records["open"]) == ["child"] * 4 + ["main"]
    assert [r["code"] for r in found.records["end"]] == [0]


FORK_WITH_BUSY_THREAD = """
    import os, threading, time
    import paddock
    run = paddock.init(id="busy")
    stop = False
    def log():
        while not stop:
            run.log({"thread": 1.0})
    threads = [threading.Thread(target=log) for _ in range(3)]
    for thread in threads: thread.start()
    for number in range(20):     # some of these forks happen while a thread holds the journal's lock
        pid = os.fork()
        if pid == 0:
            run.log({"child": number}, step=number)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    stop = True
    for thread in threads: thread.join()
"""


def test_a_fork_while_other_threads_log_does_not_deadlock(script, read, home) -> None:
    assert script(FORK_WITH_BUSY_THREAD).wait(timeout=120) == 0
    found = read(home.runs / "busy")
    assert sorted(found.values("child")) == list(range(20))
    assert found.damaged == 0


SPAWNS = """
    import multiprocessing as mp
    import paddock

    def work(number):
        paddock.log({f"worker{number}": number}, step=number)
        return number

    if __name__ == "__main__":
        paddock.init(id="spawns")
        context = mp.get_context("spawn")
        with context.Pool(2) as pool:
            assert pool.map(work, range(4)) == [0, 1, 2, 3]
            pool.close()
            pool.join()
        paddock.log({"parent": 1})
"""


def test_spawned_children_join_through_the_environment(script, read, home) -> None:
    assert script(SPAWNS).wait() == 0
    found = read(home.runs / "spawns")
    assert set(found.points) == {"parent", "worker0", "worker1", "worker2", "worker3"}
    assert len(list(home.runs.iterdir())) == 1
    roles = [r["role"] for r in found.records["open"]]
    assert roles.count("main") == 1 and set(roles) == {"main", "child"}


RANK = """
    import paddock
    run = paddock.init(config={"lr": 0.1}, tags=["ddp"])
    for step in range(10):
        run.log({"loss": run.rank + step / 100}, step=step)
"""


def test_whichever_rank_comes_first_the_run_knows_its_command_and_code(script, read, home) -> None:
    launch = {"WORLD_SIZE": "2", "SLURM_JOB_ID": "78", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2"}
    source = "import paddock\nrun = paddock.init(id='late', config={'lr': 1})\nrun.log({'a': run.rank})\n"
    for rank in (1, 0):
        environ = {**os.environ, **launch, "SLURM_PROCID": str(rank), "RANK": str(rank), "PADDOCK_CAPTURE_CODE": "1"}
        assert script(source, env=environ).wait() == 0
    found = read(home.runs / "late")
    assert sorted(found.values("a")) == [0, 1]
    assert found.facts["command"] and found.facts["environment"]["packages"]
    assert found.records["code"][0]["code"]["snapshot"]
    # Another launch with the same id is not the same run by accident.
    other = {**os.environ, **launch, "SLURM_JOB_ID": "79", "SLURM_PROCID": "0", "RANK": "0"}
    assert script(source, env=other, stderr=subprocess.DEVNULL).wait() == 1


def test_ranks_of_one_launch_write_one_run(script, read, home) -> None:
    launch = {"WORLD_SIZE": "3", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "3"}
    ranks = [script(RANK, env={**os.environ, **launch, "SLURM_PROCID": str(n), "RANK": str(n)}) for n in range(3)]
    assert [rank.wait() for rank in ranks] == [0, 0, 0]
    (directory,) = home.runs.iterdir()
    found = read(directory)
    assert sorted(r["rank"] for r in found.records["open"]) == [0, 1, 2]
    assert {r["attempt"] for r in found.records["open"]} == {1}
    assert len(found.points["loss"]) == 30


@pytest.mark.skipif(os.geteuid() != 0, reason="another host name needs root")
def test_several_hosts_write_one_run(script, read, home, tmp_path: Path) -> None:
    source = tmp_path / "host.py"
    source.write_text(
        "import paddock, socket\n"
        "run = paddock.init(id='hosts', mode='shared')\n"
        "for step in range(100):\n"
        "    run.log({socket.gethostname(): step}, step=step)\n"
    )
    hosts = ["node-a", "node-b", "node-c"]
    command = "hostname {host} && exec {python} {source}"
    started = [
        subprocess.Popen(
            ["unshare", "--uts", "sh", "-c", command.format(host=host, python=sys.executable, source=source)]
        )
        for host in hosts
    ]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    found = read(home.runs / "hosts")
    assert {record["host"] for record in found.records["open"]} == set(hosts)
    assert all(found.values(host) == list(range(100)) for host in hosts)


LAUNCHES = """
    import os, subprocess, sys
    train = "import paddock, sys; r = paddock.init(config={'lr': float(sys.argv[1])}); r.log({'a': r.rank})"
    for lr in ("0.1", "0.01"):
        ranks = []
        for rank in range(2):
            environ = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": "29500", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2"}
            ranks.append(subprocess.Popen([sys.executable, "-c", train, lr], env=environ))
        assert [r.wait() for r in ranks] == [0, 0]
"""


def test_launches_one_after_the_other_from_one_parent_are_runs_of_their_own(script, read, home) -> None:
    assert script(LAUNCHES).wait() == 0
    runs = [read(directory) for directory in home.runs.iterdir()]
    assert sorted(found.facts["config"]["lr"] for found in runs) == [0.01, 0.1]
    assert all(sorted(found.values("a")) == [0, 1] for found in runs)


DRIVER = """
    import subprocess, sys
    import paddock
    paddock.init(id="driver", config={"sweep": True})
    train = "import paddock, sys; r = paddock.init(project='p', config={'lr': 1}); print(r.id, r.config.lr)"
    helper = "import paddock; paddock.log({'helped': 1})"
    subprocess.run([sys.executable, "-c", train], check=True)
    subprocess.run([sys.executable, "-c", helper], check=True)
"""


def test_a_program_that_says_what_it_is_is_a_run_of_its_own_and_a_helper_joins(script, read, home) -> None:
    process = script(DRIVER, stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    child, lr = out.decode().split()
    assert lr == "1" and child != "driver"
    found = read(home.runs / child)
    assert (found.facts["parent"], found.facts["project"], found.facts["config"]) == ("driver", "p", {"lr": 1})
    assert read(home.runs / "driver").values("helped") == [1]


def test_a_journal_that_is_removed_under_a_run_is_put_back_whole(script, read, home) -> None:
    process = script(
        """
        import os, time
        import paddock
        run = paddock.init(id="removed")
        run.log({"a": 1})
        (journal,) = run.path.glob("journal/*.jsonl")
        journal.unlink()
        run.log({"a": 2})
        while not journal.exists():
            time.sleep(0.05)
        run.log({"a": 3})
        """
    )
    assert process.wait(timeout=60) == 0
    found = read(home.runs / "removed")
    assert found.values("a") == [1, 2, 3]
    assert found.records["end"][0]["code"] == 0


def test_of_two_processes_with_one_new_id_one_gets_it(script, home) -> None:
    source = "import paddock, time\nr = paddock.init(id='one')\nr.log({'a': 1})\ntime.sleep(1)\n"
    both = [script(source, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert sorted(process.wait(timeout=60) for process in both) == [0, 1]


def test_a_process_that_finds_its_new_id_taken_after_it_has_looked_does_not_get_it(script, home) -> None:
    """The other one is faster between its look and its first word."""
    late = """
        import sys, time
        import paddock
        from paddock.track import start
        look = start._directory
        def slow(*given):
            found = look(*given)
            print("looked", flush=True)
            while not found[1].facts.exists():
                time.sleep(0.01)
            return found
        start._directory = slow
        paddock.init(id="one")
        """
    process = script(late, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"looked\n"
    assert script("import paddock\npaddock.init(id='one')", stderr=subprocess.DEVNULL).wait(timeout=60) == 0
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1 and "There is a run 'one' already" in said
    assert len(list(home.run("one").journals.iterdir())) == 1

"""Whatever a task's processes do to escape, none survives it: 0 survivors is what is counted here."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.work.processes import cgroup, process
from paddock.work.processes.clock import boot_time
from paddock.work.processes.guard import Event, Exited, Fenced, Guard, GuardDied, Started
from paddock.work.processes.process import Process
from tests.waiting import until

# The interpreter warns when it forks while the test runner has threads. The guard is one call away from its fork.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

STAY = "sleep 1000"
ESCAPES = {
    "background": "sh leaf & wait_for_leaf",
    "re-parented": "(sh leaf &) ; wait_for_leaf",
    "setsid": "setsid sh leaf & wait_for_leaf",
    "nohup": "nohup sh leaf & wait_for_leaf",
    "ignores SIGTERM": "trap '' TERM; sh leaf & wait_for_leaf",
    "daemon": "(setsid sh leaf <&- >&- 2>&- &) ; wait_for_leaf",
    "daemon without environment": "(setsid env -i sh leaf <&- >&- 2>&- &) ; wait_for_leaf",
    "two sessions down": "setsid sh -c 'setsid sh leaf & wait' & wait_for_leaf",
}
LEAF = "echo $$ >>leaves.new; mv leaves.new leaves; exec sleep 1000"
PRELUDE = "wait_for_leaf() { while [ ! -s leaves ]; do sleep 0.01; done; }"


class Yard:
    """A directory in which tasks run under a guard, and where escaped processes leave their pids."""

    def __init__(self, guard: Guard, directory: Path) -> None:
        self.guard, self.directory = guard, directory
        (directory / "leaf").write_text(LEAF)
        self.output = os.open(directory / "output.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self.events: list[Event] = []

    def sh(self, key: str, script: str, grace: float = 30.0) -> None:
        script = f"cd {self.directory}\n{PRELUDE}\n{script}"
        self.guard.spawn(key, ["/bin/sh", "-c", script], {"PATH": os.environ["PATH"]}, self.output, 0, grace)

    def wait(self, kind: Any, key: str = "", renew: bool = False) -> Any:
        """The first event of that kind; `renew`: and as a worker does it, the lease is kept until then."""

        def seen() -> Event | None:
            if renew:
                self.guard.renew()
            self.events += self.guard.poll(0.02)
            return next((e for e in self.events if isinstance(e, kind) and (not key or e.key == key)), None)  # type: ignore[union-attr]

        return until(seen)

    def leaf(self) -> Process:
        path = self.directory / "leaves"
        pid = int(until(lambda: path.exists() and path.read_text().split())[0])
        found = process.look(pid)
        assert found is not None
        return found


def lives(one: Process) -> bool:
    now = process.look(one.pid)
    return now is not None and now.lives and now.start == one.start


def below(pid: int) -> list[Process]:
    return [found for found in process.tree([pid], process.table()) if found.pid != pid]


@pytest.fixture(params=["cgroup", "no cgroup"])
def cgroups(request: pytest.FixtureRequest) -> bool:
    if request.param == "cgroup" and not cgroup.usable():
        pytest.skip("no control groups can be made here")
    return bool(request.param == "cgroup")


@pytest.fixture
def yard(cgroups: bool, tmp_path: Path) -> Iterator[Yard]:
    made = Yard(Guard.start(0, cgroups=cgroups), tmp_path)
    yield made
    made.guard.close()
    os.close(made.output)


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("grace", [0.0, 0.2])
def test_nothing_survives_a_kill(yard: Yard, escape: str, grace: float) -> None:
    yard.sh("a", f"{ESCAPES[escape]}; {STAY}")
    leaf = yard.leaf()
    yard.guard.kill("a", grace)
    assert yard.wait(Exited, "a").how == "killed"
    assert not lives(leaf)
    assert below(yard.guard.pid) == []


@pytest.mark.parametrize("escape", ESCAPES)
def test_nothing_survives_the_end_of_the_task(yard: Yard, escape: str) -> None:
    yard.sh("a", f"{ESCAPES[escape]}; while [ ! -e go ]; do sleep 0.01; done; exit 4")
    leaf = yard.leaf()  # looked at before the task may end, and take it along
    (yard.directory / "go").touch()
    ended = yard.wait(Exited, "a")
    assert (os.waitstatus_to_exitcode(ended.status), ended.how) == (4, "itself")
    assert not lives(leaf)
    assert below(yard.guard.pid) == []


@pytest.mark.parametrize("escape", ESCAPES)
def test_nothing_survives_a_stopped_task(yard: Yard, escape: str) -> None:
    yard.sh("a", f"{ESCAPES[escape]}; {STAY}")
    leaf = yard.leaf()
    yard.guard.stop("a")
    yard.guard.kill("a", 0.2)
    yard.wait(Exited, "a")
    assert not lives(leaf)
    assert below(yard.guard.pid) == []


@pytest.mark.parametrize("escape", ESCAPES)
def test_the_processes_of_other_tasks_go_on(yard: Yard, escape: str) -> None:
    yard.sh("other", f"{ESCAPES[escape]}; {STAY}")
    leaf = yard.leaf()
    for n in range(20):
        yard.sh(f"a{n}", f"{STAY} & setsid {STAY} & exit 0")
        yard.wait(Exited, f"a{n}")
    assert lives(leaf)
    yard.guard.kill("other", 0)
    yard.wait(Exited, "other")
    assert not lives(leaf)
    assert below(yard.guard.pid) == []


def test_a_daemon_that_could_be_of_two_tasks_lives_as_long_as_either(tmp_path: Path) -> None:
    """Without a control group nothing tells whose it is, and to end a task's own process would be worse."""
    yard = Yard(Guard.start(0, cgroups=False), tmp_path)
    yard.sh("other", STAY)
    yard.sh("a", f"{ESCAPES['daemon without environment']}; {STAY}")
    leaf = yard.leaf()
    yard.guard.kill("a", 0)
    yard.wait(Exited, "a")
    assert lives(leaf)
    yard.guard.kill("other", 0)
    yard.wait(Exited, "other")
    assert not lives(leaf)
    yard.guard.close()
    os.close(yard.output)


def test_a_tree_that_grows_while_it_is_killed(yard: Yard) -> None:
    """It doubles seven times; the kill comes in the middle."""
    yard.sh("a", "f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; echo x >>grown; sleep 1000; }; f 7")
    until(lambda: (yard.directory / "grown").exists())
    yard.guard.kill("a", 0)
    yard.wait(Exited, "a")
    assert below(yard.guard.pid) == []


def test_a_process_that_keeps_becoming_another_one_is_caught(yard: Yard) -> None:
    """Each lives for some milliseconds, starts its successor and ends: a list of pids is old when it is read."""
    step = "echo x >>steps; sleep 0.004; sh step &"
    (yard.directory / "step").write_text(step)
    yard.sh("a", f"sh step; {STAY}")
    until(lambda: (yard.directory / "steps").exists() and (yard.directory / "steps").stat().st_size > 20)
    yard.guard.kill("a", 0)
    yard.wait(Exited, "a")
    assert below(yard.guard.pid) == []
    size = (yard.directory / "steps").stat().st_size
    time.sleep(0.1)
    assert (yard.directory / "steps").stat().st_size == size


def test_a_stopped_task_uses_no_processor_until_it_goes_on(yard: Yard) -> None:
    burn = "while :; do :; done"
    yard.sh("a", f"sh -c '{burn}' & setsid sh -c '{burn}' & (sh leaf; {burn}) & {burn}")
    leaf = yard.leaf()

    def used() -> list[int]:
        """Ticks of processor time of each process; of one that ends while they are read there are none."""
        ticks = []
        for one in below(yard.guard.pid):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split()
                ticks.append(int(fields[11]) + int(fields[12]))
        return sorted(ticks)

    until(lambda: sum(ticks > 0 for ticks in used()) >= 3)
    yard.guard.stop("a")

    def rests() -> bool:
        before = used()
        time.sleep(0.2)
        return used() == before

    until(rests)
    before = used()
    time.sleep(0.5)
    assert used() == before
    assert lives(leaf)
    yard.guard.resume("a")
    until(lambda: sum(used()) > sum(before) + 3)
    yard.guard.kill("a", 0)
    yard.wait(Exited, "a")
    assert below(yard.guard.pid) == []


def test_the_timeout_of_a_stopped_task_waits(yard: Yard) -> None:
    timeout = 2.0  # seconds: so long that a busy machine ends the task by then once it goes on
    yard.guard.spawn("a", ["/bin/sleep", "0.1"], {}, yard.output, timeout)
    yard.guard.stop("a")
    time.sleep(timeout + 0.5)
    yard.guard.resume("a")
    ended = yard.wait(Exited, "a")
    assert (ended.status, ended.how) == (0, "itself")


def test_a_lease_that_is_not_renewed_ends_everything(cgroups: bool, tmp_path: Path) -> None:
    yard = Yard(Guard.start(0.5, cgroups=cgroups), tmp_path)
    yard.sh("a", f"{ESCAPES['daemon without environment']}; trap '' TERM; {STAY}")
    yard.sh("b", f"trap '' TERM; {STAY}")
    assert yard.wait(Exited, "a").how == "fenced"
    assert yard.wait(Exited, "b").how == "fenced"
    yard.wait(Fenced)
    assert below(yard.guard.pid) == []
    yard.sh("too late", STAY)
    assert yard.wait(Exited, "too late").how == "fenced"
    yard.guard.renew()
    yard.sh("again", "true")
    assert yard.wait(Exited, "again", renew=True).status == 0
    yard.guard.close()
    os.close(yard.output)


def test_a_renewal_of_long_ago_saves_no_task(tmp_path: Path) -> None:
    """As a worker says it again and again whose Redis is away."""
    yard = Yard(Guard.start(0.5), tmp_path)
    yard.sh("a", STAY)
    heard = boot_time()

    def ended() -> bool:
        yard.guard.renew(heard)
        yard.events += yard.guard.poll(0.01)
        return any(isinstance(event, Exited) for event in yard.events)

    until(ended)
    assert yard.wait(Exited, "a").how == "fenced"
    yard.guard.close()
    os.close(yard.output)


def test_a_renewal_that_comes_after_its_time_saves_no_task(tmp_path: Path) -> None:
    """As after a machine has slept: the guard hears of it before it has looked at the clock."""
    yard = Yard(Guard.start(5.0), tmp_path)
    yard.sh("a", STAY)
    yard.wait(Started, "a", renew=True)
    os.kill(yard.guard.pid, signal.SIGSTOP)
    time.sleep(5.5)
    yard.guard.renew()
    os.kill(yard.guard.pid, signal.SIGCONT)
    assert yard.wait(Exited, "a", renew=True).how == "fenced"
    yard.sh("again", "true")
    assert yard.wait(Exited, "again", renew=True).status == 0
    yard.guard.close()
    os.close(yard.output)


def test_renewals_in_time_count_when_they_are_heard_late(tmp_path: Path) -> None:
    yard = Yard(Guard.start(5.0), tmp_path)
    yard.sh("a", STAY)
    yard.wait(Started, "a", renew=True)
    os.kill(yard.guard.pid, signal.SIGSTOP)
    end = time.monotonic() + 6
    while time.monotonic() < end:
        yard.guard.renew()
        time.sleep(0.1)
    os.kill(yard.guard.pid, signal.SIGCONT)
    yard.guard.kill("a", 0)
    assert yard.wait(Exited, "a", renew=True).how == "killed"
    yard.guard.close()
    os.close(yard.output)


def test_a_lease_that_is_renewed_keeps_a_task_running(tmp_path: Path) -> None:
    yard = Yard(Guard.start(5.0), tmp_path)
    yard.sh("a", "sleep 6")
    assert yard.wait(Exited, "a", renew=True).how == "itself"
    yard.guard.close()
    os.close(yard.output)


LEASE_SECONDS = 5.0  # so long that a busy machine lets a worker that lives renew it
WORKER = """
    import os, sys, time
    from paddock.work.processes.guard import Guard
    guard = Guard.start(float(sys.argv[2]), cgroups=sys.argv[3] == "True")
    output = os.open("/dev/null", os.O_WRONLY)
    for n, script in enumerate(sys.argv[4:]):
        guard.spawn(f"w{os.getpid()}.{n}", ["/bin/sh", "-c", script], dict(os.environ), output)
    with open(sys.argv[1], "w") as file:
        file.write(str(guard.pid) + "\\n")
    while True:
        guard.renew()
        time.sleep(0.05)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP, signal.SIGINT])
def test_tasks_do_not_outlive_their_worker(script, cgroups: bool, tmp_path: Path, how: signal.Signals) -> None:
    """Killed, interrupted, or stopped for longer than its lease."""
    (tmp_path / "leaf").write_text(LEAF)
    tasks = [f"cd {tmp_path}; {PRELUDE}; trap '' TERM; {text}; {STAY}" for text in ESCAPES.values()]
    worker = script(WORKER, tmp_path / "guard", LEASE_SECONDS, cgroups, *tasks, stderr=-3)
    guard = int(until(lambda: (tmp_path / "guard").exists() and (tmp_path / "guard").read_text().strip()))
    until(lambda: sum(one.state == "S" for one in below(guard)) >= 2 * len(tasks))
    family = below(guard)
    worker.send_signal(how)
    until(lambda: not any(lives(one) for one in family))
    if how is signal.SIGSTOP:
        until(lambda: below(guard) == [])  # what was started after the family was listed ends with it, not before
        worker.kill()
    until(lambda: process.look(guard) is None or not process.look(guard).lives)  # type: ignore[union-attr]
    assert not any(lives(one) for one in family)


@pytest.mark.parametrize("escape", ESCAPES)
def test_when_the_guard_is_killed_its_tasks_are_found_by_their_token(yard: Yard, cgroups: bool, escape: str) -> None:
    if escape == "daemon without environment" and not cgroups:
        pytest.skip("nothing tells whose it is, then")
    key = f"{yard.directory.name}~w{os.getpid()}.1"
    yard.sh(key, f"{ESCAPES[escape]}; {STAY}")
    leaf = yard.leaf()
    family = below(yard.guard.pid)
    assert leaf.identity in {one.identity for one in family}
    if cgroups:
        until(lambda: (group := cgroup.existing(key)) is not None and leaf.pid in group.members())
    os.kill(yard.guard.pid, signal.SIGKILL)
    yard.wait(GuardDied)
    yard.sh("nobody runs this", "true")
    assert yard.guard.poll(0) == []
    assert process.kill_marked(key) >= 2  # the shell and the leaf
    assert not any(lives(one) for one in family)
    assert cgroup.existing(key) is None


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_task_that_stays_is_moved_into_its_group_with_all_it_has_started(
    yard: Yard, cgroups: bool, escape: str
) -> None:
    if not cgroups:
        pytest.skip("there is none, then")
    key = f"{yard.directory.name}~w{os.getpid()}.2"
    yard.sh(key, f"{ESCAPES[escape]}; {STAY}")
    leaf = yard.leaf()
    until(lambda: (group := cgroup.existing(key)) is not None and leaf.pid in group.members())
    group = cgroup.existing(key)
    assert group is not None
    until(lambda: {one.pid for one in below(yard.guard.pid)} == set(group.members()))
    yard.guard.kill(key, 0)
    yard.wait(Exited, key)
    assert not lives(leaf)
    until(lambda: cgroup.existing(key) is None)


def test_a_task_that_is_killed_while_it_is_moved_leaves_nothing(yard: Yard) -> None:
    for n in range(12):
        yard.sh(f"a{n}", f"{STAY} & setsid {STAY} & {STAY}")
        time.sleep(0.045 + n / 1000)
        yard.guard.kill(f"a{n}", 0)
        yard.wait(Exited, f"a{n}")
    assert below(yard.guard.pid) == []


def test_signals_to_the_guard_do_not_end_it(yard: Yard) -> None:
    yard.sh("a", STAY)
    for name in ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "PIPE", "TSTP", "ALRM"):
        os.kill(yard.guard.pid, getattr(signal, f"SIG{name}"))
    yard.sh("b", "true")
    assert yard.wait(Exited, "b").status == 0
    assert not any(isinstance(event, Exited) and event.key == "a" for event in yard.events)


def test_a_guard_that_was_stopped_catches_up(yard: Yard) -> None:
    os.kill(yard.guard.pid, signal.SIGSTOP)
    for n in range(50):
        yard.sh(f"k{n}", f"exit {n}")
    os.kill(yard.guard.pid, signal.SIGCONT)
    assert [os.waitstatus_to_exitcode(yard.wait(Exited, f"k{n}").status) for n in range(50)] == list(range(50))


def test_the_guard_touches_no_disk(yard: Yard, tmp_path: Path) -> None:
    """A disk that hangs must not keep it from ending the tasks."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    yard.sh("before", "true")
    yard.wait(Exited, "before")  # it has settled: on its way to its place it looks at the disk
    trace = tmp_path / "trace"
    command = [strace, "-qq", "-f", "-y", "-e", "trace=%file,getdents64", "-o", str(trace), "-p", str(yard.guard.pid)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tracer:
        try:
            until(lambda: tracer.poll() is not None or b"TracerPid:\t0" not in _status(yard.guard.pid))
            if tracer.poll() is not None:
                pytest.skip("strace may not attach here")
            for n, escape in enumerate(ESCAPES.values()):
                yard.sh(f"a{n}", f"{escape}; {STAY}")
            yard.leaf()
            yard.guard.stop("a0")
            yard.guard._order({"nonsense": 1})
            for n in range(len(ESCAPES)):
                yard.guard.kill(f"a{n}", 0.1)
                yard.wait(Exited, f"a{n}")
        finally:
            tracer.terminate()
    calls = [
        line.split(maxsplit=1)[1] for line in trace.read_text().splitlines() if line.startswith(f"{yard.guard.pid} ")
    ]
    paths = {path for call in calls for path in re.findall(r'"(/[^"]*)"', call) if not call.startswith("exec")}
    assert any(path.startswith("/proc/") for path in paths), (calls, trace.read_text()[-2000:])
    assert {path for path in paths if not path.startswith(("/proc", "/sys/fs/cgroup", "/dev/null"))} == set()


def _status(pid: int) -> bytes:
    return Path(f"/proc/{pid}/status").read_bytes()

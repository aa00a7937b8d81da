from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from paddock.work.processes import process
from paddock.work.processes.guard import Exited, Guard, Started
from tests.waiting import until

# The interpreter warns when it forks while the test runner has threads. The guard is one call away from its fork.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_an_exit_code_arrives(bench) -> None:
    bench.sh("a", "exit 7")
    ended = bench.exit("a")
    assert (os.waitstatus_to_exitcode(ended.status), ended.how, ended.reason) == (7, "itself", "")
    assert ended.seconds > 0


def test_a_death_by_signal_arrives(bench) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT):
        bench.sh("a", f"ulimit -c 0; kill -{int(number)} $$")
        assert os.waitstatus_to_exitcode(bench.exit("a").status) == -number


def test_started_comes_first_and_names_the_process(bench) -> None:
    bench.sh("a", "echo $$; exec sleep 1000")
    started: Started = bench.wait(Started, "a")
    assert str(process.look(started.pid).start) == started.start
    _wait_for(bench, "\n")
    bench.guard.kill("a", 0)
    bench.exit("a")
    assert bench.text == f"{started.pid}\n"


def test_output_and_errors_keep_their_order(bench) -> None:
    bench.sh("a", "for n in $(seq 200); do echo out $n; echo err $n >&2; done")
    bench.exit("a")
    assert bench.text.split("\n")[:-1] == [f"{kind} {n}" for n in range(1, 201) for kind in ("out", "err")]


def test_a_task_starts_in_a_clean_place(bench) -> None:
    where = "/proc/self/fd; readlink /proc/self/fd/0; pwd; cut -d' ' -f6 /proc/$$/stat; echo $$"
    bench.guard.spawn("a", ["/bin/sh", "-c", f"ls {where}"], bench.env, bench.output)
    bench.exit("a")
    *descriptors, null, directory, session, pid = bench.text.split()
    assert descriptors == ["0", "1", "2", "3"]  # the last one is that of ls itself
    assert (null, directory, session) == ("/dev/null", "/", pid)


def test_a_task_has_the_given_environment_and_its_token(bench) -> None:
    bench.env |= {"ODD": "a b\n=\udcff"}
    bench.sh("the key", "cat /proc/$$/environ")
    bench.exit("the key")
    entries = bench.path.read_bytes().split(b"\0")
    assert b"PADDOCK_TASK_TOKEN=the key" in entries
    assert b"ODD=a b\n=\xff" in entries
    assert not any(entry.startswith(b"PADDOCK_HOME") for entry in entries)


def test_signals_are_as_at_a_login(bench) -> None:
    """The guard ignores some and its forebears blocked others; a task would inherit both."""
    bench.guard.spawn("a", ["/bin/grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], bench.env, bench.output)
    bench.exit("a")
    unnamed = 0b11 << 31  # two that the C library keeps for itself
    assert [int(line.split()[1], 16) & ~unnamed for line in bench.text.splitlines()] == [0, 0]


def test_an_environment_larger_than_a_message(bench) -> None:
    bench.env |= {f"V{n}": "x" * 100_000 for n in range(10)}
    bench.sh("a", "echo ${#V9}")
    assert bench.exit("a").status == 0
    assert bench.text == "100000\n"


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (["/bin/sh", "-c", "x" * 200_000], {}),
        (["/bin/sh", "-c", "a\0b"], {}),
        (["/bin/sh", "-c", "true"], {"A=B": "c"}),
        ([], {}),
    ],
)
def test_what_cannot_be_started_is_told_with_a_reason(bench, argv, env) -> None:
    bench.guard.spawn("a", argv, env, bench.output)
    ended = bench.exit("a")
    assert os.waitstatus_to_exitcode(ended.status) == 127
    assert ended.reason.startswith("The task cannot be started: ")
    bench.sh("a", "true")
    assert bench.exit("a").status == 0


def test_a_missing_program_ends_with_127(bench) -> None:
    bench.guard.spawn("a", ["/no/such/program"], bench.env, bench.output)
    ended = bench.exit("a")
    assert os.waitstatus_to_exitcode(ended.status) == 127
    assert "/no/such/program" in ended.reason + bench.text


def test_a_key_runs_once_at_a_time(bench) -> None:
    bench.sh("a", "sleep 1000")
    with pytest.raises(ValueError, match="runs already"):
        bench.sh("a", "true")
    with pytest.raises(ValueError, match="characters"):
        bench.sh("", "true")


def test_orders_about_what_does_not_run_are_ignored(bench) -> None:
    for order in (bench.guard.stop, bench.guard.resume, bench.guard.kill):
        order("nobody")
    bench.guard._order({"nonsense": 1})
    bench.guard._order({"do": "spawn", "key": "no descriptors", "timeout": 0, "grace": 0})
    assert "cannot be started" in bench.exit("no descriptors").reason
    bench.sh("a", "true")
    assert bench.exit("a").status == 0


def test_a_task_is_asked_before_it_is_killed(bench) -> None:
    bench.sh("a", "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done")
    _wait_for(bench, "ready")
    bench.guard.kill("a", 60)
    ended = bench.exit("a")
    assert (os.waitstatus_to_exitcode(ended.status), ended.how) == (5, "killed")
    assert "asked" in bench.text


def test_a_task_that_does_not_listen_is_killed_after_its_grace(bench) -> None:
    bench.sh("a", "trap '' TERM; echo ready; while :; do sleep 0.01; done")
    _wait_for(bench, "ready")
    bench.guard.kill("a", 0.2)
    ended = bench.exit("a")
    assert (os.waitstatus_to_exitcode(ended.status), ended.how) == (-signal.SIGKILL, "killed")


def test_a_second_kill_shortens_the_grace(bench) -> None:
    bench.sh("a", "trap '' TERM; echo ready; while :; do sleep 0.01; done")
    _wait_for(bench, "ready")
    bench.guard.kill("a", 100_000)
    bench.guard.kill("a", 0)
    assert bench.exit("a").how == "killed"


def test_a_timeout_ends_a_task(bench) -> None:
    bench.sh("a", "sleep 1000", timeout=0.1, grace=60)
    ended = bench.exit("a")
    assert (os.waitstatus_to_exitcode(ended.status), ended.how) == (-signal.SIGTERM, "timed out")


_PEAKS = """
import os, sys
from paddock.work.processes.guard import Exited, Guard

guard = Guard.start(0, cgroups=sys.argv[2] == "True")
output = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
guard.spawn("a", [sys.executable, "-c", "x = b'x' * 300_000_000"], dict(os.environ), output)
guard.spawn("b", ["/bin/true"], dict(os.environ), output)
peaks = {}
while len(peaks) < 2:
    peaks |= {event.key: event.max_rss for event in guard.poll(1) if isinstance(event, Exited)}
print(peaks["a"], peaks["b"])
guard.close()
"""


def test_the_peak_memory_of_a_task_is_told_and_of_a_small_one_what_it_took_at_most(cgroups, tmp_path) -> None:
    # In a process of its own: a guard is a fork, and as large as what it was forked from. The test runner can be huge.
    argv = [sys.executable, "-c", _PEAKS, str(tmp_path / "output.log"), str(cgroups)]
    told = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    large, small = map(int, (told.stdout or told.stderr).split())
    assert 300_000_000 <= large < 600_000_000
    assert 0 < small < 50_000_000


def test_many_tasks_at_once_each_get_their_own_exit(bench) -> None:
    for n in range(40):
        bench.sh(f"k{n}", f"sleep 0.0{n % 10}; exit {n}")
    assert [os.waitstatus_to_exitcode(bench.exit(f"k{n}").status) for n in range(40)] == list(range(40))


def test_hundreds_of_tasks_leave_nothing_behind(bench, long: bool) -> None:
    def descriptors() -> int:
        return len(os.listdir(f"/proc/{bench.guard.pid}/fd"))

    bench.sh("first", "true")
    bench.exit("first")
    before = descriptors(), len(os.listdir("/proc/self/fd"))
    for n in range(1000 if long else 200):
        bench.guard.spawn(f"k{n}", ["/bin/true"], bench.env, bench.output)
        assert bench.exit(f"k{n}").status == 0
        bench.events.clear()
    bench.sh("last", "true")
    bench.exit("last")
    bench.guard.renew()
    until(lambda: descriptors() <= before[0])  # outputs are closed together
    assert len(os.listdir("/proc/self/fd")) <= before[1]
    assert process.children(bench.guard.pid) == []


def test_close_ends_everything_and_may_be_called_twice(bench) -> None:
    bench.sh("a", "trap '' TERM; setsid sleep 1000 & sleep 1000")
    pid = bench.wait(Started, "a").pid
    bench.guard.close()
    assert process.look(pid) is None
    assert process.look(bench.guard.pid) is None
    bench.guard.close()


def test_a_guard_of_a_worker_without_stdio(tmp_path) -> None:
    """Its channel may then have the number of a standard stream."""
    path = tmp_path / "seen"
    pid = os.fork()
    if pid == 0:
        for number in (0, 1, 2):
            os.close(number)
        guard = Guard.start(0)
        output = os.open(path, os.O_CREAT | os.O_WRONLY)
        guard.spawn("a", ["/bin/sh", "-c", "echo in; echo err >&2; exit 3"], {}, output)
        while not (ended := [e for e in guard.poll(60) if isinstance(e, Exited)]):
            pass
        guard.close()
        os._exit(os.waitstatus_to_exitcode(ended[0].status))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    assert path.read_text() == "in\nerr\n"


def _wait_for(bench, text: str) -> None:
    while text not in bench.text:
        bench.events += bench.guard.poll(0.01)

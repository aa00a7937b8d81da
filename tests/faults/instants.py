"""One operation of the queue, cut off at one instant after the other; each time a healthy worker does the rest.

    python -m tests.faults.instants work --tool audit
    python -m tests.faults.instants submit --tool strace --error ENOSPC

The audit tool needs nothing but Python: the process kills itself at its n-th look at or change of a file. With strace
the kernel does it at the n-th call of each kind, or gives back an error instead. The processes are forks of this one,
so that an instant takes milliseconds. What was found is printed as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from paddock.queue.directory import find_queue
from paddock.queue.lease import Lease
from paddock.queue.lifecycle import ACTIVE, QUEUED, Liveness, Place, Token
from paddock.work import starting
from paddock.work.attempts import settle
from paddock.work.options import Options
from paddock.work.queues import waiting
from paddock.work.slots import Slots
from paddock.work.worker import Worker
from tests.faults import gang_storm
from tests.faults.checker import Count, check
from tests.faults.farm import SENTENCE, Farm, forked
from tests.waiting import until

CALLS = (
    *("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "mkdir", "link", "ftruncate"),
    *("syncfs", "getdents64", "sendmsg", "recvfrom", "close"),
)
FAULTY = (
    *("openat", "write", "pwrite64", "fsync", "fdatasync", "syncfs", "rename", "unlink", "mkdir", "link", "getdents64"),
)
# Made by the worker alone, so that its threads can be followed without hitting the tasks and the guard.
THREADED = {"pwrite64", "fsync", "fdatasync", "syncfs", "rename", "unlink", "mkdir", "link", "ftruncate"}
UNAUDITED = ("write", "pwrite", "fsync", "fdatasync", "ftruncate")  # Python has no audit events for them
HUNG = 99 << 8  # the status of an operation that did not end by itself
TASKS, MANY = 3, 6  # few that are brought to the disk one by one, and enough to be brought there together


# The operations. They run in a fork, which is the one that dies.


def submit(farm: Farm, count: int = TASKS) -> None:
    tasks = farm.submit("true", count)
    with contextlib.suppress(OSError):  # the disk refuses the tests too
        (farm.directory / "acknowledged").write_text("\n".join(task.id for task in tasks))


def batch(farm: Farm) -> None:
    submit(farm, MANY)


def work(farm: Farm) -> None:
    """Take tasks, run them, put them away; one that fails is tried again."""
    # Seconds instead of minutes, for thousands of trials.
    waiting.AGAIN_SECONDS = settle.AGAIN_SECONDS = 0.2
    starting.TROUBLE_SECONDS = starting.REST_SECONDS = 0.2
    options = Options(Slots(2, ()), persist=False, grace=5.0, liveness=Liveness(beat=0.05))
    Worker(farm.home, [find_queue("default", farm.home)], options, farm.directory / "cache").run()


def prepare(operation: str, farm: Farm) -> list[str]:
    """What has to be there before; the ids of the tasks that must not be lost."""
    if operation in ("submit", "batch"):
        return []
    if operation == "gang":
        return [gang_storm.put(farm, 2, 0.0) for _ in range(2)]
    ids = [farm.put("true"), farm.put('test "$PADDOCK_ATTEMPT" -gt 1', retries=1)]
    if operation == "reclaim":
        leave_behind(farm, [*ids, farm.put("true")])
    else:
        ids += [farm.put("true", chk="true"), farm.put("true", after=[ids[0]])]
    return ids


def leave_behind(farm: Farm, ids: list[str]) -> None:
    """The tasks of a worker that is dead: a process that has ended wrote the lease."""
    pid = os.fork()
    if pid == 0:
        Lease(farm.queue.workers, "dead-1-abc")
        os._exit(0)
    os.waitpid(pid, 0)
    for task in ids:
        assert farm.queue.claim(Place(QUEUED, task), Token("dead-1-abc", 1), ACTIVE)


TYPICAL = {"submit": 25, "batch": 40, "work": 150, "reclaim": 150, "gang": 240}  # how many events there are, about
OPERATIONS: dict[str, Callable[[Farm], None]] = {"submit": submit, "batch": batch}
OPERATIONS |= dict.fromkeys(["work", "reclaim", "gang"], work)


# The tools


def audited(act: Callable[[], None], farm: Farm, number: int, errors: Path) -> int:
    """Kill it at the n-th audit event about a file of the farm, or write to whatever, in any of its threads."""

    def doomed() -> None:
        own, left, root = os.getpid(), number, str(farm.directory)

        def tick() -> None:
            nonlocal left
            left -= os.getpid() == own
            if left == 0:
                os.kill(own, signal.SIGKILL)

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event.startswith("socket.") or (event.startswith(("open", "os.")) and root in str(arguments)):
                tick()

        for name in UNAUDITED:
            setattr(os, name, _after(tick, getattr(os, name)))
        sys.addaudithook(hook)
        act()

    pid, start = forked(doomed, errors)
    os.close(start)
    return _ended(pid)


def _after(tick: Callable[[], None], call: Callable[..., object]) -> Callable[..., object]:
    def both(*arguments: object) -> object:
        tick()
        return call(*arguments)

    return both


def traced(
    act: Callable[[], None], options: list[str], errors: Path, tell: Callable[[int], None] = lambda pid: None
) -> int:
    """Let strace do something to it; `tell` hears which process it is."""
    pid, start = forked(act, errors)
    tell(pid)
    with subprocess.Popen(["strace", "-qq", *options, "-p", str(pid)], stderr=subprocess.DEVNULL) as tracer:
        until(lambda: "TracerPid:\t0" not in Path(f"/proc/{pid}/status").read_text() or tracer.poll() is not None)
        os.close(start)
        return _ended(pid)


def _ended(pid: int) -> int:
    """The status of a process that ends by itself; that of a killed one when it does not."""
    try:
        return until(lambda: [status for found, status in [os.waitpid(pid, os.WNOHANG)] if found], 60)[0]
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return HUNG


# One trial after the other


class Trial(NamedTuple):
    at: str
    status: int
    count: Count
    words: str  # what the operation said on stderr

    @property
    def was_cut(self) -> bool:
        return os.WIFSIGNALED(self.status)

    @property
    def faults(self) -> list[str]:
        found = [name for name in ("lost", "double", "stuck", "failed") if getattr(self.count, name)]
        crashed = not self.was_cut and os.waitstatus_to_exitcode(self.status) not in (0, SENTENCE)
        return found + (["crashed"] if crashed or "Traceback" in self.words else [])


def attempt(operation: str, at: str, cut: Callable[[Callable[[], None], Farm, Path], int]) -> Trial:
    directory = Path(tempfile.mkdtemp(prefix=f"paddock-{operation}-"))
    farm, errors = Farm(directory), directory / "errors"
    tasks = set(prepare(operation, farm))
    status = cut(lambda: OPERATIONS[operation](farm), farm, errors)
    until(lambda: not list(farm.guards()))
    acknowledged = directory / "acknowledged"
    tasks |= set(acknowledged.read_text().split()) if acknowledged.exists() else set()
    tasks |= {place.id for place in farm.queue.list().places}  # not acknowledged, but there: then it must be whole
    pid, start = forked(lambda: work(farm), directory / "healthy")
    os.close(start)
    _ended(pid)
    words = "".join(path.read_text() for path in (errors, directory / "healthy") if path.exists())
    found = Trial(at, status, check(farm, tasks), words)
    if not found.faults:
        shutil.rmtree(directory)
    return found


def import_ahead(operation: str) -> None:
    """What it imports while it works is imported here, for all its forks: that Python's own files can be read is not
    the queue's to promise."""
    with tempfile.NamedTemporaryFile("r") as names:

        def told(act: Callable[[], None], farm: Farm, errors: Path) -> int:
            def noted() -> None:
                act()
                Path(names.name).write_text("\n".join(sys.modules))

            pid, start = forked(noted, errors)
            os.close(start)
            return _ended(pid)

        attempt(operation, "nothing", told)
        for name in names.read().split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def by_audit(operation: str, sample: int) -> Iterator[Trial]:
    """At every event until the operation gets through, or at some that lie apart."""
    number, step = 1, max(1, TYPICAL[operation] // sample) if sample else 1
    while True:
        trial = attempt(operation, f"event {number}", lambda act, farm, errors: audited(act, farm, number, errors))  # noqa: B023
        yield trial
        if not trial.was_cut:
            return
        number += step


def by_strace(operation: str, sample: int, error: str) -> Iterator[Trial]:
    calls = FAULTY if error else CALLS
    fault = f"error={error}" if error else "signal=KILL"
    counts = count_calls(operation, calls)
    instants = [(call, number) for call in calls for number in range(1, counts[call] + 1)]
    step = max(1, len(instants) // sample) if sample else 1
    for call, number in instants[step // 2 :: step]:
        options = [*(["-f"] if call in THREADED else []), "-e", f"trace={call}"]
        options += ["-e", f"inject={call}:{fault}:when={number}", "-o", "/dev/null"]
        yield attempt(operation, f"{call} {number}", lambda act, farm, errors: traced(act, options, errors))  # noqa: B023


def count_calls(operation: str, calls: Sequence[str]) -> Counter[str]:
    """How often it makes each call when nothing happens to it: in its first thread, or in the one that makes most."""
    pids: list[int] = []
    with tempfile.NamedTemporaryFile() as log:
        options = ["-f", "-e", f"trace={','.join(calls)}", "-o", log.name]
        attempt(operation, "nothing", lambda act, farm, errors: traced(act, options, errors, pids.append))
        lines = Path(log.name).read_text().splitlines()
    counts = Counter[str]()
    for (who, call), count in Counter(map(_call, lines)).items():
        if call in THREADED or who == str(pids[0]):
            counts[call] = max(counts[call], count)
    return counts


def _call(line: str) -> tuple[str, str]:
    """Who, and what, in a line such as `4711 rename("a", "b") = 0`."""
    who, _, rest = line.partition(" ")
    return who, rest.strip().partition("(")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("--tool", choices=["audit", "strace"], default="audit")
    parser.add_argument("--error", default="", help="an error instead of a kill, such as EIO (strace)")
    parser.add_argument("--sample", type=int, default=0, help="about so many instants, instead of all")
    given = parser.parse_args()
    import_ahead(given.operation)
    trials = by_audit(given.operation, given.sample)
    if given.tool == "strace":
        trials = by_strace(given.operation, given.sample, given.error)
    number = cut = 0
    faults = []
    for trial in trials:
        number += 1
        cut += trial.was_cut
        if trial.faults:
            faults.append({"at": trial.at, "faults": trial.faults, "count": trial.count, "words": trial.words[-2000:]})
            print(json.dumps(faults[-1]), file=sys.stderr, flush=True)
    print(json.dumps({"trials": number, "cut": cut, "faults": faults}))


if __name__ == "__main__":
    main()

"""The processes of a task: to find all of them, and to end all of them.

A process is its pid and its start time, never a pid alone. Only /proc/<pid>/stat is read where it can be helped: the
other files wait for a lock that a process stuck on a dead disk may hold.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Set
from typing import NamedTuple

from paddock.queue import handover
from paddock.work.processes import cgroup

MARKER = handover.MARKER
PATIENCE = 15.0  # seconds after which a killed process that waits for a device is taken for dead
_TRIES = 20  # scans after which a tree that grows faster than we stop it is killed as far as it is known
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CATCHABLE = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
_libc = ctypes.CDLL(None, use_errno=True)


class Process(NamedTuple):
    pid: int
    start: int  # ticks since boot
    parent: int
    session: int
    state: str  # one letter, as in /proc/<pid>/stat
    threads: int

    @property
    def lives(self) -> bool:
        """A first thread that ended leaves a zombie's state behind while others still run."""
        return self.state not in "ZXx" or self.threads > 1

    @property
    def is_stopped(self) -> bool:
        return self.state in "Tt"

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.start


def spawn(argv: list[str], env: dict[str, str], output: int, stdin: int) -> int:
    """Start a program in a session of its own, its signals as at a login. The caller's other descriptors must close on
    exec, as they do in Python, and its directory is inherited. Far faster than a fork of this interpreter."""
    null = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
    return os.posix_spawn(
        argv[0],
        argv,
        env,
        file_actions=[
            null if stdin < 0 else (os.POSIX_SPAWN_DUP2, stdin, 0),
            (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, output, 2),
        ],
        setsid=True,
        setsigmask=[],
        setsigdef=_CATCHABLE,  # of those that are not named, the C library asks the system one by one
    )


def look(pid: int) -> Process | None:
    """What the system says about a process, dead and unburied ones included; None when there is none."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    return Process(pid, int(fields[19]), int(fields[1]), int(fields[3]), fields[0].decode(), int(fields[17]))


def table() -> dict[int, Process]:
    """Every living process that we may see."""
    found = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in found if process is not None and process.lives}


def children(pid: int) -> list[int]:
    """The direct children of a process's first thread, unburied ones included."""
    try:
        descriptor = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # a kernel built without that file
        return [process.pid for process in table().values() if process.parent == pid]
    try:
        found = b""
        while part := os.read(descriptor, 1 << 16):  # it comes in pages
            found += part
        return [int(number) for number in found.split()]
    except OSError:
        return []
    finally:
        os.close(descriptor)


def below(roots: Iterable[int]) -> list[int]:
    """The same processes as `tree`, from parent to child: what it costs follows their number, not that of all that run
    on this machine; but one whose parent ends meanwhile may be missed."""
    found = dict.fromkeys(roots)
    waiting = list(found)
    while waiting:
        pid = waiting.pop()
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        new = {int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split()}
        waiting += new - found.keys()
        found.update(dict.fromkeys(new))
    return list(found)


def tree(roots: Iterable[int], processes: Mapping[int, Process]) -> list[Process]:
    """The given processes and everything below them, parents first."""
    below: dict[int, list[Process]] = {}
    for process in processes.values():
        below.setdefault(process.parent, []).append(process)
    found = {pid: processes[pid] for pid in roots if pid in processes}
    waiting = list(found)
    while waiting:
        for process in below.get(waiting.pop(), ()):
            if process.pid not in found:
                found[process.pid] = process
                waiting.append(process.pid)
    return list(found.values())


def carries(pid: int, token: str) -> bool:
    """Whether the process was started with the token in its environment."""
    return f"{MARKER}={token}".encode("utf-8", "surrogateescape") in _read(f"/proc/{pid}/environ").split(b"\0")


def tokens_of(worker: str) -> set[str]:
    """The tokens of a worker's tasks that processes on this machine still carry."""
    start, part = f"{MARKER}=".encode(), f"~{worker}.".encode("utf-8", "surrogateescape")
    found: set[str] = set()
    for pid in table():
        for variable in _read(f"/proc/{pid}/environ").split(b"\0"):
            if variable.startswith(start) and part in variable:
                found.add(os.fsdecode(variable[len(start) :]))
    return found


def send(process: Process, number: int) -> bool:
    """Signal that very process; False when it is gone. The descriptor pins the pid while its start time is read."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    except (OSError, AttributeError):  # an old kernel: the check and the signal are two steps
        descriptor = -1
    try:
        now = look(process.pid)
        if now is None or now.start != process.start:
            return False
        if descriptor >= 0:
            signal.pidfd_send_signal(descriptor, number)
        else:
            os.kill(process.pid, number)
        return True
    except OSError:
        return False
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def kill_marked(token: str, grace: float = 0.0) -> int:
    """End whatever still carries a task's token, and everything below it, when no guard is left to do so. Returns how
    many processes that were. It never ends the caller or what the caller runs under."""
    ended: set[tuple[int, int]] = set()
    group = cgroup.existing(token) or next((cgroup.of(pid) for pid in table() if carries(pid, token)), None)
    if grace > 0:
        found = _marked(token, group)
        for process in found:
            send(process, signal.SIGTERM)
        if group is not None:
            group.freeze(False)
        for process in found:
            send(process, signal.SIGCONT)
        ended.update(process.identity for process in found)
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline and _marked(token, group):
            time.sleep(0.05)
    deadline = time.monotonic() + PATIENCE
    while True:
        found = _marked(token, group)
        if group is not None:
            group.kill()
        ended.update(process.identity for process in kill(found, lambda: _marked(token, group)))
        if not found:
            break
        time.sleep(0.01)
        # Who waits for a device dies without another step; who is another user's is not ours to kill.
        hopeless = [process.state == "D" or not send(process, 0) for process in _marked(token, group)]
        if time.monotonic() > deadline and all(hopeless):
            break
    if group is not None:
        group.remove()
    return len(ended)


def end_with(parent: int) -> bool:
    """Be told to end (SIGTERM) when the process that started us is gone; False when it is gone already."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    return os.getppid() == parent


def adopt_orphans() -> None:
    """From now on what loses its parent below us comes to us."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_adopted(since: int, known: Set[int]) -> None:
    """End everything below us that is not older than that tick and not one of the known children: what a guard that
    was killed has left to us, whatever it did to its session and its environment."""

    def adopted() -> list[Process]:
        processes = table()
        mine = [pid for pid in children(os.getpid()) if pid not in known]
        return tree([pid for pid in mine if pid in processes and processes[pid].start >= since], processes)

    deadline = time.monotonic() + PATIENCE
    while (found := adopted()) and time.monotonic() < deadline:
        kill(found, adopted)
        time.sleep(0.01)


def kill(found: Iterable[Process], again: Callable[[], Iterable[Process]]) -> set[Process]:
    """Kill a tree that may grow meanwhile: nothing that is stopped has children, so all are stopped first."""
    known = stop(found, again)
    for process in known:
        send(process, signal.SIGKILL)
    return known


def stop(found: Iterable[Process], again: Callable[[], Iterable[Process]]) -> set[Process]:
    """Stop a tree, and look again until nobody new has come."""
    known: dict[tuple[int, int], Process] = {}
    for _ in range(_TRIES):
        new = [process for process in found if process.identity not in known]
        if not new:
            break
        for process in new:
            known[process.identity] = process
            send(process, signal.SIGSTOP)
        found = again()
    return set(known.values())


def _marked(token: str, group: cgroup.Cgroup | None) -> list[Process]:
    processes = table()
    ours = {os.getpid()}
    parent = os.getppid()
    while parent in processes and parent not in ours:
        ours.add(parent)
        parent = processes[parent].parent
    members = set(group.members()) if group is not None else set()
    roots = [pid for pid in processes if pid not in ours and (pid in members or carries(pid, token))]
    return [process for process in tree(roots, processes) if process.pid not in ours]


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
            if len(part) < 4096:
                break
        return b"".join(parts)
    except OSError:  # it ended between the two calls
        return b""
    finally:
        os.close(descriptor)

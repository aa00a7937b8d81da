"""The guard: the process that is the parent of all of a worker's tasks, and ends them when it must.

It touches no disk that could hang: it opens files of /proc and of the control groups only, and what may wait for a disk
all the same (closing a task's output, writing to stderr) is a second thread's chore. So it can always end the tasks in
time: when the worker says so, when the worker is gone, when the worker's lease was not renewed.

Everything a task started is below the guard, whatever it did to escape, because orphans come to the nearest subreaper.
What came to the guard as an orphan belongs to the task whose control group, session or token it has; one without any
belongs to the only task that was there when it started, and is left alone as long as there are several.
"""

from __future__ import annotations

import array
import ctypes
import gc
import json
import os
import queue
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from paddock.work import cgroup, process
from paddock.work.process import Process

MESSAGE_BYTES = 1 << 16
LEFTOVER_GRACE = 1.0  # seconds that processes have which a task left behind when it ended by itself
_TICK = 1.0  # seconds at most between two looks at the fence: a timer does not run while a laptop sleeps
_PR_SET_CHILD_SUBREAPER = 36
_NOT_STARTED = 127 << 8  # the wait status of a shell that could not find a command
_ALL_SIGNALS = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
_IGNORED = ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "PIPE", "TSTP", "TTIN", "TTOU")
_libc = ctypes.CDLL(None, use_errno=True)


class Phase(Enum):
    RUNNING = 1
    TERMINATING = 2
    KILLING = 3


@dataclass
class Guarded:
    """A task from its start until its last process is gone."""

    key: str
    leader: Process
    timeout: float
    grace: float
    group: cgroup.Cgroup | None
    floor: int  # what the kernel says as the peak memory of a process that needs less than the guard
    began: float = field(default_factory=time.monotonic)
    phase: Phase = Phase.RUNNING
    how: str = "itself"
    deadline: float = 0.0  # of the grace; when killing, of our patience
    sweep_at: float = 0.0
    sweep_pause: float = 0.005
    stopped_at: float = 0.0
    ended: float = 0.0
    status: int = signal.SIGKILL
    usage: Any = None
    known: dict[tuple[int, int], Process] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.ended > 0


class GuardProcess:
    def __init__(self, channel: socket.socket, fence: float, use_cgroups: bool) -> None:
        self.channel, self.fence = channel, fence
        self.pid = os.getpid()
        self.tasks: dict[str, Guarded] = {}
        self.leaders: dict[int, Guarded] = {}
        self.owners: dict[tuple[int, int], str] = {}  # of orphans, once known
        self.renewed = boot_time()
        self.fenced = False
        self.leaving = 0.0  # when we began to leave
        self.outbox: list[bytes] = []
        self.unremoved: list[cgroup.Cgroup] = []
        self.chores: queue.SimpleQueue[int | bytes] = queue.SimpleQueue()  # close this, write that to stderr
        self.base = cgroup.usable() if use_cgroups else ""
        self.wake, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        threading.Thread(target=self._do_chores, daemon=True).start()

    # The loop

    def serve(self) -> None:
        poller = select.poll()
        poller.register(self.wake, select.POLLIN)
        watched = -1
        while not self._may_leave():
            wanted = 0 if self.leaving else select.POLLIN | (select.POLLOUT if self.outbox else 0)
            if wanted != watched:
                if wanted:
                    poller.register(self.channel, wanted)
                elif watched > 0:
                    poller.unregister(self.channel)
                watched = wanted
            try:
                poller.poll(self._pause() * 1000)
                self._turn()
            except Exception:
                self._log()
                time.sleep(0.01)

    def _turn(self) -> None:
        try:
            while os.read(self.wake, 512):
                pass
        except BlockingIOError:
            pass
        if not self.leaving:
            self._flush()
            self._receive()
        self._reap()
        self._check_fence()
        now = time.monotonic()
        for task in list(self.tasks.values()):
            try:
                self._step(task, now)
            except Exception:
                self._log()
        self._end_strays()
        self.unremoved = [group for group in self.unremoved if not group.remove()]

    def _pause(self) -> float:
        """Seconds until something is to be done although nothing happens."""
        if not self.tasks:
            return 0.02 if self.leaving or self.unremoved else 3600.0
        now = time.monotonic()
        pause = min(_TICK, self.fence / 4) if self.fence > 0 else _TICK * 10
        for task in self.tasks.values():
            if task.phase is Phase.KILLING:
                pause = min(pause, task.sweep_at - now)
            elif task.phase is Phase.TERMINATING:
                pause = min(pause, task.deadline - now)
            elif task.timeout > 0 and not task.stopped_at:
                pause = min(pause, task.began + task.timeout - now)
        return max(pause, 0.001)

    def _may_leave(self) -> bool:
        if not self.leaving or self.tasks:
            return False
        return not self._orphans() or time.monotonic() - self.leaving > process.PATIENCE

    def _leave(self) -> None:
        self.leaving = self.leaving or time.monotonic()
        for task in self.tasks.values():
            self._kill(task, "killed")

    # Talking

    def _receive(self) -> None:
        for _ in range(64):  # then see to the processes
            fds = array.array("i")
            try:
                # Not socket.recv_fds: it ignores its flags.
                flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
                data, extra, _, _ = self.channel.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(4 * fds.itemsize), flags)
                for _, _, sent in extra:
                    fds.frombytes(sent[: len(sent) - len(sent) % fds.itemsize])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:  # the worker is gone
                self._leave()
                return
            try:
                self._obey(json.loads(data), list(fds))
            except Exception:
                self._log()
            finally:
                for descriptor in fds:
                    self.chores.put(descriptor)
            if self.leaving:
                return

    def _obey(self, order: dict[str, Any], fds: list[int]) -> None:
        verb = order["do"]
        if verb == "spawn":
            self._spawn(order, fds)
        elif verb == "renew":
            self.renewed = max(self.renewed, min(order["at"], boot_time()))
            self.fenced = boot_time() - self.renewed > self.fence > 0
        elif verb == "bye":
            self._leave()
        elif (task := self.tasks.get(order["key"])) is not None:
            if verb == "stop":
                self._stop(task)
            elif verb == "resume":
                self._resume(task)
            elif verb == "kill":
                self._terminate(task, order["grace"], "killed")

    def _tell(self, event: dict[str, Any]) -> None:
        if not self.leaving:
            self.outbox.append(json.dumps(event).encode())
            self._flush()

    def _flush(self) -> None:
        """Never waits: a worker that is stopped does not read."""
        while self.outbox:
            try:
                self.channel.send(self.outbox[0], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.outbox.clear()
                return
            del self.outbox[0]

    # Starting

    def _spawn(self, order: dict[str, Any], fds: list[int]) -> None:
        key = order["key"]
        group = None
        try:
            if key in self.tasks:
                raise ValueError("it runs already")
            if self._is_late():
                self._tell({"is": "exited", "key": key, "status": int(signal.SIGKILL), "how": "fenced"})
                return
            payload, output = fds
            given = json.loads(os.pread(payload, os.fstat(payload).st_size, 0))
            argv, env = given["argv"], {**given["env"], process.MARKER: key}
            group = cgroup.make(self.base, key) if self.base else None
            command = group.enter(argv) if group is not None else argv
            pid = _start(command, env, output)
            floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        except Exception as error:
            if group is not None:
                group.remove()
            reason = f"The task cannot be started: {error}."[:1000]
            self._tell({"is": "exited", "key": key, "status": _NOT_STARTED, "how": "itself", "reason": reason})
            return
        leader = process.look(pid) or Process(pid, 0, self.pid, pid, "Z", 1)
        task = Guarded(key, leader, order["timeout"], order["grace"], group, floor)
        self.tasks[key] = self.leaders[pid] = task
        self._tell({"is": "started", "key": key, "pid": pid, "start": str(leader.start)})

    # Ending

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            task = self.leaders.pop(pid, None)
            if task is not None:
                task.ended, task.status, task.usage = time.monotonic(), status, usage

    def _step(self, task: Guarded, now: float) -> None:
        left = not task.is_over or bool(self._left(task))
        if not left:
            self._finish(task)
        elif task.is_over and task.phase is Phase.RUNNING:
            self._terminate(task, min(task.grace, LEFTOVER_GRACE), task.how)
        elif task.phase is Phase.RUNNING:
            if task.timeout > 0 and not task.stopped_at and now >= task.began + task.timeout:
                self._terminate(task, task.grace, "timed out")
        elif task.phase is Phase.TERMINATING:
            if now >= task.deadline:
                self._kill(task, task.how)
        elif now >= task.sweep_at:
            if now >= task.deadline and all(member.state == "D" for member in self._members(task)):
                self._finish(task, "It was killed, but still waits for a device.")
            else:
                self._sweep(task)

    def _terminate(self, task: Guarded, grace: float, how: str) -> None:
        if grace <= 0:
            self._kill(task, how)
            return
        now = time.monotonic()
        if task.phase is Phase.TERMINATING:
            task.deadline = min(task.deadline, now + grace)
        if task.phase is not Phase.RUNNING:
            return
        task.phase, task.deadline = Phase.TERMINATING, now + grace
        task.how = task.how if task.is_over else how
        members = self._members(task)
        for number in (signal.SIGTERM, signal.SIGCONT):  # a stopped process gets the first with the second
            if number == signal.SIGCONT and task.group is not None:
                task.group.freeze(False)
            for member in members:
                process.send(member, number)

    def _kill(self, task: Guarded, how: str) -> None:
        if task.phase is Phase.KILLING:
            return
        if task.phase is Phase.RUNNING and not task.is_over:
            task.how = how
        task.phase, task.deadline = Phase.KILLING, time.monotonic() + process.PATIENCE
        self._sweep(task)

    def _sweep(self, task: Guarded) -> None:
        if task.group is not None:
            task.group.kill()
        process.kill(self._members(task), lambda: self._members(task))
        task.sweep_at = time.monotonic() + task.sweep_pause
        task.sweep_pause = min(task.sweep_pause * 2, 0.1)

    def _finish(self, task: Guarded, reason: str = "") -> None:
        del self.tasks[task.key]
        self.leaders.pop(task.leader.pid, None)
        peak = 0
        if task.usage is not None and task.usage.ru_maxrss > task.floor:
            peak = task.usage.ru_maxrss * 1024
        if task.group is not None:
            peak = task.group.peak_memory() or peak
            if not task.group.remove():
                self.unremoved.append(task.group)
        self._tell(
            {
                "is": "exited",
                "key": task.key,
                "status": int(task.status),
                "how": task.how,
                "seconds": (task.ended or time.monotonic()) - task.began,
                "max_rss": peak,
                "user": task.usage.ru_utime if task.usage else 0.0,
                "system": task.usage.ru_stime if task.usage else 0.0,
                "reason": reason,
            }
        )

    def _is_late(self) -> bool:
        return self.fenced or boot_time() - self.renewed > self.fence > 0

    def _check_fence(self) -> None:
        if self.fenced or not self.tasks or not self._is_late():
            return
        self.fenced = True
        for task in self.tasks.values():
            self._kill(task, "fenced")
        self._tell({"is": "fenced"})

    # Stopping

    def _stop(self, task: Guarded) -> None:
        if task.phase is not Phase.RUNNING or task.stopped_at:
            return
        task.stopped_at = time.monotonic()
        if task.group is None or not task.group.freeze(True):
            process.stop(self._members(task), lambda: self._members(task))

    def _resume(self, task: Guarded) -> None:
        if not task.stopped_at or task.phase is not Phase.RUNNING:
            return
        task.timeout += time.monotonic() - task.stopped_at if task.timeout > 0 else 0.0
        task.stopped_at = 0.0
        if task.group is None or not task.group.freeze(False):
            for member in self._members(task):
                process.send(member, signal.SIGCONT)

    # Whose is it?

    def _members(self, task: Guarded) -> list[Process]:
        """Every living process of a task. Those seen before count too: while we look, parents end, and for a moment
        a child is below nobody we know."""
        processes = process.table()
        roots = [] if task.is_over else [task.leader.pid]
        roots += [orphan.pid for orphan in self._left(task)]
        roots += [pid for pid, start in task.known if pid in processes and processes[pid].start == start]
        found = process.tree(roots, processes)
        task.known = {member.identity: member for member in found}
        return found

    def _orphans(self) -> list[Process]:
        """What came to us because its parent ended."""
        found = [process.look(pid) for pid in process.children(self.pid) if pid not in self.leaders]
        return [orphan for orphan in found if orphan is not None and orphan.lives]

    def _left(self, task: Guarded) -> list[Process]:
        return [orphan for orphan in self._orphans() if self._owner(orphan) == task.key]

    def _owner(self, orphan: Process) -> str | None:
        """The task of an orphan; None when it may be of several, "" when it can be of none that runs."""
        known = self.owners.get(orphan.identity)
        if known in self.tasks:
            return known
        possible = [task for task in self.tasks.values() if task.leader.start <= orphan.start]
        if len(possible) < 2:
            return possible[0].key if possible else ""
        for task in possible:
            if (
                orphan.session == task.leader.pid
                or (task.group is not None and orphan.pid in task.group.members())
                or process.carries(orphan.pid, task.key)
            ):
                self.owners[orphan.identity] = task.key
                return task.key
        return None

    def _end_strays(self) -> None:
        """Orphans of tasks that are over."""
        if self.tasks or self.leaving or self.owners:
            orphans = self._orphans()
            self.owners = {o.identity: self.owners[o.identity] for o in orphans if o.identity in self.owners}
            for orphan in orphans:
                if self._owner(orphan) == "":
                    for member in process.tree([orphan.pid], process.table()):
                        process.send(member, signal.SIGKILL)

    # What may wait for a disk

    def _do_chores(self) -> None:
        while True:
            chore = self.chores.get()
            try:
                if isinstance(chore, int):
                    os.close(chore)
                else:
                    os.write(2, chore)
            except OSError:
                pass

    def _log(self) -> None:
        self.chores.put(b"paddock guard: " + traceback.format_exc().encode("utf-8", "replace"))


def _start(argv: list[str], env: dict[str, str], output: int) -> int:
    """All our descriptors close on exec, and we are in "/": nothing else of ours gets into the task."""
    return os.posix_spawn(
        argv[0],
        argv,
        env,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, output, 2),
        ],
        setsid=True,
        setsigmask=[],
        setsigdef=_ALL_SIGNALS,
    )


def boot_time() -> float:
    """Seconds since boot, those of sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def run(channel: socket.socket, fence: float, use_cgroups: bool) -> None:
    """What the forked process does, with all signals blocked until it is ready for them. Returns never."""
    try:
        # Objects of the worker must not be collected here: they would close descriptors that are ours by then.
        gc.disable()
        gc.freeze()
        warnings.simplefilter("ignore")
        os.setsid()  # Ctrl-C and Ctrl-Z in the worker's terminal are not meant for us
        os.chdir("/")
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for name in _IGNORED:
            signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
        _close_others(channel.fileno())
        guard = GuardProcess(channel, fence, use_cgroups)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        guard.serve()
    except BaseException:
        try:
            os.write(2, b"paddock guard: " + traceback.format_exc().encode("utf-8", "replace"))
        except OSError:
            pass
        os._exit(1)
    os._exit(0)


def _close_others(kept: int) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    if not os.path.exists("/proc/self/fd/2"):
        os.dup2(null, 2)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    os.closerange(3, kept)
    os.closerange(kept + 1, highest + 1)
    sys.stdout = sys.stderr = None

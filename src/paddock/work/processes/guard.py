"""The worker's side of its guard: orders out, events in.

    guard = Guard.start(fence=120)              before any thread exists: it forks
    guard.spawn(key, ["/bin/sh", "-c", "..."], env, output)
    for event in guard.poll(1.0): ...           Started, Exited, Fenced, GuardDied
    guard.close()

Every key that was spawned gets exactly one Exited, also when it could not be started, unless GuardDied comes first:
then `process.kill_marked(key)` ends what is left.
"""

from __future__ import annotations

import array
import marshal
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from paddock.work.processes import guarding, process
from paddock.work.processes.clock import boot_time

_CLOSE_SECONDS = process.PATIENCE + 15.0
_KEY_CHARACTERS = 1000
_INLINE_CHARACTERS = 5_000  # each takes at most 4 bytes, and a message that is read has 64 KiB


class Started(msgspec.Struct, frozen=True):
    key: str
    pid: int
    start: str  # ticks since boot


class Exited(msgspec.Struct, frozen=True):
    """A task's first process ended, and nothing of the others is left."""

    key: str
    status: int  # as from waitpid
    how: str  # itself, killed, fenced, timed out
    seconds: float = 0.0
    max_rss: int = 0  # bytes; 0 when it is not known (it needed less than the guard itself)
    user: float = 0.0  # seconds
    system: float = 0.0
    reason: str = ""  # why it could not be started, or buried


class Fenced(msgspec.Struct, frozen=True):
    """The lease was not renewed in time: everything was killed. Nothing starts until it is renewed."""


class GuardDied(msgspec.Struct, frozen=True):
    """Nobody guards the tasks any more."""


Event = Started | Exited | Fenced | GuardDied


class Guard:
    def __init__(self, channel: socket.socket, pid: int) -> None:
        self.pid = pid
        self._channel = channel
        self._died = False
        self._status = 0
        self._keys: set[str] = set()
        self._handed: dict[str, str] = {}  # what a process was called when it was started -> the task that it is

    @classmethod
    def start(
        cls, fence: float, *, cgroups: bool = True, env: Mapping[str, str] | None = None, starts: bool = True
    ) -> Guard:
        """Fork the guard. It kills everything when `renew` was not called for `fence` seconds; 0 is never. Tasks get
        `env` beside their own. Without `starts` it does not tell when they have started."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if pid == 0:
                guarding.run(theirs, fence, cgroups, dict(env or {}), starts)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        return cls(ours, pid)

    def fileno(self) -> int:
        return self._channel.fileno()

    # Orders. They return at once; to a dead guard they do nothing: `poll` tells.

    def spawn(
        self,
        key: str,
        argv: list[str],
        env: dict[str, str],
        output: int,
        timeout: float = 0.0,
        grace: float = 30.0,
        stdin: int = -1,
    ) -> None:
        """Run a command with its output going to a descriptor, which stays the caller's to close. One with a socket as
        its `stdin` is started ahead: it waits there to be told which task it is, and then `hand` is called."""
        if not 0 < len(key) <= _KEY_CHARACTERS:
            raise ValueError(f"A task's key has 1 to {_KEY_CHARACTERS} characters, this one {len(key)}.")
        if key in self._keys:
            raise ValueError(f"The task {key} runs already.")
        order: dict[str, Any] = {"do": "spawn", "key": key, "timeout": timeout, "grace": grace}
        sockets = [stdin] if stdin >= 0 else []
        if sockets:
            order["stdin"] = True
        given = {"argv": argv, "env": env}
        if sum(map(len, argv)) + sum(map(len, env)) + sum(map(len, env.values())) < _INLINE_CHARACTERS:
            self._order({**order, **given}, [output, *sockets])
            self._keys.add(key)
            return
        # A message holds about 200 KB, an environment may have more.
        payload = os.memfd_create("paddock-spawn", os.MFD_CLOEXEC)
        try:
            with open(payload, "wb", closefd=False) as file:
                marshal.dump(given, file)
            self._order(order, [output, payload, *sockets])
            self._keys.add(key)
        finally:
            os.close(payload)

    def hand(self, key: str, to: str, timeout: float = 0.0, grace: float = 30.0) -> None:
        """What was started ahead as `key` is the task `to` from now on; it has been told, and may be over by now."""
        self._order({"do": "hand", "key": key, "to": to, "timeout": timeout, "grace": grace})
        self._keys.discard(key)
        self._keys.add(to)
        self._handed[key] = to

    def stop(self, key: str) -> None:
        """Freeze a task with all its processes; its timeout waits."""
        self._order({"do": "stop", "key": key})

    def resume(self, key: str) -> None:
        self._order({"do": "resume", "key": key})

    def kill(self, key: str, grace: float = 30.0) -> None:
        """SIGTERM, after the grace SIGKILL; without grace SIGKILL at once. A second call can only shorten the grace."""
        self._order({"do": "kill", "key": key, "grace": grace})

    def renew(self, at: float | None = None) -> None:
        """The lease was renewed, now or at that `boot_time()`: best the one from before it was written."""
        self._order({"do": "renew", "at": boot_time() if at is None else at})

    def _order(self, message: dict[str, Any], fds: list[int] | None = None) -> None:
        try:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
            self._channel.sendmsg([marshal.dumps(message)], rights, socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError, ConnectionRefusedError):
            pass

    # Events

    def poll(self, timeout: float = 0.0) -> list[Event]:
        """What happened, after waiting up to that many seconds for something to happen."""
        if self._died:
            return []
        if timeout > 0:
            waiting = select.poll()
            waiting.register(self._channel, select.POLLIN)
            waiting.poll(timeout * 1000)
        events: list[Event] = []
        while not self._died:
            try:
                data = self._channel.recv(guarding.MESSAGE_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except ConnectionResetError:
                data = b""
            event = _event(marshal.loads(data)) if data else GuardDied()
            if isinstance(event, Exited):
                if event.key in self._handed:  # it ended before the guard had heard of it
                    event = msgspec.structs.replace(event, key=self._handed[event.key])
                self._forget(event.key)
            elif isinstance(event, GuardDied):
                self._died = True
                self._bury(5.0)
            events.append(event)
            if not self._keys:  # more would be news of the guard itself, and is there at the next call
                break
        return events

    def _forget(self, key: str) -> None:
        self._keys.discard(key)
        self._handed = {old: new for old, new in self._handed.items() if new != key}

    # The end

    def close(self) -> None:
        """Kill everything, and return when the guard is gone too."""
        if self._channel.fileno() < 0:
            return
        self._order({"do": "bye"})
        if not self._died and not self._bury(_CLOSE_SECONDS):
            self._status = -1
            os.kill(self.pid, signal.SIGKILL)
            self._bury(5.0)
        self._channel.close()
        for key in self._keys if self._status else ():  # it did not end in order
            process.kill_marked(key)
        self._keys.clear()

    def _bury(self, seconds: float) -> bool:
        """Wait for the guard's end."""
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while time.monotonic() < deadline:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._status = self._status or status
                    return True
            except ChildProcessError:  # somebody else has waited for it
                return True
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
        return False


def _event(message: dict[str, Any]) -> Event:
    kind = message.pop("is")
    if kind == "started":
        return Started(**message)
    return Exited(**message) if kind == "exited" else Fenced()

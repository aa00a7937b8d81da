"""Which process wrote something, and whether it still lives: pid, start time and boot id together, because a pid alone
is used again."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path
from typing import NamedTuple

_BETWEEN = "~"  # no host is called so


class Place(NamedTuple):
    """Where a pid means something."""

    host: str
    machine: str  # two machines may have one name, such as "localhost"
    boot: str
    space: str  # the pid namespace: two containers on one machine have one boot id, and pids of their own


class Process(NamedTuple):
    """One process of all machines, as it is written down so that others can see whether it lives."""

    place: Place
    pid: int
    start: str

    def __str__(self) -> str:
        return _BETWEEN.join((*self.place, str(self.pid), self.start))

    def is_here(self, now: Place | None = None) -> bool:
        """On this machine, in this boot and among these pids: it can be looked for and signalled."""
        return bool(self.place.boot) and self.place == (now or place())

    def is_gone(self, now: Place | None = None) -> bool:
        """Whether it has surely ended. False says nothing of one on another machine, or in another container."""
        now = now or place()
        if self.place[:2] != now[:2] or not self.place.boot or not now.boot:
            return False
        if self.place.boot != now.boot:
            return True
        return self.place.space == now.space and not exists(self.pid, self.start)


def me() -> Process:
    return Process(place(), os.getpid(), start_ticks(os.getpid()))


def parse(text: str) -> Process | None:
    """None when it does not say which process it was."""
    *where, pid, start = text.split(_BETWEEN) if text.count(_BETWEEN) == 5 else ("", "")
    return Process(Place(*where), int(pid), start) if pid.isdigit() else None


def place() -> Place:
    return Place(socket.gethostname(), machine_id(), boot_id(), pid_space())


def boot_id() -> str:
    """Another one after each start of the machine; "" where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def machine_id() -> str:
    """The same for ever; "" where the system does not say."""
    try:
        return Path("/etc/machine-id").read_text().strip()
    except OSError:
        return ""


def pid_space() -> str:
    """The namespace that our pid is of; "" where the system does not say."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def start_ticks(pid: int) -> str:
    """When the process started, in ticks since boot; "" when there is none, or only its unburied remains."""
    try:
        # The name in parentheses may itself contain spaces and parentheses.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if len(fields) < 20 or fields[0] in (b"Z", b"X", b"x") else fields[19].decode()


def exists(pid: int, start: str) -> bool:
    """Whether that very process lives on this host. An unknown start time matches any; so does one that we may not
    see."""
    ticks = start_ticks(pid)
    return (not start or ticks == start) if ticks else _is_hidden(pid)


def _is_hidden(pid: int) -> bool:
    """/proc can be mounted so that it hides the processes of others (hidepid); a signal tells that they are there."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return not os.path.exists(f"/proc/{pid}")
    except (ProcessLookupError, OverflowError):
        return False
    return False


def oom_kills() -> int:
    """How many processes the kernel has killed for memory since boot; -1 where it does not say."""
    try:
        text = Path("/proc/vmstat").read_text()
    except OSError:
        return -1
    found = re.search(r"^oom_kill (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else -1


def is_nohup(number: int) -> bool:
    """Whether the signal is HUP and whoever started us has it ignored, as nohup does: the terminal may close, and the
    work goes on."""
    return number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN

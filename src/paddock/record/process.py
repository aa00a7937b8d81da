"""Which process wrote something, and whether it still lives: pid, start time and boot id together, because a pid alone
is used again."""

from __future__ import annotations

import os
import re
from pathlib import Path


def boot_id() -> str:
    """Another one after each start of the machine; "" where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
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

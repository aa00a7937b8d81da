"""Which process wrote something, and whether it still lives: pid, start time and boot id together, because a pid alone
is used again."""

from __future__ import annotations

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
    """Whether that very process lives on this host. An unknown start time matches any."""
    ticks = start_ticks(pid)
    return bool(ticks) and (not start or ticks == start)


def oom_kills() -> int:
    """How many processes the kernel has killed for memory since boot; -1 where it does not say."""
    try:
        text = Path("/proc/vmstat").read_text()
    except OSError:
        return -1
    found = re.search(r"^oom_kill (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else -1

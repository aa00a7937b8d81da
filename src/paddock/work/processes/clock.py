"""The clock by which a lease is judged on one host."""

from __future__ import annotations

import time


def boot_time() -> float:
    """Seconds since boot, those of sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()

"""The monitor: progress, log lines and usage of many processes, and the people who look at them.

Names are loaded when they are first used: a training script pays for what it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.monitor.installing import forward_exception, install
    from paddock.track.progress.progress import Progress
    from paddock.track.usage import Usage

_HOMES = {
    "Progress": "paddock.track.progress.progress",
    "Usage": "paddock.track.usage",
    "forward_exception": "paddock.monitor.installing",
    "install": "paddock.monitor.installing",
}
__all__ = ["Progress", "Usage", "forward_exception", "install"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'paddock.monitor' has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)

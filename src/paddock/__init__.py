"""Paddock carries a machine-learning experiment from submit to the paper, in one record that survives anything.

    import paddock

    run = paddock.init(project="digits", config={"lr": 0.1})
    for step in range(100):
        run.log({"train/loss": loss}, step=step)

Names are loaded when they are first used, so that `import paddock` costs a training script almost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.version import __version__

if TYPE_CHECKING:
    from paddock.compare.table import run_view, runs
    from paddock.errors import PaddockError
    from paddock.track.active import (
        alert,
        define_metric,
        finish,
        log,
        log_artifact,
        log_image,
        log_metric,
        log_table,
        log_text,
        login,
        mark,
        save,
        use_artifact,
        watch,
    )
    from paddock.track.artifact import Artifact
    from paddock.track.media import Histogram, Image, Table
    from paddock.track.run import Run
    from paddock.track.settable import Settable, Summary
    from paddock.track.start import init
    from paddock.track.store import Store

    config: Settable
    summary: Summary
    run: Run | None

__all__ = [
    "Artifact",
    "Histogram",
    "Image",
    "PaddockError",
    "Run",
    "Store",
    "Table",
    "__version__",
    "alert",
    "config",
    "define_metric",
    "finish",
    "init",
    "log",
    "log_artifact",
    "log_image",
    "log_metric",
    "log_table",
    "log_text",
    "login",
    "mark",
    "run",
    "run_view",
    "runs",
    "save",
    "summary",
    "use_artifact",
    "watch",
]

_HOMES = {
    "Artifact": "paddock.track.artifact",
    "Histogram": "paddock.track.media",
    "Image": "paddock.track.media",
    "PaddockError": "paddock.errors",
    "Run": "paddock.track.run",
    "Store": "paddock.track.store",
    "Table": "paddock.track.media",
    "init": "paddock.track.start",
    "run_view": "paddock.compare.table",
    "runs": "paddock.compare.table",
}
_OF_THE_RUN = ("config", "run", "summary")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'paddock' has no attribute {name!r}")
    import importlib

    if name in _OF_THE_RUN:  # set by init() for as long as its run lasts
        active = importlib.import_module("paddock.track.active")
        return active.current() if name == "run" else getattr(active.require(name), name)
    found = getattr(importlib.import_module(_HOMES.get(name, "paddock.track.active")), name)
    if name != "log":  # init() and finish() put `log` in and out themselves
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)

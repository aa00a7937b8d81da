"""Paddock carries a machine-learning experiment from submit to the paper, in one record that survives anything.

    import paddock

    run = paddock.init(project="digits", config={"lr": 0.1})
    for step in range(100):
        run.log({"train/loss": loss}, step=step)

Names are loaded when they are first used, so that `import paddock` costs a training script almost nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from paddock.version import __version__

if TYPE_CHECKING:
    from paddock import errors, monitor
    from paddock.compare.table import run_view, runs
    from paddock.errors import CommError, Error, PaddockError, UsageError
    from paddock.evaluate.checkpoints import checkpoints
    from paddock.evaluate.completeness.marker import checkpoint_done
    from paddock.evaluate.handle import watch
    from paddock.track.active import (
        alert,
        define_metric,
        finish,
        link_model,
        log,
        log_artifact,
        log_image,
        log_metric,
        log_model,
        log_table,
        log_text,
        login,
        mark,
        mark_preempting,
        save,
        should_stop,
        use_artifact,
        use_model,
    )
    from paddock.track.asking import ask
    from paddock.track.progress.bar import tqdm
    from paddock.track.run import Run
    from paddock.track.settable import Settable, Summary
    from paddock.track.shape import (
        AlertLevel,
        Api,
        Settings,
        join,
        setup,
        teardown,
        termerror,
        termlog,
        termwarn,
        unwatch,
        util,
    )
    from paddock.track.start import init
    from paddock.track.things import media as data_types
    from paddock.track.things import plot
    from paddock.track.things.artifact import Artifact
    from paddock.track.things.media import Audio, Histogram, Html, Image, Molecule, Object3D, Plotly, Table, Video
    from paddock.track.things.store import Store
    from paddock.work.launch.submission import submit

    config: Settable
    summary: Summary
    run: Run | None

__all__ = [
    "AlertLevel",
    "Api",
    "Artifact",
    "Audio",
    "CommError",
    "Error",
    "Histogram",
    "Html",
    "Image",
    "Molecule",
    "Object3D",
    "PaddockError",
    "Plotly",
    "Run",
    "Settings",
    "Store",
    "Table",
    "UsageError",
    "Video",
    "__version__",
    "alert",
    "ask",
    "checkpoint_done",
    "checkpoints",
    "config",
    "data_types",
    "define_metric",
    "errors",
    "finish",
    "init",
    "join",
    "link_model",
    "log",
    "log_artifact",
    "log_image",
    "log_metric",
    "log_model",
    "log_table",
    "log_text",
    "login",
    "mark",
    "mark_preempting",
    "monitor",
    "plot",
    "run",
    "run_view",
    "runs",
    "save",
    "setup",
    "should_stop",
    "submit",
    "summary",
    "teardown",
    "termerror",
    "termlog",
    "termwarn",
    "tqdm",
    "unwatch",
    "use_artifact",
    "use_model",
    "util",
    "watch",
]

_HOMES = {
    "AlertLevel": "paddock.track.shape",
    "Api": "paddock.track.shape",
    "Artifact": "paddock.track.things.artifact",
    "Audio": "paddock.track.things.media",
    "CommError": "paddock.errors",
    "Error": "paddock.errors",
    "Histogram": "paddock.track.things.media",
    "Html": "paddock.track.things.media",
    "Image": "paddock.track.things.media",
    "Molecule": "paddock.track.things.media",
    "Object3D": "paddock.track.things.media",
    "PaddockError": "paddock.errors",
    "Plotly": "paddock.track.things.media",
    "Run": "paddock.track.run",
    "Settings": "paddock.track.shape",
    "Store": "paddock.track.things.store",
    "Table": "paddock.track.things.media",
    "UsageError": "paddock.errors",
    "Video": "paddock.track.things.media",
    "ask": "paddock.track.asking",
    "checkpoint_done": "paddock.evaluate.completeness.marker",
    "checkpoints": "paddock.evaluate.checkpoints",
    "init": "paddock.track.start",
    "join": "paddock.track.shape",
    "run_view": "paddock.compare.table",
    "runs": "paddock.compare.table",
    "setup": "paddock.track.shape",
    "submit": "paddock.work.launch.submission",
    "teardown": "paddock.track.shape",
    "termerror": "paddock.track.shape",
    "termlog": "paddock.track.shape",
    "termwarn": "paddock.track.shape",
    "unwatch": "paddock.track.shape",
    "util": "paddock.track.shape",
    "watch": "paddock.evaluate.handle",
}
_MODULES = {  # public names that are modules
    "data_types": "paddock.track.things.media",
    "errors": "paddock.errors",
    "monitor": "paddock.monitor",
    "plot": "paddock.track.things.plot",
    "tqdm": "paddock.tqdm",
}
_OF_THE_RUN = ("config", "run", "summary")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'paddock' has no attribute {name!r}")
    import importlib

    if name in _OF_THE_RUN:  # set by init() for as long as its run lasts
        active = importlib.import_module("paddock.track.active")
        return active.current() if name == "run" else getattr(active.require(name), name)
    if name in _MODULES:
        found = importlib.import_module(_MODULES[name])
    else:
        found = getattr(importlib.import_module(_HOMES.get(name, "paddock.track.active")), name)
    if name != "log":  # init() and finish() put `log` in and out themselves
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)


if "PADDOCK_RUN_LOGGING" in os.environ:  # a child of a run that keeps its log lines: it keeps its own, too
    import paddock.track.lines.joining
if "PADDOCK_RUN_OWNER" in os.environ and os.environ.get("PADDOCK_USAGE") == "true":  # and one whose usage is sampled
    import paddock.track.usage  # noqa: F401

"""The run of this process: what paddock.log(), paddock.config and their like mean right now."""

from __future__ import annotations

import os
import sys
from typing import Any

from paddock.errors import PaddockError, UsageError
from paddock.track import notice
from paddock.track.identity import RUN_ID, RUN_OWNER
from paddock.track.run import Run

_current: Run | None = None
_exported: dict[str, str | None] = {}  # what we set in the environment -> what was there before
_joined = False
_fork_hook = False


def current() -> Run | None:
    return _current


def joined_before() -> bool:
    return _joined


def enter(run: Run) -> Run:
    global _current, _fork_hook, _joined
    _current = run
    _joined = _joined or os.environ.get(RUN_ID) == run.id
    if not _fork_hook:
        os.register_at_fork(after_in_child=_after_fork)
        _fork_hook = True
    # A direct reference: paddock.log(...) in a loop must not pay for looking the run up each time.
    vars(sys.modules["paddock"]).update(log=run.log, run=run, config=run.config, summary=run.summary)
    return run


def leave(run: Run) -> None:
    global _current
    if _current is not run:
        return
    _current = None
    package = vars(sys.modules["paddock"])
    for name in ("log", "run", "config", "summary"):
        package.pop(name, None)
    for name, before in _exported.items():
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
    _exported.clear()


def export(variables: dict[str, str]) -> None:
    for name, value in variables.items():
        _exported.setdefault(name, os.environ.get(name))
        os.environ[name] = value


def require(what: str) -> Run:
    """The current run; in a child process of a tracked one, join that one first."""
    if _current is not None:
        return _current
    if os.environ.get(RUN_ID) and os.environ.get(RUN_OWNER) and not _joined:
        from paddock.track.start import init

        return init()
    raise UsageError(f"paddock.{what} needs a run.", hint="Call paddock.init() first.")


def joined() -> Run | None:
    """The current run, or the one that this process was started for; None when there is neither."""
    global _joined
    if _current is not None:
        return _current
    if not os.environ.get(RUN_ID) or _joined:
        return None
    from paddock.track.start import init

    try:
        return init()
    except PaddockError as error:  # nobody has asked for it: it must not end the work
        _joined = True
        notice.say(f"the run {os.environ[RUN_ID]} cannot be joined: {error}")
        return None


def log(data: Any, step: int | None = None, commit: bool | None = None, sync: bool | None = None) -> None:
    require("log()").log(data, step, commit, sync)


def log_metric(name: str, value: Any, tags: Any = None, step: int | None = None) -> None:
    require("log_metric()").log_metric(name, value, tags, step)


def log_artifact(artifact: Any, name: str | None = None, type: str | None = None, aliases: Any = None) -> Any:
    return require("log_artifact()").log_artifact(artifact, name, type, aliases)


def use_artifact(artifact: Any, type: str | None = None) -> Any:
    return require("use_artifact()").use_artifact(artifact, type)


def log_model(path: Any, name: str | None = None, aliases: Any = None) -> Any:
    return require("log_model()").log_model(path, name, aliases)


def use_model(name: str) -> str:
    return require("use_model()").use_model(name)


def link_model(path: Any, registered_model_name: str, name: str | None = None, aliases: Any = None) -> Any:
    return require("link_model()").link_model(path, registered_model_name, name, aliases)


def mark_preempting() -> None:
    require("mark_preempting()").mark_preempting()


def log_image(name: str, image: Any, step: int | None = None, caption: str | None = None) -> None:
    require("log_image()").log_image(name, image, step, caption)


def log_table(name: str, table: Any = None, step: int | None = None, **made_of: Any) -> None:
    require("log_table()").log_table(name, table, step, **made_of)


def log_text(name: str, text: str, step: int | None = None) -> None:
    require("log_text()").log_text(name, text, step)


def define_metric(name: str, step_metric: str | None = None, **how: Any) -> Any:
    return require("define_metric()").define_metric(name, step_metric, **how)


def mark(name: str, data: Any = None, step: int | None = None) -> None:
    require("mark()").mark(name, data, step)


def alert(title: str, text: str = "", level: str = "info", wait_duration: Any = None) -> None:
    require("alert()").alert(title, text, level)


def save(glob_str: Any, base_path: Any = None, policy: str = "live") -> list[str]:
    return require("save()").save(glob_str, base_path, policy)


def should_stop() -> str:
    return require("should_stop()").should_stop()


def finish(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """End the current run; nothing to do when there is none."""
    if _current is not None:
        _current.finish(exit_code)


def login(*_: Any, **__: Any) -> bool:
    """There is nobody to log in to."""
    return True


def _after_fork() -> None:
    if _current is not None:
        _current._after_fork()

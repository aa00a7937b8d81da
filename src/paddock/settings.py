"""Every setting, in one visible list: defaults < paddock.toml < environment < arguments.

`paddock doctor --settings` prints this list with the values in force and where each came from.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from paddock.errors import UsageError
from paddock.files import is_planted


class Setting(msgspec.Struct, frozen=True):
    name: str
    default: Any
    kind: type
    about: str

    @property
    def variable(self) -> str:
        return "PADDOCK_" + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("home", "", str, "where runs are kept; else the nearest .paddock/ upwards, else ~/.paddock"),
    Setting("cache", "", str, "where the catalog is kept, on local disk; else XDG_CACHE_HOME/paddock"),
    Setting("project", "", str, "the project of runs that name none; else the name of the code's directory"),
    Setting("mode", "online", str, "online and offline write the record; disabled makes every call a no-op"),
    Setting("beat_seconds", 5.0, float, "how often a silent process shows that it lives"),
    Setting("lost_seconds", 20.0, float, "how long a process may show nothing before it counts as lost"),
    Setting("sync_seconds", 1.0, float, "how long a written record may wait for the disk (power cuts only)"),
    Setting("pending_bytes", 16 << 20, int, "memory for records while the disk refuses them"),
    Setting("capture_code", True, bool, "keep a snapshot of the code, the git commit and its diff"),
    Setting("capture_output", True, bool, "keep what Python prints to stdout and stderr"),
    Setting("capture_logging", False, bool, "keep what the logging module is given, as lines of the run"),
    Setting("log_level", "INFO", str, "from which level on, where the root logger has its usual one (WARNING)"),
    Setting("forward_exception", True, bool, "keep uncaught exceptions of threads and children as lines, too"),
    Setting("capture_environment", True, bool, "keep packages and the redacted environment variables"),
    Setting("capture_signals", True, bool, "record SIGTERM and SIGHUP as the exit reason before they end the process"),
    Setting("capture_seconds", 5.0, float, "how long init() waits for the code snapshot before it goes on without"),
    Setting("code_file_bytes", 1 << 20, int, "files above this size are named in the code snapshot, not kept"),
    Setting("code_total_bytes", 64 << 20, int, "a code snapshot keeps at most this much"),
    Setting("queue", "default", str, "the queue of tasks and workers that name none"),
    Setting("lease_beat_seconds", 10.0, float, "how often a worker shows that it lives"),
    Setting("lease_fence_seconds", 120.0, float, "a worker that could not show it for so long ends its own tasks"),
    Setting("lease_reclaim_seconds", 300.0, float, "others take the tasks of a worker on another host after so long"),
    Setting("server", "", str, "the address of a server that runs are sent to; none: they stay here"),
    Setting("server_ca", "", str, "a file of certificates (PEM) that the server's is checked by; else the system's"),
    Setting(
        "code_store", "", str, "where workers that do not see the home find the code: s3://bucket/path; else the server"
    ),
    Setting("redis_password", "", str, "the password of a queue in Redis, so that its URL need not have it"),
    Setting("ship_seconds", 10.0, float, "how long finish() waits for the server to have everything"),
    Setting("serve", "auto", str, "a server for workers that do not see the home: auto, true, false, an address"),
    Setting("usage", False, bool, "sample what each process uses, for Usage.checkpoint() and `paddock usage`"),
    Setting("usage_seconds", 1.0, float, "how often that is sampled"),
    Setting("worker_usage_seconds", 10.0, float, "how often a worker samples its host and its tasks; 0 is never"),
    Setting("code_files", 20_000, int, "a code snapshot keeps at most this many files"),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


class Settings(msgspec.Struct, frozen=True):
    values: dict[str, Any]
    sources: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def load(start: Path | None = None, **arguments: Any) -> Settings:
    """The settings in force for a process that works in `start`; an argument of None says nothing."""
    values = {setting.name: setting.default for setting in SETTINGS}
    sources = dict.fromkeys(values, "default")
    for name, value, source in _from_files(start):
        values[name], sources[name] = _convert(name, value, source), source
    for setting in SETTINGS:
        text = os.environ.get(setting.variable)
        if text is not None:
            values[setting.name], sources[setting.name] = _convert(setting.name, text, setting.variable), "environment"
    for name, value in arguments.items():
        if value is not None:
            values[name], sources[name] = _convert(name, value, "argument"), "argument"
    return Settings(values, sources)


def settings_file(start: Path | None = None) -> Path | None:
    """The nearest paddock.toml upwards."""
    try:
        here = start or Path.cwd()
    except OSError:
        return None
    for directory in (here, *here.parents):
        candidate = directory / "paddock.toml"
        try:
            if candidate.is_file() and not is_planted(candidate):
                return candidate
        except PermissionError:  # sudo -u and su leave us where the other one was: nothing there is ours
            continue
    return None


def table(name: str, start: Path | None = None) -> tuple[dict[str, Any], str]:
    """A table of the nearest paddock.toml, for the part that it belongs to, and the file's path; both empty when there
    is none."""
    path = settings_file(start)
    found = _read(path).get(name) if path is not None else None
    if found is not None and not isinstance(found, dict):
        raise UsageError(f"{path} has {name!r}, but not as a table.", hint=f"Write [{name}].")
    return (found, str(path)) if found is not None else ({}, "")


def tables(name: str, start: Path | None = None) -> tuple[list[dict[str, Any]], str]:
    """An array of tables of the nearest paddock.toml, and the file's path; both empty when there is none."""
    path = settings_file(start)
    found = _read(path).get(name) if path is not None else None
    if found is not None and not (isinstance(found, list) and all(isinstance(one, dict) for one in found)):
        raise UsageError(f"{path} has {name!r}, but not as an array of tables.", hint=f"Write [[{name}]].")
    return (found, str(path)) if found is not None else ([], "")


def one_or_many(name: str, start: Path | None = None) -> tuple[list[dict[str, Any]], str]:
    """What may be a table, or an array of them."""
    path = settings_file(start)
    if path is not None and isinstance(_read(path).get(name), list):
        return tables(name, start)
    found, where = table(name, start)
    return ([found], where) if where else ([], "")


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}.", hint="Correct it, or move it away.") from None


def _from_files(start: Path | None) -> list[tuple[str, Any, str]]:
    path = settings_file(start)
    if path is None:
        return []
    found = []
    for name, value in _read(path).items():
        if isinstance(value, (dict, list)):
            continue  # tables belong to the parts that read them: [[watch]], [notify], ...
        if name not in _BY_NAME:
            import difflib

            near = difflib.get_close_matches(name, _BY_NAME, 1)
            known = f"Did you mean {near[0]!r}?" if near else "`paddock doctor --settings` lists the known ones."
            raise UsageError(f"{path} sets {name!r}, which is no setting.", hint=known)
        found.append((name, value, str(path)))
    return found


def _convert(name: str, value: Any, source: str) -> Any:
    setting = _BY_NAME[name]
    wrong = UsageError(f"{source} sets {name} to {value!r}.", hint=f"It takes {_wanted(setting)}.")
    if setting.kind is bool:
        if isinstance(value, bool):
            return value
        text = str(value).strip().lower()
        if text in TRUE:
            return True
        if text in FALSE:
            return False
        raise wrong
    if isinstance(value, bool) and setting.kind is not str:
        raise wrong
    try:
        converted = setting.kind(os.fspath(value) if isinstance(value, os.PathLike) else value)
    except (TypeError, ValueError):
        converted = _amount(setting, value)
    if converted is None or (setting.kind is not str and not converted >= 0):
        raise wrong
    return converted


def _amount(setting: Setting, value: Any) -> float | None:
    """What is written with its unit, such as 2m or 64M."""
    from paddock.amounts import bytes_in, seconds_in  # most settings are plain numbers

    if not isinstance(value, str):
        return None
    return seconds_in(value) if setting.kind is float else bytes_in(value) if setting.name.endswith("_bytes") else None


def _wanted(setting: Setting) -> str:
    if setting.kind is float:  # all of these are times
        return "seconds, or a time span such as 200ms, 90s, 1.5h, 1h30m or 4:00:00"
    if setting.name.endswith("_bytes"):
        return "a number of bytes, or 64M, 1G"
    return {bool: "true or false", int: "a whole number, 0 or more"}.get(setting.kind, "a text")

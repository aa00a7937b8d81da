"""Python, its packages, and the environment's variables without secrets."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddock import files, wire
from paddock.record.manifest import text_path
from paddock.record.redact import redact_argv, redact_variables, without_credentials

__all__ = ["facts", "packages", "redact_argv", "redact_variables"]


def facts(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """run.json's `environment`."""
    found: dict[str, Any] = {"python": platform.python_version(), "implementation": platform.python_implementation()}
    found |= {"prefix": text_path(sys.prefix), "packages": {}, "sources": {}, "variables": {}}
    try:
        found["packages"], found["sources"] = packages()
    except Exception as error:
        found["note"] = f"the packages could not be listed ({type(error).__name__})"
    try:
        found["variables"] = redact_variables(environ)
    except Exception as error:
        found["note"] = f"the variables could not be taken down ({type(error).__name__})"
    return found


def packages(path: list[str] | None = None) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """({name: version}, {name: where from}) of what is installed on `path` (sys.path).

    By the names of the directories that installers make: importlib.metadata reads and parses a file for each package
    to say the same, 10 times as slowly. The second answer holds only what did not come from an index: an editable
    install, a checkout, a url.
    """
    found: dict[str, str] = {}
    origins: dict[str, dict[str, str]] = {}
    for folder in dict.fromkeys(sys.path if path is None else path):
        try:
            listing = sorted(files.entries(folder or "."), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in listing:
            stem, suffix = os.path.splitext(entry.name)
            if suffix not in (".dist-info", ".egg-info"):
                continue
            name, version = _name_and_version(stem, suffix, entry.path)
            if name and name not in found:  # the first on the path is the one that is imported
                found[name] = version
                if suffix == ".dist-info" and (origin := _origin(entry.path)):
                    origins[name] = origin
    return dict(sorted(found.items())), dict(sorted(origins.items()))


def _name_and_version(stem: str, suffix: str, path: str) -> tuple[str, str]:
    name, _, version = stem.partition("-")
    if not version:  # `python setup.py develop` leaves a directory without a version
        version = _metadata_version(path)
    elif suffix == ".egg-info":
        version = re.sub(r"-py\d.*$", "", version)
    return re.sub(r"[-_.]+", "-", text_path(name)).lower(), text_path(version)


def _metadata_version(path: str) -> str:
    for name in ("METADATA", "PKG-INFO"):
        try:
            head = files.read_from(f"{path}/{name}", 0, 4096)
        except OSError:
            continue
        for line in head.split(b"\n"):
            if line.startswith(b"Version:"):
                return line[8:].strip().decode("utf-8", "replace")
    return ""


def _origin(path: str) -> dict[str, str]:
    try:
        said = wire.loads(files.read_from(f"{path}/direct_url.json", 0, 65536))
        url = without_credentials(str(said["url"]))
    except (OSError, wire.DecodeError, KeyError, TypeError):
        return {}
    found = {"url": url}
    if isinstance(said.get("vcs_info"), dict):
        found["commit"] = str(said["vcs_info"].get("commit_id", ""))
    if isinstance(said.get("dir_info"), dict) and url.startswith("file://"):
        found["editable"] = "yes" if said["dir_info"].get("editable") else "no"
        commit = _commit_of(url)
        if commit:
            found["commit"] = commit
    return {key: text_path(value) for key, value in found.items()}


def _commit_of(url: str) -> str | None:
    from urllib.parse import unquote

    from paddock.record.worktree.git import head_by_hand

    place = Path(unquote(url.removeprefix("file://")))
    for folder in (place, *list(place.parents)[:4]):
        if os.path.lexists(folder / ".git"):
            return head_by_hand(folder)[0]
    return None

"""Directories that fit a pattern, also those that come later. A path that is not there yet is a pattern without stars.

    watches/<id>/glob.json            the pattern, whose hash is the id
    watches/<id>/begun.<evaluator>    that it was watched with it: all in a directory that fits only now is new

What is watched for them is only where one may appear: the directories that a `*` lists, and those in which the next
part of the pattern is missing.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import time
from collections.abc import Callable, Collection, Iterable
from itertools import takewhile
from pathlib import Path

from paddock import files, wire
from paddock.evaluate.evaluators import calling
from paddock.evaluate.evaluators.evaluator import Evaluator
from paddock.evaluate.ledger.book import Ledger, watch_id
from paddock.record.layout import Home

_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"
AGAIN_SECONDS = 5.0  # until one that could not be watched is tried again


def is_glob(text: str) -> bool:
    return _MAGIC.search(text) is not None


def pattern_of(text: str) -> str:
    """Absolute, as it means the same from anywhere."""
    return os.path.normpath(os.path.join(glob.escape(os.getcwd()), os.path.expanduser(text)))


def path_of(pattern: str) -> str:
    """What a pattern without stars is the path of; "" of another."""
    path = re.sub(r"\[([*?[])\]", r"\1", pattern)
    return path if glob.escape(path) == pattern else ""


def base_of(pattern: str) -> str:
    """The directory above its first part that is a pattern; that of a path is itself."""
    parts = [path_of(part) for part in pattern.strip("/").split("/")]
    return "/" + "/".join(takewhile(bool, parts))


def expand(pattern: str) -> tuple[list[str], set[str]]:
    """The directories that fit an absolute pattern now, and those in which another may appear."""
    found: list[str] = []
    places: set[str] = set()
    _expand("/", pattern.strip("/").split("/"), found, places)
    return sorted(dict.fromkeys(found)), places


def _expand(base: str, parts: list[str], found: list[str], places: set[str]) -> None:
    if not parts:
        found.append(base)
        return
    part, rest = parts[0], parts[1:]
    if plain := path_of(part):
        path = os.path.join(base, plain)
        if os.path.isdir(path):
            _expand(path, rest, found, places)
        else:
            places.add(base)
            target = os.path.realpath(path)
            if os.path.islink(path) and not os.path.islink(target):  # it leads to what has yet to be made
                _expand("/", glob.escape(target).strip("/").split("/"), [], places)
        return
    places.add(base)
    if part == _ANY_DEPTH and rest:
        _expand(base, rest, found, places)
    for name, is_link in _directories(base):
        if name.startswith(".") and not part.startswith("."):
            continue
        path = os.path.join(base, name)
        if part == _ANY_DEPTH:
            if not is_link:  # which may lead to where we are
                _expand(path, parts if rest else rest, found, places)
        elif fnmatch.fnmatchcase(name, part) or name == part:  # a sweep may call its directories lr=[0.1]
            _expand(path, rest, found, places)


def _directories(base: str) -> Iterable[tuple[str, bool]]:
    try:
        with os.scandir(base) as listing:
            return [(entry.name, entry.is_symlink()) for entry in listing if _is_directory(entry)]
    except OSError:  # it was removed since, or cannot be read now
        return []


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _may_lead(path: str) -> bool:
    return os.path.isdir(path) or os.path.islink(path)


class Gathering:
    """Can be kept by a `Vigil`: tells of each directory that fits a pattern, once."""

    results = -1

    def __init__(
        self, pattern: str, known: Iterable[str], appeared: Callable[[list[str]], Collection[str]], idle: float = 0.0
    ) -> None:
        """`appeared` says which cannot be had now; they are told of again. `idle`: it is over when none was there for
        so many seconds; 0: never."""
        self.directory = base_of(pattern)
        self._pattern, self._known, self._appeared = pattern, set(known), appeared
        self._idle, self._began = idle, time.monotonic()
        self._places: set[str] = set()

    @property
    def directories(self) -> set[str]:
        return self._places

    @property
    def over(self) -> str:
        """It is over with the directories that it has found; while there is none, something is to be expected."""
        if self._known:
            return "its directories are"
        return "nothing came" if self._idle and time.monotonic() - self._began >= self._idle else ""

    def attend(self) -> None:
        pass

    def look(
        self,
        changed: Collection[str] | None = None,
        moved: Collection[str] = (),
        named: Collection[str] | None = None,
    ) -> float | None:
        if changed is not None and named is not None and not any(map(_may_lead, named)):
            return None  # files are nobody's directory
        found, self._places = expand(self._pattern)
        new = [path for path in found if path not in self._known]
        if new:
            refused = self._appeared(new)
            self._known.update(path for path in new if path not in refused)
            return AGAIN_SECONDS if refused else None
        return None


def late(home: Home, pattern: str, evaluators: Iterable[Evaluator]) -> set[str]:
    """The evaluators with which it was watched before: a directory that fits only since then is all new to them."""
    ledger = _ledger(home, pattern)
    return {one.name for one in evaluators if calling.begun(ledger, one.name).exists()}


def remember(home: Home, pattern: str, evaluators: Iterable[Evaluator]) -> None:
    ledger = _ledger(home, pattern)
    ledger.path.mkdir(parents=True, exist_ok=True)
    files.write_once(ledger.path / "glob.json", wire.dumps({"v": 1, "glob": wire.text(pattern)}))
    for one in evaluators:
        if not calling.begun(ledger, one.name).exists():
            calling.remember(ledger, one)


def _ledger(home: Home, pattern: str) -> Ledger:
    """Of a path it is the one that it will have: what was watched for it was watched in it."""
    return Ledger(Path(home.path / "watches" / watch_id(path_of(pattern) or pattern)))

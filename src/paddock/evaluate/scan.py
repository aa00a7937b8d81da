"""Which files and directories below a watched one may be checkpoints. Scans decide; whatever wakes us only wakes us."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import NamedTuple

from paddock.errors import UsageError

# As assayer has it: against the full path.
DEFAULT_PATTERN = r"^.*\.(pt|pth|ckpt|model|state)$"
_DIRECTORY = re.compile(r"checkpoint-\d+|iter_\d+|global_step\d+|.*\.orbax-checkpoint-tmp(-\d+)?")
_TELLING = frozenset(
    ("trainer_state.json", ".metadata", "commit_success.txt", "_CHECKPOINT_METADATA", "manifest.ocdbt", "_METADATA")
)
_WEIGHTS = re.compile(r"(model|adapter_model|pytorch_model)[^/]*\.(safetensors|bin)|.*\.distcp|.*zero_pp_rank_.*\.pt")


class Scan(NamedTuple):
    paths: set[str]  # all that may be checkpoints
    touched: set[str]  # of these, what lies in directories that were listed now
    sure: bool  # everything could be listed


class Scanner:
    """Lists everything, or only the directories that are said to have changed; remembers the rest."""

    def __init__(self, root: str, pattern: re.Pattern[str], *, recursive: bool = True) -> None:
        self._root, self._pattern, self._recursive = root, pattern, recursive
        self._files: dict[str, list[str]] = {}  # the candidates in a directory; the directory itself when it is one
        self._below: dict[str, list[str]] = {}  # its subdirectories

    @property
    def directories(self) -> set[str]:
        """All that were listed: a change in any of them may be news."""
        return set(self._files)

    def scan(self, only: Collection[str] | None = None) -> Scan:
        if only is None:
            self._files, self._below = {}, {}
        pending = [self._root] if only is None else [path for path in only if path in self._files or path == self._root]
        listed: set[str] = set()
        sure = True
        while pending:
            directory = pending.pop()
            before = self._below.get(directory, [])
            if not self._list(directory):
                # One that was removed since is no news; one that cannot be read means that nothing is known of it.
                sure = sure and directory != self._root and not os.path.lexists(directory)
                self._forget(directory)
                continue
            listed.add(directory)
            now = self._below[directory]
            for gone in set(before) - set(now):
                self._forget(gone)
            pending += [path for path in now if path not in self._files]
        paths = {path for found in self._files.values() for path in found}
        return Scan(paths, {path for directory in listed for path in self._files[directory]}, sure)

    def _list(self, directory: str) -> bool:
        try:
            with os.scandir(directory) as listing:
                entries = [(entry.name, entry.path, _is_directory(entry)) for entry in listing]
        except OSError:
            return False
        self._below[directory] = []
        if directory != self._root and is_checkpoint(directory, [name for name, _, _ in entries], self._pattern):
            self._files[directory] = [directory]
            return True
        shown = [entry for entry in entries if not entry[0].startswith(".")]
        self._files[directory] = [path for _, path, below in shown if not below and self._pattern.search(path)]
        if self._recursive:
            self._below[directory] = [path for _, path, below in shown if below]
        else:
            self._files[directory] += [
                path
                for name, path, below in shown
                if below and (_DIRECTORY.fullmatch(name) or self._pattern.search(path))
            ]
        return True

    def _forget(self, directory: str) -> None:
        self._files.pop(directory, None)
        for below in self._below.pop(directory, []):
            self._forget(below)


def is_checkpoint(directory: str, names: list[str], pattern: re.Pattern[str]) -> bool:
    """Whether a directory is one checkpoint, rather than a place where checkpoints lie."""
    if _DIRECTORY.fullmatch(os.path.basename(directory)) or pattern.search(directory):
        return True
    if not _TELLING.isdisjoint(names):
        return True
    return any(_WEIGHTS.fullmatch(name) for name in names) and ("config.json" in names or _is_sharded(names))


def compile_pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(
            f"--regex-filter {text!r} cannot be read: {error}.", hint="It is matched against the full path."
        ) from None


def _is_sharded(names: list[str]) -> bool:
    return any(name.endswith((".index.json", ".distcp")) or "zero_pp_rank_" in name for name in names)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False

"""Which files and directories below a watched one may be checkpoints. Scans decide; whatever wakes us only wakes us."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import NamedTuple

from paddock.errors import UsageError
from paddock.evaluate.origin.look import PINS

# As assayer has it: against the full path.
DEFAULT_PATTERN = r"^.*\.(pt|pth|ckpt|model|state)$"
AGAIN = 200  # known ones that are looked at again when everything is listed: somebody may write into an old file
LARGE = 1000  # candidates in one directory
_DIRECTORY = re.compile(r"checkpoint-\d+|iter_\d+|global_step\d+|.*\.orbax-checkpoint-tmp(-\d+)?")
# A trainer often leaves the last model, and its state, beside them. Not global_step500: that is inside of a checkpoint.
_HELD = re.compile(r"checkpoint[-_]\d+|(step|epoch)[-_]\d+|iter_\d+")
_TELLING = frozenset(
    ("trainer_state.json", ".metadata", "commit_success.txt", "_CHECKPOINT_METADATA", "manifest.ocdbt", "_METADATA")
)
_ACCELERATE, _RANKS = re.compile(r"checkpoint_\d+"), re.compile(r"random_states_\d+\.pkl")
_OTHER_WEIGHTS = (".safetensors", ".npz", ".h5", ".keras", ".msgpack", ".gguf", ".nemo", ".pdparams")
_WEIGHTS = re.compile(r"(model|adapter_model|pytorch_model)[^/]*\.(safetensors|bin)|.*\.distcp|.*zero_pp_rank_.*\.pt")


class Scan(NamedTuple):
    paths: Collection[str]  # all that may be checkpoints
    touched: set[str]  # of these, what may have changed since they were last seen
    sure: bool  # everything could be listed
    pinned: Collection[str] = ()  # directories with pins in them
    unfit: str = ""  # a file that looks like weights, but does not fit the usual pattern


class Scanner:
    """Lists everything, or only the directories that are said to have changed; remembers the rest. A file that takes
    the name of a known one is seen in the listing; one that is written over in place is seen because somebody says so,
    or because some of the known ones are looked at again each time."""

    def __init__(self, root: str, pattern: re.Pattern[str], *, recursive: bool = True) -> None:
        self._root, self._pattern, self._recursive = root, pattern, recursive
        self._candidates: dict[str, dict[str, int]] = {}  # directory -> its candidates and their inodes
        self._below: dict[str, list[str]] = {}  # directory -> its subdirectories
        self._pinned: set[str] = set()
        self._paths: dict[str, None] = {}
        self._turn = 0  # whose turn it is to be looked at again
        self._device = -1
        self._unfit = ""

    @property
    def directories(self) -> set[str]:
        """All that were listed: a change in any of them may be news."""
        return set(self._candidates)

    def scan(self, only: Collection[str] | None = None, named: Collection[str] | None = None) -> Scan:
        """`only`: the directories where something happened; `named`: the very paths there that it happened to."""
        root = self._root
        pending = [root] if only is None else [path for path in only if path in self._candidates or path == root]
        touched, sure = set(named or ()), self._is_same_place()
        while pending and sure:
            directory = pending.pop()
            known, before = self._candidates.get(directory), self._below.get(directory, [])
            if only is not None and named is not None and self._update(directory, named):
                continue
            if not self._list(directory):
                # One that was removed since is no news; one that cannot be read means that nothing is known of it.
                sure = directory != root and not os.path.lexists(directory)
                self._forget(directory)
                continue
            now = self._candidates[directory]
            everything = known is None or (only is not None and named is None)
            touched.update(p for p, inode in now.items() if everything or p in touched or known.get(p) != inode)  # type: ignore[union-attr]
            if directory in now and only is not None:
                touched.add(directory)  # something happened inside of it
            self._remember(known or {}, now)
            below = self._below[directory]
            for gone in set(before) - set(below):
                self._forget(gone)
            pending += below if only is None else [path for path in below if path not in self._candidates]
        if only is None and sure:
            touched.update(self._again())
        return Scan(self._paths.keys(), touched & self._paths.keys(), sure, frozenset(self._pinned), self._unfit)

    def _update(self, directory: str, named: Collection[str]) -> bool:
        """By the names alone, in a directory of so many that a listing would cost more than all else; False when only
        a listing can tell. Everything is listed now and then in any case."""
        known = self._candidates.get(directory, {})
        if len(known) < LARGE or directory in known:
            return False
        here = [path for path in named if os.path.dirname(path) == directory]
        if any(os.path.isdir(path) or path in self._below[directory] for path in here):
            return False
        for path in here:
            try:
                inode = os.lstat(path).st_ino
            except FileNotFoundError:
                known.pop(path, None)
                self._paths.pop(path, None)
                continue
            except OSError:
                return False
            if path in known or (os.path.basename(path)[0] != "." and self._pattern.search(path)):
                known[path] = inode
                self._paths[path] = None
        return True

    def _is_same_place(self) -> bool:
        """A mount point without its disk is an empty directory: what was there is not gone. Of another disk nothing is
        believed the first time."""
        try:
            device = os.stat(self._root).st_dev
        except OSError:
            return False
        before, self._device = self._device, device
        return before in (-1, device)

    def _list(self, directory: str) -> bool:
        try:
            with os.scandir(directory) as listing:
                entries = list(listing)
        except OSError:
            return False
        names = [entry.name for entry in entries]
        (self._pinned.add if PINS in names else self._pinned.discard)(directory)
        self._below[directory] = []
        if directory != self._root and is_checkpoint(directory, names, self._pattern):
            self._candidates[directory] = {directory: 0}
            return True
        known = self._candidates.get(directory, {})
        found: dict[str, int] = {}
        for entry in entries:
            if entry.name[0] == ".":
                continue
            if _is_directory(entry):
                if self._recursive:
                    if not _is_circle(entry):
                        self._below[directory].append(entry.path)
                elif _DIRECTORY.fullmatch(entry.name) or self._pattern.search(entry.path):
                    found[entry.path] = entry.inode()
            elif entry.path in known or self._pattern.search(entry.path):
                found[entry.path] = entry.inode()
            elif not self._unfit and self._pattern.pattern == DEFAULT_PATTERN and entry.name.endswith(_OTHER_WEIGHTS):
                self._unfit = entry.path
        self._candidates[directory] = found
        return True

    def _remember(self, before: dict[str, int], now: dict[str, int]) -> None:
        for path in before.keys() - now.keys():
            self._paths.pop(path, None)
        self._paths.update(dict.fromkeys(now))

    def _again(self) -> list[str]:
        """The newest, and some of the others in turn."""
        paths = list(self._paths)
        first = self._turn if self._turn < len(paths) else 0
        self._turn = first + AGAIN
        return paths[first : self._turn] + paths[-AGAIN:]

    def _forget(self, directory: str) -> None:
        for path in self._candidates.pop(directory, {}):
            self._paths.pop(path, None)
        self._pinned.discard(directory)
        for below in self._below.pop(directory, []):
            self._forget(below)


def is_checkpoint(directory: str, names: list[str], pattern: re.Pattern[str]) -> bool:
    """Whether a directory is one checkpoint, rather than a place where checkpoints lie."""
    if _DIRECTORY.fullmatch(os.path.basename(directory)) or pattern.search(directory):
        return True
    if any(map(_HELD.fullmatch, names)):
        return False
    if not _TELLING.isdisjoint(names):
        return True
    if not any(_WEIGHTS.fullmatch(name) for name in names):
        return False
    is_accelerates = _ACCELERATE.fullmatch(os.path.basename(directory)) or any(map(_RANKS.fullmatch, names))
    return "config.json" in names or _is_sharded(names) or bool(is_accelerates)


def compile_pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.DOTALL)  # a name may have several lines
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


def _is_circle(entry: os.DirEntry[str]) -> bool:
    """A link to a directory that it lies in."""
    if not entry.is_symlink():
        return False
    real = os.path.realpath(entry.path)
    here = os.path.realpath(os.path.dirname(entry.path))
    return here == real or here.startswith(real.rstrip("/") + "/")

"""Which files and directories below a watched one may be checkpoints. Scans decide; whatever wakes us only wakes us."""

from __future__ import annotations

import os
import re
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
    paths: list[str]
    directories: list[str]  # all that were listed: a change in any of them may be news
    sure: bool  # everything could be listed


def scan(root: str, pattern: re.Pattern[str], *, recursive: bool = True) -> Scan:
    paths: list[str] = []
    directories: list[str] = []
    sure = True
    pending = [root]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(directory) as listing:
                entries = [(entry.name, entry.path, _is_directory(entry)) for entry in listing]
        except OSError:
            # A directory that was removed since is no news; one that cannot be read means nothing is known of it.
            sure = sure and directory != root and not os.path.lexists(directory)
            continue
        directories.append(directory)
        if directory != root and is_checkpoint(directory, [name for name, _, _ in entries], pattern):
            paths.append(directory)
            continue
        for name, path, is_directory in entries:
            if name.startswith("."):
                continue
            if is_directory:
                if recursive:
                    pending.append(path)
                elif _DIRECTORY.fullmatch(name) or pattern.search(path):
                    paths.append(path)
            elif pattern.search(path):
                paths.append(path)
    return Scan(sorted(paths), directories, sure)


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

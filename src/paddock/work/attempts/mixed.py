"""Directories in which code lies beside other things: data beside a README, results beside the script that is called.

A link to such a directory of the snapshot would show the code alone, and nothing could be written there. So a task gets
a directory of its own in that place, made of links like the one it runs in.
"""

from __future__ import annotations

import os
from functools import lru_cache

NEVER = frozenset({".git", ".paddock", "__pycache__"})  # what lies beside the code and is not a task's business
_TOP = "."
_KEEPERS = frozenset({".gitkeep", ".keep", ".gitignore", ".placeholder"})  # files that are there for their directory


@lru_cache(64)
def folders(tree: str) -> dict[str, tuple[str, ...]]:
    """Each directory of a restored snapshot, by its path in there, parents first, and what is in it."""
    found = {}
    for directory, subdirectories, names in os.walk(tree):
        subdirectories.sort()
        found[os.path.relpath(directory, tree)] = (*sorted(names), *subdirectories)
    return found


def own(tree: str, root: str, inside: str) -> dict[str, list[str]]:
    """The directories below the first that a task needs for itself, parents first, and what lies beside the code in
    each: those that hold something besides, those that are kept for what will be written there, and the way to the one
    it runs in (`inside`)."""
    shape = folders(tree)
    if len(shape) == 1:
        return {}
    beside = {folder: _beside(f"{root}/{folder}", names) for folder, names in shape.items() if folder != _TOP}
    wanted: set[str] = set()
    for folder, others in beside.items():
        if others or f"{inside}/".startswith(f"{folder}/") or _is_kept(shape[folder]):
            while folder and folder not in wanted:
                wanted.add(folder)
                folder = os.path.dirname(folder)
    return {folder: others for folder, others in beside.items() if folder in wanted}


def _is_kept(names: tuple[str, ...]) -> bool:
    """Whether all that is there is there for the directory's sake."""
    return bool(names) and all(name in _KEEPERS or name.upper().startswith("README") for name in names)


def _beside(directory: str, names: tuple[str, ...]) -> list[str]:
    try:
        found = _listed(directory, os.stat(directory).st_mtime_ns)
    except OSError:  # the original may be gone; the code is not
        return []
    return [name for name in found if name not in names and name not in NEVER]


@lru_cache(4096)
def _listed(directory: str, stamp: int) -> list[str]:
    """As long as the directory's time is the same."""
    return os.listdir(directory)

"""The source files of what was imported, each as it was then: they tell when what is in memory is not what is on disk.

Installed packages do not count: nobody edits them while a watch runs, and there may be thousands of their files.
"""

from __future__ import annotations

import contextlib
import os
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

Mark = tuple[int, int, int]  # inode, size, time


class Sources:
    def __init__(self) -> None:
        self._marks: dict[str, Mark | None] = {}
        paths = sysconfig.get_paths()
        self._installed = tuple({f"{paths[name]}{os.sep}" for name in ("stdlib", "platstdlib", "purelib", "platlib")})

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note what is imported inside the block: before it is read, so that an edit meanwhile is seen as one."""
        original = SourceFileLoader.path_stats

        def noted(self_: SourceFileLoader, path: str) -> Mapping[str, Any]:
            full = os.path.abspath(path)
            if not full.startswith(self._installed):
                self._marks.setdefault(full, _mark(full))
            return original(self_, path)

        SourceFileLoader.path_stats = noted  # type: ignore[assignment,method-assign]
        try:
            yield
        finally:
            SourceFileLoader.path_stats = original  # type: ignore[method-assign]

    @property
    def directories(self) -> set[str]:
        return {os.path.dirname(path) for path in self._marks}

    def have_changed(self) -> bool:
        return any(_mark(path) != mark for path, mark in self._marks.items())


def _mark(path: str) -> Mark | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns

"""Where checkpoints come from: a directory, or a bucket of an object store. Chosen by the URL's scheme."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import Protocol

from paddock.evaluate.origin import look as looking
from paddock.evaluate.origin import pin as pinning
from paddock.evaluate.origin.look import Look
from paddock.evaluate.origin.scan import Scan, Scanner
from paddock.evaluate.origin.series import home_of, series_of

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.I)


class Origin(Protocol):
    @property
    def directories(self) -> set[str]:
        """Those in which the kernel can tell of changes."""

    def scan(self, only: Collection[str] | None = None, named: Collection[str] | None = None) -> Scan: ...

    def look(self, path: str) -> Look | None: ...

    def pin(self, here: Look, key: str) -> str:
        """Keep the content while it waits and is evaluated; OSError where that cannot be done."""


class LocalOrigin:
    def __init__(self, directory: str, pattern: re.Pattern[str], *, recursive: bool = True) -> None:
        self._scanner = Scanner(directory, pattern, recursive=recursive)

    @property
    def directories(self) -> set[str]:
        return self._scanner.directories

    def scan(self, only: Collection[str] | None = None, named: Collection[str] | None = None) -> Scan:
        return self._scanner.scan(only, named)

    def look(self, path: str) -> Look | None:
        return looking.look(path)

    def pin(self, here: Look, key: str) -> str:
        return pinning.pin(here, key)


def is_url(directory: str) -> bool:
    return _URL.match(directory) is not None


def real(directory: str) -> str:
    """What everybody calls it, from anywhere."""
    return directory.rstrip("/") if is_url(directory) else os.path.realpath(directory)


def training_of(path: str, root: str) -> str:
    """Which of the trainings below `root`, as `real` has it, a checkpoint is of: "" for those in `root` itself. Of a
    link it is that of what it leads to, for that is the checkpoint."""
    if is_url(path):
        series = series_of(path).removeprefix(root).strip("/")
    else:
        series = os.path.relpath(series_of(os.path.realpath(path)), root)
    series = home_of(series)
    return "" if series == os.curdir else series


def open_origin(directory: str, pattern: re.Pattern[str], *, recursive: bool = True) -> Origin:
    if not is_url(directory):
        return LocalOrigin(directory, pattern, recursive=recursive)
    from paddock.evaluate.origin.store import StoreOrigin

    return StoreOrigin(real(directory), pattern)

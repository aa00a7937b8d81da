"""What killed writers left in the runs: files that were written aside and never got their name."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from time import time

from paddock.record.layout import Home

GRACE_SECONDS = 86_400.0
_ASIDE = re.compile(r"\..+\.([0-9a-f]{8}|[0-9a-f]{12})\.tmp", re.DOTALL)  # as files.py and saving.py name them


def leftovers(home: Home, grace: float = GRACE_SECONDS) -> Iterator[tuple[Path, int]]:
    """Their paths and sizes. The age is that of the last change of whatever kind (a copy takes over the mtime of what
    it copies), so nothing that is being written counts."""
    for base in (home.runs, home.path / "artifacts"):
        for folder, _, names in os.walk(base):
            for name in names:
                if not _ASIDE.fullmatch(name):
                    continue
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    found = path.lstat()
                    if time() - max(found.st_ctime, found.st_mtime) >= grace:
                        yield path, found.st_size

"""Queues in Redis that this home has to do with: whoever looks at the home's disk finds no directory of theirs.

Each that something was submitted to, or worked on, has a small file in `<home>/redis` with its URL, without a password;
`rm` forgets it.
"""

from __future__ import annotations

import contextlib
from hashlib import blake2b
from pathlib import Path

from paddock import files
from paddock.errors import UsageError
from paddock.queue.redis.address import parse
from paddock.record.layout import Home

_SUFFIX = ".url"


def directory(home: Home) -> Path:
    return home.path / "redis"


def remember(url: str, name: str, home: Home) -> None:
    path = directory(home) / f"{name}-{blake2b(url.encode(), digest_size=3).hexdigest()}{_SUFFIX}"
    if path.exists():
        return
    with contextlib.suppress(OSError):  # a home that cannot be written: the task is queued all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_once(path, f"{url}\n".encode())


def remembered(home: Home) -> list[str]:
    """Their URLs, by the queue's name."""
    found = []
    for name in sorted(entry.name for entry in files.entries(directory(home))):
        if name.endswith(_SUFFIX):
            with contextlib.suppress(OSError, UsageError, UnicodeDecodeError):
                found.append(parse(files.read_from(directory(home) / name, 0, 4096).decode().strip()).shown)
    return list(dict.fromkeys(found))

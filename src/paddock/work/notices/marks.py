"""Which notices were sent: one file for each, put there once, so that of many who watch a home one tells.

    <home>/notices/<recipient>/since              when somebody first watched for this recipient
    <home>/notices/<recipient>/<event>~<key>      empty while it is being sent, then not

Whoever makes the file sends. When it dies on the way the file stays empty, and another takes over after a while.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from hashlib import blake2b

from paddock import files
from paddock.record.layout import Home
from paddock.work.notices.notify import Notify

STALE_SECONDS = 60.0  # longer than any sending takes
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def recipient(notify: Notify) -> str:
    """Tells one who is told from another, without giving away the keys in an address."""
    said = "\0".join((notify.command, notify.webhook, *notify.mail, notify.query))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Marks:
    def __init__(self, home: Home) -> None:
        self._base = home.path / "notices"
        self._known: set[str] = set()  # sent, or somebody's business
        self._empty: dict[str, float] = {}  # when we first saw it so, by our clock

    def since(self, notify: Notify) -> float:
        """What happened before is nobody's news."""
        path = self._base / recipient(notify) / "since"
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_once(path, f"{time.time():.3f}\n".encode())
        try:
            return float(path.read_text())
        except (OSError, ValueError):
            return time.time()

    def claim(self, notify: Notify, event: str, key: str) -> bool:
        """Whether it is ours to send. Where nothing can be written nobody else can know, so it is."""
        path = self._path(notify, event, key)
        if path in self._known:
            return False
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        except FileExistsError:
            return self._take_over(path) and self.claim(notify, event, key)
        except OSError:
            self._known.add(path)
        return True

    def sent(self, notify: Notify, event: str, key: str) -> None:
        path = self._path(notify, event, key)
        self._known.add(path)
        with contextlib.suppress(OSError):
            files.replace(type(self._base)(path), f"{time.time():.3f}\n".encode())

    def release(self, notify: Notify, event: str, key: str) -> None:
        """It could not be sent: somebody may try again."""
        with contextlib.suppress(OSError):
            os.unlink(self._path(notify, event, key))

    def _path(self, notify: Notify, event: str, key: str) -> str:
        return f"{self._base}/{recipient(notify)}/{event}~{_UNSAFE.sub('-', key)[:200]}"

    def _take_over(self, path: str) -> bool:
        """By one only: a rename has one winner."""
        try:
            if os.stat(path).st_size:
                self._known.add(path)
                return False
            if time.monotonic() - self._empty.setdefault(path, time.monotonic()) < STALE_SECONDS:
                return False
            aside = f"{path}.{os.urandom(4).hex()}"
            os.rename(path, aside)
            os.unlink(aside)
        except OSError:
            return False
        del self._empty[path]
        return True

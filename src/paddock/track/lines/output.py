"""What Python prints, kept in the run's output as it came.

The write methods of sys.stdout and sys.stderr are wrapped where they are, so that the terminal stays a terminal, and
handlers that hold these streams already are caught too. A line reaches the file before print() returns.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any


class Output:
    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.lost = 0  # pieces that the disk refused
        self._wrapped: list[tuple[Any, Any, Any]] = []
        self._crash_handler = False
        for stream in (sys.stdout, sys.stderr):
            self._wrap(stream)
        self._catch_crashes()

    def _wrap(self, stream: Any) -> None:
        if stream is None:
            return
        original = stream.write
        before = vars(stream).get("write") if hasattr(stream, "__dict__") else None  # somebody's own wrapper

        def keep(text: Any, *args: Any) -> Any:
            result = original(text, *args)
            try:
                if data := _encoded(text):
                    os.write(self.fd, data)
            except Exception:
                self.lost += 1
            return result

        try:
            stream.write = keep
        except AttributeError:  # a stream that cannot be wrapped is left alone
            return
        self._wrapped.append((stream, keep, before))

    def _catch_crashes(self) -> None:
        """A segmentation fault leaves its Python traceback in the output."""
        import faulthandler

        if not faulthandler.is_enabled():
            with contextlib.suppress(OSError, ValueError):
                faulthandler.enable(file=self.fd)
                self._crash_handler = True

    def close(self) -> None:
        for stream, keep, before in self._wrapped:
            # Somebody may have wrapped it again meanwhile: then ours stays inside theirs, writing nowhere.
            if stream.__dict__.get("write") is keep:
                if before is not None:
                    stream.write = before
                else:
                    del stream.write
        if self._crash_handler:
            import faulthandler

            faulthandler.disable()
        descriptor, self.fd = self.fd, -1
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _encoded(text: Any) -> bytes:
    """As the terminal had it: a half of a surrogate pair (broken JSON of a tokenizer, say) is escaped, as Python's own
    stderr does it."""
    if not isinstance(text, str):
        return bytes(text)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")

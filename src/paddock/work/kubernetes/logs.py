"""What a pod prints, followed to its end. API servers and kubelets cut such a stream after some hours, and whatever is
in between when nothing was printed for a while: then it is asked for again, from the last line on.

The server is told to put the time before each line. It takes a time to begin at in whole seconds, so what was printed
of the last seconds is left out when it comes again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from paddock.errors import NotFound, Unreachable, UsageError
from paddock.work.kubernetes import states
from paddock.work.kubernetes.client import Client

IDLE_SECONDS = 300.0  # without a word, after which it is asked for again: nobody tells of a connection that was dropped
AWAY_SECONDS = 120.0  # that the cluster may be away before that is an error
REST_SECONDS = 1.0  # before it is asked for again
_TIME = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)(?: |(?=\n))")
_LONGEST_TIME = 40  # letters
_LATE = timedelta(seconds=2)  # stdout and stderr are two pipes: a line's time may be before that of the one above it


class Lines:
    """Takes the times off, and leaves out what an earlier stream has brought. Pure.

    What was printed is the beginning of the log. So of what the server sends from a second on, as many lines are known
    as were printed with a time of that second or later, in whatever order the times are.
    """

    def __init__(self) -> None:
        self.printed = False
        self._counts: dict[datetime, int] = {}  # whole lines by their second: of the last seconds only
        self._from: datetime | None = None  # the first of these
        self._line: datetime | None = None  # that of the line which is not whole yet
        self._part = 0  # bytes of it
        self._head, self._inside = b"", False
        self._skip_lines = self._skip_bytes = 0

    @property
    def since(self) -> str:
        """When to begin, as the server takes it; "" when no line had a time."""
        return f"{self._from.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if self._from else ""

    def again(self) -> None:
        """What comes next is from another stream, that begins at `since`."""
        self._head, self._inside = b"", False
        self._skip_lines = sum(self._counts.values())
        self._skip_bytes = self._part if self._line is not None else 0

    def feed(self, piece: bytes) -> bytes:
        """What of it is to be printed."""
        found = []
        while piece:
            if not self._inside:
                self._head += piece
                if len(self._head) < _LONGEST_TIME and not re.search(rb"[ \n]", self._head):
                    break
                piece, self._head = self._begin(self._head), b""
            line, end, piece = piece.partition(b"\n")
            found.append(self._take(line + end))
            if end:
                self._end()
        return b"".join(found)

    def close(self, *, last: bool = False) -> bytes:
        """Of what was kept, at the end of a stream: a time that was cut is nothing."""
        kept, self._head = self._head, b""
        return kept if not self._from and (last or self.printed) else b""

    def _begin(self, text: bytes) -> bytes:
        """Without the time."""
        self._inside = True
        match = _TIME.match(text)
        if self._skip_lines == 0:
            second = _second(match[1], match[2]) if match is not None else None
            self._line = second
            if second is not None and (self._from is None or second - _LATE > self._from):
                self._from = start = second - _LATE
                self._counts = {at: count for at, count in self._counts.items() if at >= start}
        return text[match.end() :] if match is not None else text

    def _take(self, data: bytes) -> bytes:
        if self._skip_lines:
            return b""
        data, self._skip_bytes = data[self._skip_bytes :], max(0, self._skip_bytes - len(data))
        self._part += len(data)
        self.printed = self.printed or bool(data)
        return data

    def _end(self) -> None:
        self._inside = False
        if self._skip_lines:
            self._skip_lines -= 1
            return
        if self._line is not None and self._from is not None and self._line >= self._from:
            self._counts[self._line] = self._counts.get(self._line, 0) + 1
        self._line, self._part, self._skip_bytes = None, 0, 0


def _second(digits: bytes, zone: bytes) -> datetime:
    return datetime.fromisoformat(digits.decode() + zone.decode().replace("Z", "+00:00"))


def follow(client: Client, pod: str, tail: int | None = None) -> Iterator[bytes]:
    """What the pod prints, as it comes, until it is over."""
    lines = Lines()
    opened = False  # ever
    away: float | None = None  # since when it is

    def open_() -> None:
        nonlocal opened, away
        opened, away = True, None

    over = False
    while True:
        first = None if lines.since else tail
        whole = True
        try:
            for piece in client.logs(
                pod, follow=True, tail=first, since=lines.since, timed=True, seconds=IDLE_SECONDS, opened=open_
            ):
                yield lines.feed(piece)
        except NotFound:
            if opened:
                return  # somebody has removed it
            raise
        except (Unreachable, UsageError):  # the latter while a container is begun again
            now = time.monotonic()
            away, whole = away or now, False
            if not opened or (lines.printed and not lines.since) or now - away > AWAY_SECONDS:
                raise
        if whole and (over or (lines.printed and not lines.since)):  # a server that tells no times would tell all twice
            yield lines.close(last=True)
            return
        yield lines.close()
        over = over or _is_over(client, pod)  # once more, for what it may have printed while nobody listened
        if not over or not whole:
            time.sleep(REST_SECONDS)
        lines.again()


def _is_over(client: Client, pod: str) -> bool:
    try:
        found = client.get("Pod", pod)
    except Unreachable:
        return False
    return found is None or states.pod_phase(found) in ("Succeeded", "Failed")

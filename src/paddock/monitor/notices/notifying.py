"""Telling people what happens to runs, by whoever watches a home: a server, a console, a worker."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from paddock.catalog.catalog import Catalog
from paddock.compare.select import EVERYTHING, fits, parse
from paddock.errors import PaddockError
from paddock.monitor.notices.events import Event, events
from paddock.monitor.now.reader import HomeReader
from paddock.record.layout import Home
from paddock.settings import Settings
from paddock.work.notices.deliver import Undelivered, ways
from paddock.work.notices.marks import Marks
from paddock.work.notices.notify import RUN_EVENTS, Notify

SECONDS = 5.0  # between two looks
TRIES = 3
_MINUTE = 60.0


class _Recipient:
    def __init__(self, notify: Notify, marks: Marks) -> None:
        self.notify, self._marks = notify, marks
        self.query = parse(notify.query, time.time()) if notify.query else EVERYTHING
        self.since = marks.since(notify)
        self._sent: deque[float] = deque()  # within the last minute
        self._untold = 0
        self._failed: dict[str, int] = {}

    def tell(self, event: Event, home: Home, complain: Callable[[str], None]) -> None:
        tries = self._failed.get(event.key, 0)
        if tries >= TRIES or not self._marks.claim(self.notify, event.event, event.key):
            return
        clock = time.monotonic()
        while self._sent and clock - self._sent[0] > _MINUTE:
            self._sent.popleft()
        if len(self._sent) >= self.notify.per_minute:
            self._untold += 1
            self._marks.sent(self.notify, event.event, event.key)
            return
        arrived = False
        for way, tell in ways(self.notify).items():
            try:
                tell(self.notify, _notice(event, home, self._untold))
                arrived = True
            except Undelivered as error:
                complain(f"a notice did not arrive by {way} ({error}); this is said once")
            except Exception as error:  # whatever it is, the next one is told
                why = getattr(error, "strerror", None) or type(error).__name__
                complain(f"a notice did not arrive by {way} ({why}); this is said once")
        if arrived:
            self._untold = 0
            self._sent.append(clock)
            self._marks.sent(self.notify, event.event, event.key)
        else:
            self._failed[event.key] = tries + 1
            self._marks.release(self.notify, event.event, event.key)


class Notifier:
    """One home. `look` is for one thread; `start` makes one that looks."""

    def __init__(self, home: Home, notifies: Sequence[Notify], settings: Settings, say: Callable[[str], None]) -> None:
        self._home, self._say = home, say
        marks = Marks(home)
        wanted = [one for one in notifies if not one.silent and set(one.on) & set(RUN_EVENTS)]
        self._recipients = [_Recipient(one, marks) for one in wanted]
        self._settings = settings
        self._complained: set[str] = set()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_wanted(self) -> bool:
        return bool(self._recipients)

    def start(self, seconds: float = SECONDS) -> None:
        if self.is_wanted:
            self._thread = threading.Thread(target=self._run, args=(seconds,), name="paddock-notifying", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(2.0)

    def look(self, reader: HomeReader) -> None:
        now = reader.look()
        for event in events(now):
            row = reader.stories[event.run.id].row
            for one in self._recipients:
                if event.event in one.notify.on and event.time >= one.since and fits(row, one.query, now.time):
                    one.tell(event, self._home, self._complain)

    def _run(self, seconds: float) -> None:
        with Catalog.open(self._home, self._settings) as catalog:
            reader = HomeReader(self._home, catalog)
            while True:
                try:
                    self.look(reader)
                except (PaddockError, OSError) as error:
                    self._complain(f"what happens could not be looked at ({error}); this is said once")
                if self._over.wait(seconds):
                    return

    def _complain(self, text: str) -> None:
        if text not in self._complained:
            self._complained.add(text)
            self._say(text)


def _notice(event: Event, home: Home, untold: int) -> dict[str, Any]:
    run = event.run
    more = f" ({untold:,} notices before this one were not sent)" if untold else ""
    return {
        "v": 1,
        "event": event.event,
        "text": event.text + more,
        "run": run.id,
        "task": run.id,
        "name": run.name,
        "project": run.project,
        "state": run.state,
        "exit": run.reason,
        "attempt": run.attempt,
        "step": run.step,
        "queue": run.queue,
        "worker": "",
        "host": run.host,
        "by": os.uname().nodename,
        "path": str(home.path),
        "time": round(event.time, 3),
        "unsent": untold,
    }

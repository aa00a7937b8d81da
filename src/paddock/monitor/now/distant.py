"""A queue in Redis, asked by a thread of its own: who looks at a page waits for no server."""

from __future__ import annotations

import threading
import time

from paddock.errors import PaddockError
from paddock.queue.lifecycle import ACTIVE, PAUSED, Place
from paddock.queue.protocol import Queue
from paddock.queue.show.status import Status, away, started, status
from paddock.queue.show.view import IN_ORDER, Entry
from paddock.record.layout import Home

EVERY_SECONDS = 1.0  # between two questions
FIRST_SECONDS = 2.0  # that the first look waits for an answer at most, for however many such queues
LATE_SECONDS = 3.0  # then it is said that it does not answer


class Distant:
    """All that is told of it was read before: no entry asks the server when it is shown."""

    def __init__(self, queue: Queue, shown: int) -> None:
        self.queue, self._shown = queue, shown
        self.places: dict[str, Place] = {}
        self._known = away(queue, f"{queue.address} has not answered yet.")
        self._begun: dict[tuple[str, int], float] = {}
        self._asked = -1e9
        self._first = 0.0  # when it was first asked
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def begun(self) -> list[Place]:
        return [place for place in self.places.values() if place.state in (ACTIVE, PAUSED)]

    @property
    def sure(self) -> bool:
        return self._known.sure

    def ask(self, home: Home) -> threading.Thread | None:
        """Begin a question, unless one was begun just now; the thread that is at it."""
        with self._lock:
            clock = time.monotonic()
            busy = self._thread is not None and self._thread.is_alive()
            if not busy and clock - self._asked >= EVERY_SECONDS:
                self._first = self._first or clock
                self._asked = clock
                self._thread = threading.Thread(target=self._ask, args=(home,), name="distant", daemon=True)
                self._thread.start()
            return self._thread

    def look(self, home: Home) -> Status:
        """Whoever has several asks them all before the first look: then the wait is one for all."""
        thread = self.ask(home)
        clock = time.monotonic()
        if thread is not None and clock < self._first + FIRST_SECONDS:
            thread.join(self._first + FIRST_SECONDS - clock)
        if thread is not None and thread.is_alive() and clock - self._asked > LATE_SECONDS:
            return away(self.queue, f"{self.queue.address} does not answer.")
        return self._known

    def began(self, entry: Entry, home: Home) -> float:
        return self._begun.get((entry.id, entry.attempt)) or time.time()

    def _ask(self, home: Home) -> None:
        try:
            listing = self.queue.list(IN_ORDER)
            found = status(self.queue, self._shown, home, listing)
            begun = {}
            for entry in found.running:
                key = (entry.id, entry.attempt)
                begun[key] = self._begun.get(key) or started(entry, home)
            for entry in (*found.running, *(one.entry for one in found.waiting)):
                _ = entry.title, entry.file
            self._begun, self._known = begun, found
            self.places = {place.id: place for place in listing.places}
        except PaddockError as error:  # where its tasks were last is better than nothing
            self._known = away(self.queue, str(error))
        except Exception as error:
            self._known = away(self.queue, f"{self.queue.address} cannot be read ({error!r}).")

"""One thread that looks at the homes when there is something to see, for all who want to know.

The kernel says when something was written; on a network disk it looks every so often, and so it does for what only time
changes (a run that is lost). Where the kernel tells, a look at everything is a precaution, and the dearer it is, the
rarer. It never takes more than a fifth of a processor, and looks at nothing while nobody asks.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import threading
import time
from collections.abc import Callable, Iterator

from paddock.monitor.view.news import News

LEAST_SECONDS = 0.1  # between two looks, while somebody watches
SHARE = 4.0  # a look may be followed by the next after so many times of what it took
SEND_SECONDS = 0.0001  # and for each who listens: telling them costs, too
POLL_SECONDS = 0.5  # where the kernel does not tell
HEARTBEAT_SECONDS = 5.0  # between two looks at what time changes
PRECAUTION_SHARE = 100.0  # where the kernel tells, everything is looked at after so many times of what that took
PRECAUTION_SECONDS = 60.0  # but at least as often
INTEREST_SECONDS = 30.0  # a request is a sign of interest for so long
log = logging.getLogger("paddock.server")


class Refresher:
    """`look` brings up to date what happened in some directories, with None everything, and with True besides what time
    has changed; it is called by one thread at a time. `listeners`: how many listen to what it finds."""

    def __init__(self, look: Callable[[set[str] | None, bool], None], news: News, listeners: Callable[[], int]) -> None:
        self._look, self._news, self._listeners = look, news, listeners
        self._lock = threading.Lock()
        self._whole = -1e9  # when everything was looked at
        self._whole_cost = 0.0
        self._aged = -1e9  # when what time changes was
        self._ended = -1e9
        self._cost = 0.0
        self._asked = -1e9
        self._stopping = False
        self._poke_end, self._poked_end = -1, -1
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._poked_end, self._poke_end = os.pipe()
        os.set_blocking(self._poke_end, False)
        self._thread = threading.Thread(target=self._run, name="paddock-refresher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self.poke()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            for end in (self._poke_end, self._poked_end):
                os.close(end)
        self._news.close()

    def poke(self) -> None:
        """Somebody has begun to listen, or to ask again."""
        try:
            os.write(self._poke_end, b".")
        except OSError:  # it is full: the thread has been told often enough
            pass

    def fresh(self, at_once: bool = False) -> None:
        """Come back when what was written before this call has been seen, unless a look has just ended. `at_once`:
        also then, after something was changed by ourselves."""
        idle = not self.wanted()
        self._asked = time.monotonic()
        if idle:
            self.poke()
        if at_once or self._lock.locked() or self._due():  # who has the lock has read the news, and not told it yet
            with self._lock:
                if at_once or self._due():
                    self._look_now(whole=at_once)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While nobody looks."""
        with self._lock:
            yield

    def wanted(self) -> bool:
        return self._listeners() > 0 or time.monotonic() - self._asked < INTEREST_SECONDS

    def _due(self) -> bool:
        since = time.monotonic() - self._ended
        if since < SHARE * self._cost:
            return False
        if time.monotonic() - self._aged > HEARTBEAT_SECONDS or (self._news.fd < 0 and since > POLL_SECONDS):
            return True
        return self._news.fd >= 0 and bool(select.select([self._news.fd], [], [], 0)[0])

    def _look_now(self, whole: bool = False) -> None:
        told = self._news.read()  # before the look: what comes meanwhile is seen by the next one
        began = time.monotonic()
        whole = whole or told is None or began - self._whole > self._precaution()
        aged = whole or began - self._aged > HEARTBEAT_SECONDS
        try:
            self._look(None if whole else told, aged)
        finally:
            self._ended = time.monotonic()
            self._cost = self._ended - began
            if aged:
                self._aged = began
            if whole:
                self._whole, self._whole_cost = began, self._cost

    def _precaution(self) -> float:
        return min(max(HEARTBEAT_SECONDS, PRECAUTION_SHARE * self._whole_cost), PRECAUTION_SECONDS)

    def _run(self) -> None:
        while not self._stopping:
            try:
                self._wait()
                if not self._stopping and self.wanted():
                    with self._lock:
                        if self._due():
                            self._look_now()
            except Exception:  # a disk that is away for a while must not end the watching
                log.exception("looking at the homes failed; it is tried again")
                time.sleep(1.0)

    def _wait(self) -> None:
        """Until there is a reason to look, and then until it is time to."""
        poller = select.poll()
        poller.register(self._poked_end, select.POLLIN)
        if not self.wanted():
            poller.poll(None)
        else:
            telling = self._news.fd
            if telling >= 0:
                poller.register(telling, select.POLLIN)
            poller.poll(1000 * (HEARTBEAT_SECONDS if telling >= 0 else POLL_SECONDS))
        self._unpoke()
        pause = max(LEAST_SECONDS, SHARE * self._cost, SEND_SECONDS * self._listeners())
        rest = self._ended + pause - time.monotonic()
        if rest > 0 and not self._stopping:
            time.sleep(min(rest, 5.0))

    def _unpoke(self) -> None:
        if select.select([self._poked_end], [], [], 0)[0]:
            os.read(self._poked_end, 4096)

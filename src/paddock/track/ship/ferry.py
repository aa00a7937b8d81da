"""Runs of others that have just ended, sent to a server, or to a store: what a worker has written of its tasks after
they were gone, and tasks that know nothing of a server.

One thread for all of them. A server that is away is tried again; what is left at the end is said.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from paddock.address import Address
from paddock.errors import PaddockError
from paddock.record.layout import Home
from paddock.track.ship.carrier import Carrier, send_all
from paddock.track.ship.connection import Connection
from paddock.track.ship.road import StoreRoad
from paddock.track.ship.stored import send_runs

_GATHER_SECONDS = 0.5  # tasks that end together are sent together
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds, while the server is away


Say = Callable[[str], None]
Send = Callable[[list[str], Say], str]  # runs; why they are not all there, as a sentence


def to_server(home: Home, address: Address, token: str, ca: str) -> Send:
    def send(runs: list[str], say: Say) -> str:
        connection = Connection(address, token, ca=ca)
        try:
            carrier = Carrier(home, connection, lambda key, sentence: say(sentence), quiet=0.0)
            return send_all(carrier, runs, lambda step: None)
        finally:
            connection.close()

    return send


def to_store(home: Home, url: str) -> Send:
    store = StoreRoad(url)
    return lambda runs, say: send_runs(home, store, runs)


class Ferry:
    def __init__(self, where: str, send: Send, say: Say, rest: str) -> None:
        """`rest`: how a person sends what was left."""
        self._where, self._to, self._say, self._rest = where, send, say, rest
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._left: dict[str, None] = {}
        self._over = threading.Event()
        self._said = ""
        self._thread = threading.Thread(target=self._run, name="paddock-ferry", daemon=True)
        self._thread.start()

    def take(self, run_id: str) -> None:
        self._ended.put(run_id)

    def close(self, seconds: float) -> None:
        """Send the rest, but do not wait longer than this."""
        self._over.set()
        self._thread.join(seconds)
        self._gather()
        if self._left:
            self._say(f"not all runs have reached {self._where}: {self._rest}")

    def _gather(self) -> None:
        while not self._ended.empty():
            self._left[self._ended.get()] = None

    def _run(self) -> None:
        pause, due = _FIRST_PAUSE, 0.0
        while True:
            over = self._over.wait(_GATHER_SECONDS)
            self._gather()
            if self._left and (over or time.monotonic() >= due):
                if not self._send(list(self._left)):
                    due, pause = time.monotonic() + pause, min(2 * pause, _LONGEST_PAUSE)
                else:
                    pause = _FIRST_PAUSE
            if over and (not self._left or pause > 4 * _FIRST_PAUSE):
                return

    def _send(self, runs: list[str]) -> bool:
        try:
            trouble = self._to(runs, self._tell)
        except PaddockError as error:
            trouble = error.message
        except Exception as error:  # a worker goes on, whatever this meets
            trouble = f"{type(error).__name__}: {error}"
        if trouble:
            self._tell(f"what tasks wrote is not sent: {trouble}")
            return False
        for run_id in runs:
            del self._left[run_id]
        return True

    def _tell(self, sentence: str) -> None:
        """Each sentence once in a row."""
        if sentence != self._said:
            self._said = sentence
            self._say(sentence)

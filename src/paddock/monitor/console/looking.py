"""A thread that looks: a slow disk or server must not keep a key waiting."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from paddock.errors import PaddockError
from paddock.monitor.console.state import Answer, Cancel
from paddock.monitor.now.details import Details
from paddock.monitor.now.lines import MOST
from paddock.monitor.now.picture import Line, Now
from paddock.monitor.now.source import Source

_IDLE_AFTER, _IDLE_TIMES = 20, 2.0  # looks at which nothing runs; then they are made less often


@dataclass(frozen=True)
class Seen:
    """What the last looks have brought."""

    now: Now
    lines: tuple[Line, ...] = ()
    details: Details | None = None
    trouble: str = ""
    message: str = ""  # what became of an order


class Looker:
    def __init__(self, source: Source, interval: float, wake: Callable[[], None]) -> None:
        self._source, self._interval, self._wake = source, interval, wake
        self._orders: queue.SimpleQueue[Cancel | Answer | None] = queue.SimpleQueue()
        self._subject = ""
        self._over = False
        self._quiet = 0
        self.seen = Seen(source.look())  # what is wrong from the start is said before the screen is taken
        self._thread = threading.Thread(target=self._run, name="paddock-top", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._over = True
        self._orders.put(None)
        self._thread.join(2.0)
        if not self._thread.is_alive():
            self._source.close()

    def order(self, order: Cancel | Answer) -> None:
        self._orders.put(order)

    def regard(self, subject: str) -> None:
        """Whose details are wanted; "" for nobody's."""
        if subject != self._subject:
            self._subject = subject
            self.seen = replace(self.seen, details=None)
            self._orders.put(None)

    def _run(self) -> None:
        self._look()
        while not self._is_over():
            pause = self._interval * (_IDLE_TIMES if self._quiet > _IDLE_AFTER else 1.0)
            try:
                order = self._orders.get(timeout=pause)
            except queue.Empty:
                order = None
            if not self._is_over():
                self._look(self._carry_out(order) if order is not None else "")

    def _is_over(self) -> bool:
        return self._over

    def _look(self, message: str = "") -> None:
        before, subject = self.seen, self._subject
        try:
            now = self._source.look()
            lines = (before.lines + self._source.lines(before.lines[-1].n if before.lines else 0))[-MOST:]
            details = self._source.details(subject) if subject else None
            found = Seen(now, lines, details, "", message)
        except PaddockError as error:
            found = replace(before, trouble=str(error), message=message)
        except OSError as error:
            found = replace(before, trouble=f"The last look failed ({error.strerror or error}).", message=message)
        busy = found.now.counts.get("running") or found.trouble or any(task.worker for task in found.now.tasks)
        self._quiet = 0 if busy or message or found.lines != before.lines else self._quiet + 1
        if subject == self._subject:
            self.seen = found
        self._wake()

    def _carry_out(self, order: Cancel | Answer) -> str:
        try:
            if isinstance(order, Cancel):
                return self._source.cancel(order.run)
            return self._source.answer(order.run, order.ask, order.text)
        except PaddockError as error:
            return str(error)
        except OSError as error:
            return f"It did not succeed ({error.strerror or error})."

"""Telling people what happens in a queue: a task began, a task failed, nothing is left to do.

A thread tells; the worker only puts a notice into a short queue. A slow webhook delays nobody: what does not fit is
counted, and what could not be told is said once in the worker's log, and counted after that.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import ACTIVE, CHECKING, DONE, FAILED, QUEUED
from paddock.queue.task import Attempt, Task, TaskFile, first_line
from paddock.work.notices.marks import Marks
from paddock.work.notices.notify import DRAINED, STARTED, Notify
from paddock.work.notices.notify import FAILED as TOLD_FAILED

MOST = 100  # notices that wait
LEAVE_SECONDS = 5.0  # for which a worker that leaves waits until all is told
DRAINED_FILE = ".drained"
_MINUTE = 60.0


class Notices:
    def __init__(
        self,
        notify: Notify | Sequence[Notify],
        worker: str,
        say: Callable[[str], None],
        marks: Marks | None = None,
    ) -> None:
        """`marks`: of the home, where others watch who would tell the same."""
        every = (notify,) if isinstance(notify, Notify) else tuple(notify)
        self._recipients = tuple(one for one in every if not one.silent)
        self._marks, self._worker, self._say = marks, worker, say
        self._most = max((one.per_minute for one in self._recipients), default=0)
        self._tail = max((one.tail for one in self._recipients), default=0)
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(MOST)
        self._thread: threading.Thread | None = None
        self._troubles: deque[tuple[str, str]] = deque(maxlen=MOST)
        self._complained: set[str] = set()
        self._failures = 0
        self._sent: deque[float] = deque()  # when, within the last minute
        self._untold = 0  # since the last notice
        self._worked: dict[str, DirectoryQueue] = {}  # queues in which a task of ours has ended since they were drained

    # What happens

    def started(self, source: DirectoryQueue, task: Task, attempt: int) -> None:
        if self._wants(STARTED):
            again = f", attempt {attempt}" if attempt > 1 else ""
            self._put(source, STARTED, f"started: {_title(task)}{again}", _facts(task, attempt))

    def ended(self, source: DirectoryQueue, file: TaskFile, note: Attempt, state: str) -> None:
        """An attempt is over, and the task goes to `state`. Before its file is moved."""
        if not self._recipients:
            return
        if self._wants(DRAINED):
            # What others say of the queue is said before this task ended: see `_claim_drained`.
            with contextlib.suppress(OSError):
                os.unlink(source.path / DRAINED_FILE)
            self._worked[str(source.path)] = source
        if state == FAILED and self._wants(TOLD_FAILED):
            facts = _facts(file.task, note.number) | {
                "outcome": note.outcome,
                "exit": note.exit,
                "seconds": note.seconds,
                "output": note.output,
                "tail": "\n".join(note.tail.split("\n")[-self._tail :]) if self._tail > 0 else "",
            }
            why = note.exit or note.outcome
            if note.outcome == "timed out":  # by itself a signal says little
                why = f"timed out, {why}"
            self._put(source, TOLD_FAILED, f"failed ({why}): {_title(file.task)}", facts)

    def given_up(self, source: DirectoryQueue, file: TaskFile) -> None:
        """A task that was lost with its workers too often has failed."""
        if file.attempts:
            self.ended(source, file, file.attempts[-1], FAILED)

    def work(self, empty: Sequence[DirectoryQueue]) -> None:
        """In each round of the worker: complain of what could not be told, and see whether a queue is drained. `empty`
        are those of which the worker believes it without a look at the disk."""
        while self._troubles:
            way, why = self._troubles.popleft()
            self._failures += 1
            if way not in self._complained:
                self._complained.add(way)
                self._say(f"a notice did not arrive by {way} ({why}); this is said once")
        if self._worked:
            for source in empty:
                if str(source.path) in self._worked:
                    self._see_whether_drained(source)

    def close(self) -> None:
        """Let what waits be told, but not for long."""
        self.work(list(self._worked.values()))
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)
            self._thread.join(LEAVE_SECONDS)
        self.work([])
        left = self._waiting.qsize() if self._thread is not None and self._thread.is_alive() else 0
        if self._failures or left or self._untold:
            self._say(f"notices that did not arrive: {self._failures + left}, not sent: {self._untold}")

    # Drained

    def _see_whether_drained(self, source: DirectoryQueue) -> None:
        listing = source.list([QUEUED, CHECKING, ACTIVE])
        if not listing.sure or listing.places:
            return
        del self._worked[str(source.path)]
        if self._claim_drained(source):
            over = [place.state for place in source.list([DONE, FAILED]).places]
            done, failed = over.count(DONE), over.count(FAILED)
            text = f"drained: nothing is left to do in {source.name} ({done:,} done, {failed:,} failed)"
            self._put(source, DRAINED, text, {"done": done, "failed": failed})

    def _claim_drained(self, source: DirectoryQueue) -> bool:
        """Of many workers that see it one tells. The mark is removed by whoever ends a task, before the task's file is
        moved: so it was made by somebody who saw the queue empty after that."""
        try:
            os.close(os.open(source.path / DRAINED_FILE, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        except OSError:
            return False
        return True

    # The thread

    def _wants(self, event: str) -> bool:
        return any(event in one.on for one in self._recipients)

    def _put(self, source: DirectoryQueue, event: str, text: str, facts: dict[str, Any]) -> None:
        now = time.monotonic()
        while self._sent and now - self._sent[0] > _MINUTE:
            self._sent.popleft()
        if event != DRAINED and len(self._sent) >= self._most:
            self._untold += 1
            return
        more = f" ({self._untold:,} notices before this one were not sent)" if self._untold else ""
        notice = {
            "v": 1,
            "event": event,
            "text": text + more,
            "queue": source.name,
            "path": str(source.path),
            "worker": self._worker,
            "host": socket.gethostname(),
            "time": round(time.time(), 3),
            "unsent": self._untold,
            **facts,
        }
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            self._untold += 1
            return
        self._untold = 0
        self._sent.append(now)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="paddock-notices", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        from paddock.work.notices.deliver import Undelivered, ways  # takes a while, and most workers tell nobody

        while (notice := self._waiting.get()) is not None:
            for one in self._recipients:
                if self._is_ours(one, notice):
                    for way, tell in ways(one).items():
                        try:
                            tell(one, notice)
                        except Undelivered as error:
                            self._troubles.append((way, str(error)))
                        except Exception as error:  # whatever it is, the next one is told
                            self._troubles.append((way, getattr(error, "strerror", None) or type(error).__name__))

    def _is_ours(self, one: Notify, notice: dict[str, Any]) -> bool:
        """Whether this one is to be told, and by us."""
        event = notice["event"]
        if event not in one.on or (one.query and event != DRAINED):
            return False
        if event != TOLD_FAILED or self._marks is None:
            return True
        key = f"{notice['task']}~{notice['attempt']}"
        if not self._marks.claim(one, event, key):
            return False
        self._marks.sent(one, event, key)
        return True


def _facts(task: Task, attempt: int) -> dict[str, Any]:
    return {"task": task.id, "name": task.name, "project": task.project, "attempt": attempt}


def _title(task: Task) -> str:
    command = first_line(task.command)
    return f"{task.name or command[:80]} ({task.id})"

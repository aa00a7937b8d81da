"""What dead workers left behind: their tasks go back to the queue, their files go away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from paddock.queue.directory import DirectoryQueue
from paddock.queue.lease import Watch
from paddock.queue.lifecycle import ACTIVE, CHECKING, FAILED, PAUSED, QUEUED, Place, Token, ended
from paddock.queue.task import Attempt, render_attempt
from paddock.work import process

POISON = 5  # a task that was lost with its worker so often is not given to another one
EVERY = 5.0  # seconds between looks at other workers


class Reclaim:
    def __init__(self, queue: DirectoryQueue, watch: Watch, worker: str, say: Callable[[str], None]) -> None:
        self._queue, self._watch, self._worker, self._say = queue, watch, worker, say
        self._looked = -EVERY

    def look(self) -> None:
        now = time.monotonic()
        if now - self._looked < EVERY:
            return
        self._looked = now
        for place in self._queue.list().places:
            if (
                place.token is not None
                and place.token.worker != self._worker
                and self._watch.is_dead(place.token.worker)
            ):
                self._take_over(place)
        self._bury()

    def _take_over(self, place: Place) -> None:
        """Give a dead worker's task back. First it becomes ours by name, so that only one does this."""
        lost = place.token
        assert lost is not None
        mine = place._replace(token=Token(self._worker, lost.epoch + 1))
        if not self._queue.move(place, mine):
            return
        process.kill_marked(f"{place.id}~{lost}")
        state = {ACTIVE: QUEUED, CHECKING: QUEUED}.get(place.state, place.state)
        if place.state in (ACTIVE, PAUSED):
            file = self._queue.read(mine)
            note = Attempt(number=len(file.attempts) + 1, worker=lost.worker, outcome="lost", exit="its worker died")
            self._queue.append(mine, render_attempt(note, file.fence))
            if file.losses + 1 >= POISON and state == QUEUED:
                state = FAILED
        self._say(f"taken over from {lost.worker}: {place.id} goes to {state}")
        self._queue.move(mine, ended(mine, state))

    def _bury(self) -> None:
        """Remove the files of workers that are dead and own nothing any more."""
        owners = {p.token.worker for p in self._queue.list().places if p.token is not None}
        for name in os.listdir(self._queue.workers):
            known = name == self._worker or name in owners or name.startswith(".")
            if not known and self._watch.is_dead(name):
                (self._queue.workers / name).unlink(missing_ok=True)

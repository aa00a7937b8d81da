"""What dead workers left behind: their tasks go back to the queue, or where they belong; their files are removed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Set

from paddock.errors import Damaged
from paddock.queue.directory import DirectoryQueue, Listing
from paddock.queue.lease import Watch
from paddock.queue.lifecycle import (
    CANCELLED,
    FAILED,
    LOOK,
    OWNED,
    QUEUED,
    Place,
    Token,
    after_loss,
    ended,
    inherited,
    is_job,
)
from paddock.queue.order import cancelling
from paddock.queue.task import TaskFile, render_attempt
from paddock.work.processes import process
from paddock.work.queues.mirror import Mirror


class Reclaim:
    """One queue's, as one worker sees to it."""

    def __init__(
        self,
        queue: DirectoryQueue,
        mirror: Mirror,
        watch: Watch,
        worker: str,
        say: Callable[[str], None],
        every: float,
    ) -> None:
        """`every` so many seconds it looks at the other workers."""
        self.queue, self.mirror, self.watch, self.worker = queue, mirror, watch, worker
        self._say, self._every = say, every
        self.given_up: Callable[[DirectoryQueue, TaskFile], None] = lambda queue, file: None
        self.sweep: Callable[[Listing], set[str] | None] = lambda listing: set()  # of gangs; who has a rank somewhere
        self._looked = -1e9
        self._ownerless: set[Place] = set()  # at the last look
        self._owners: set[str] = set()

    def is_due(self, now: float) -> bool:
        return now - self._looked >= self._every

    def look(self, busy: Set[str]) -> None:
        """`busy` are the keys of the tasks that this worker has in hand: what else bears its name has slipped out of
        its hands, when a disk refused, and is taken up again like a dead worker's."""
        self._looked = time.monotonic()
        listing = self.mirror.claims()
        dead: dict[str, bool] = {self.worker: True}
        for place in (*listing.places, *self.queue.list([CANCELLED]).places):
            if place.token is None or f"{place.id}~{place.token}" in busy:
                continue
            owner = place.token.worker
            if is_job(owner):
                continue
            if owner not in dead:
                dead[owner] = self.watch.is_dead(owner)
            if dead[owner]:
                self._try(place, self._take)
        self._free(listing)
        seated = self.sweep(listing)
        if listing.sure and seated is not None:
            self._bury(listing, seated)

    def _try(self, place: Place, act: Callable[[Place], None]) -> None:
        """A disk that refuses is asked again at the next look; a file that is gone was somebody's wish."""
        try:
            act(place)
        except FileNotFoundError:
            pass
        except OSError as error:
            self._say(f"{place.path} cannot be taken over now ({error.strerror})")

    def _take(self, place: Place) -> None:
        """First it becomes ours by name, so that only one does this. Its epoch stays: it is that of the note."""
        lost = place.token
        assert lost is not None
        mine = place._replace(token=Token(self.worker, lost.epoch))
        if mine == place:
            os.stat(self.queue.where(place))  # we may have moved it since the directory was looked at
        elif not self.queue.move(place, mine):
            return
        process.kill_marked(f"{place.id}~{lost}")
        if mine.state == CANCELLED:
            cancelling.confirm(self.queue, mine)
            return
        try:
            state = self._note(mine, self.queue.read(mine), lost)
            if state == FAILED and place.state in OWNED:
                self.given_up(self.queue, self.queue.read(mine))
        except Damaged:  # edited beyond recognition: it waits where a person will see it
            state = after_loss(mine.state, 0)
        if self.queue.move(mine, ended(mine, state)):
            self._say(f"taken over from {lost.worker}: {place.id} goes to {state}")

    def _note(self, mine: Place, file: TaskFile, lost: Token) -> str:
        """Write down what is to be written, and say where the task goes."""
        found = inherited(mine.state, file, lost)
        if found.note is not None:
            self.queue.append(mine, render_attempt(found.note, file.fence))
        return found.state

    def _free(self, listing: Listing) -> None:
        """A file that somebody put where running tasks are, but that no worker has, waits for one. Not at first sight,
        and not roach's: its workers put no name on what they run."""
        found = {p for p in listing.places if p.token is None and p.state in OWNED}
        for place in found & self._ownerless:
            self._try(place, self._give)
        self._ownerless = found

    def _give(self, place: Place) -> None:
        try:
            if self.queue.read(place).roach:
                return
        except Damaged:
            return
        if self.queue.move(place, ended(place, QUEUED)):
            self._say(f"{place.path} had no worker: it goes to {QUEUED}")

    def _bury(self, listing: Listing, seated: set[str]) -> None:
        """Remove the files of workers that are dead and own nothing any more. A listing that is older than a death may
        lack what that worker took last, and without its file nobody would see for minutes that it is dead. So it is
        listed anew, and in two orders: one listing may miss a file that is being moved."""
        owners = {p.token.worker for p in listing.places if p.token is not None} | seated
        kept, self._owners = owners | self._owners, owners
        try:
            names = os.listdir(self.queue.workers)
        except OSError:
            return
        others = (name for name in names if name not in kept and name != self.worker and not name.startswith("."))
        dead = {name for name in others if self.watch.is_dead(name)}
        if not dead:
            return
        fresh = [self.queue.list(states) for states in (LOOK, LOOK[::-1])]
        if all(one.sure for one in fresh):
            for name in dead - {p.token.worker for one in fresh for p in one.places if p.token is not None}:
                # Its guard died with it, and somebody has removed the task's file since: nobody else would end it.
                for token in process.tokens_of(name):
                    process.kill_marked(token)
                with contextlib.suppress(OSError):
                    os.unlink(self.queue.workers / name)

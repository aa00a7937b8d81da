"""When a candidate has been at rest for long enough, by the observer's own clock. Pure but for the clock it is given.

The times of files on another host are never compared with ours: what counts is for how long we have seen no change.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from paddock.evaluate.formats.judgement import Judgement
from paddock.evaluate.origin.look import Entry, Look

Mark = tuple[tuple[str, int, int, int], ...]


@dataclass
class Observed:
    mark: Mark
    since: float
    moved: bool  # it appeared by a rename, so it was complete from the first moment


@dataclass
class Candidate:
    """One that is not dealt with yet, as it was when it was last seen."""

    look: Look
    judgement: Judgement
    due: float | None = None
    content: str = ""  # the fingerprint of what is complete
    was: Candidate | None = None  # when it was whole, and of which it is a remainder now

    @property
    def whole(self) -> Candidate | None:
        return self if self.judgement.complete else self.was

    def after(self, before: Candidate | None) -> Candidate:
        """A directory is deleted file by file, and may be looked at in between: that it was whole is remembered."""
        whole = before.whole if before is not None and not self.judgement.complete else None
        if whole is not None and set(mark_of(self.look)) < set(mark_of(whole.look)):
            self.was = whole
        return self


class Settling:
    def __init__(self) -> None:
        self._observed: dict[str, Observed] = {}

    def observe(self, look: Look, now: float, *, moved: bool = False) -> float:
        """For how long it has not changed, in seconds."""
        mark = mark_of(look)
        known = self._observed.get(look.path)
        if known is None or known.mark != mark:
            # A file that is changed after its rename is being written in place after all.
            self._observed[look.path] = Observed(mark, now, moved)
            return 0.0
        known.moved = known.moved or moved
        return now - known.since

    def is_ready(self, look: Look, judgement: Judgement, now: float, *, quiet: float | None = None) -> bool:
        """`quiet`: what the user says, instead of what the format needs."""
        known = self._observed.get(look.path)
        if known is None or known.mark != mark_of(look) or not judgement.complete:
            return False
        if known.moved or judgement.said:
            return True
        return now - known.since >= (judgement.quiet if quiet is None else quiet)

    def due(self, look: Look, judgement: Judgement, *, quiet: float | None = None) -> float | None:
        """The moment at which it will have rested for long enough."""
        known = self._observed.get(look.path)
        if known is None or not judgement.complete:
            return None
        return known.since + (0.0 if known.moved or judgement.said else judgement.quiet if quiet is None else quiet)

    def forget(self, path: str) -> None:
        self._observed.pop(path, None)


def mark_of(look: Look) -> Mark:
    return tuple((name, *entry) for name, entry in sorted(look.files.items()))


class Settled:
    """What has been dealt with, as it was then."""

    def __init__(self) -> None:
        self._marks: dict[str, Mark] = {}  # by path

    def add(self, here: Look) -> None:
        self._marks[here.path] = mark_of(here)

    def has(self, here: Look) -> bool:
        """As it is now. A directory to which only something was added is the same checkpoint: an evaluator may write
        its report there."""
        mark, known = mark_of(here), self._marks.get(here.path)
        if known is None or known == mark:
            return known is not None
        if here.is_directory and set(known) <= set(mark):
            self._marks[here.path] = mark
            return True
        return False

    def has_file(self, path: str, entry: Entry | None) -> bool:
        """The same of a file, for whoever has looked at it alone."""
        return entry is not None and self._marks.get(path) == (("", *entry),)

    def keep(self, paths: Collection[str]) -> None:
        """Forget what is gone, once that is much."""
        if len(self._marks) > 2 * len(paths) + 1000:
            self._marks = {path: mark for path, mark in self._marks.items() if path in paths}

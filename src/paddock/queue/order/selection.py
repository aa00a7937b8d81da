"""Which tasks a person means: by id, by a part of it, by name, by a pattern, by state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paddock.errors import Ambiguous, NotFound, UsageError
from paddock.queue.lifecycle import STATES
from paddock.queue.show.view import Entry

SHORTEST_END = 4  # letters of the end of an id: fewer are typed by mistake
_LIKE_AN_ID = re.compile(r"\d{8}-\d{6}")
_SHOWN = 10  # candidates of an ambiguous word


@dataclass(frozen=True)
class Selection:
    """What was said on the command line."""

    words: Sequence[str] = ()
    regex: str | None = None
    states: Sequence[str] = ()
    everything: bool = False

    @property
    def exact(self) -> bool:
        """Each task was named: no need to ask whether they are meant."""
        return bool(self.words) and self.regex is None and not self.states and not self.everything


def choose(
    entries: Sequence[Entry], selection: Selection, usual: Sequence[str] = STATES, where: str = "this queue"
) -> list[Entry]:
    """The tasks that all of the selection fits, in the order of their ids. Without words only those in one of the
    `usual` states of the verb are meant. `where` they are looked for is what a person is told."""
    if not selection.words and selection.regex is None and not selection.states and not selection.everything:
        raise UsageError("Which tasks?", hint="Name them, or use --regex, --state or --all.")
    pattern = _compile(selection.regex) if selection.regex is not None else None
    if selection.words:
        found = named(entries, selection.words, where)
    else:
        states = selection.states or usual
        found = sorted((e for e in entries if e.state in states), key=lambda e: e.id)
    if selection.states:
        found = [e for e in found if e.state in selection.states]
    if pattern is not None:
        found = [e for e in found if pattern.search(e.name) or pattern.search(e.command)]
    return found


def named(entries: Sequence[Entry], words: Sequence[str], where: str = "this queue") -> list[Entry]:
    """One task for each word; each task once."""
    return list({entry.id: entry for entry in (_one(entries, word, where) for word in words)}.values())


def _one(entries: Sequence[Entry], word: str, where: str) -> Entry:
    found = fitting(entries, word)
    if not found:
        raise NotFound(f"There is no task {word!r} in {where}.", hint="`paddock status` shows what there is.")
    if len(found) > 1:
        shown = tuple(f"{e.id}  {e.state}  {e.title}" for e in sorted(found, key=lambda e: e.id)[:_SHOWN])
        more = (f"and {len(found) - _SHOWN} more",) if len(found) > _SHOWN else ()
        raise Ambiguous(
            f"{word!r} fits {len(found)} tasks.",
            shown + more,
            hint=f"Use the id, or --regex '^{re.escape(word)}' for all of them.",
        )
    return found[0]


def fitting(entries: Sequence[Entry], word: str) -> list[Entry]:
    """The tasks with this id, else with this name, else whose id begins or ends so. A name comes before a part of an
    id: who types a name must not get another task for it."""
    if not word:
        return []
    exact = [e for e in entries if e.id == word]
    if exact:
        return exact
    if not _LIKE_AN_ID.match(word):  # else a hundred thousand files are read for nothing
        exact = [e for e in entries if e.name == word]
        if exact:
            return exact
    return [e for e in entries if e.id.startswith(word)] or [
        e for e in entries if len(word) >= SHORTEST_END and e.id.endswith(word)
    ]


def _compile(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"--regex {text!r} cannot be read: {error}.") from None

"""The watches that a home knows: one for each directory that was ever watched, whether or not somebody watches it now.

watches/<id>/watch.json    the directory
watches/<id>/setup.json    how it was watched last: the options, so that it can be looked at again
watches/<id>/ledger/       what was found
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import msgspec

from paddock import files, wire
from paddock.errors import Ambiguous, NotFound
from paddock.evaluate.ledger.book import Ledger, watch_id
from paddock.evaluate.ledger.watcher import Seen, watchers
from paddock.queue.show.roster import ALIVE, DEAD
from paddock.record.layout import Home

_SHORTEST = 4  # letters of an id


class Watch(NamedTuple):
    id: str
    directory: str
    ledger: Ledger
    setup: dict[str, Any]  # the options of its last watcher; none when a newer Paddock wrote it
    watchers: tuple[Seen, ...]  # the living first

    @property
    def evaluators(self) -> list[str]:
        posts = [post for seen in self.watchers for post in seen.at(self.id)]
        return list(dict.fromkeys(name for post in posts for name in post.evaluators)) or list(
            self.setup.get("names", [])
        )

    @property
    def queues(self) -> list[str]:
        found = [queue for seen in self.watchers for queue in seen.facts.queues]
        last = self.setup.get("queue")
        return list(dict.fromkeys([*found, *([last] if isinstance(last, str) else [])]))

    @property
    def is_watched(self) -> bool:
        return any(seen.state == ALIVE for seen in self.watchers)


def watches(home: Home) -> list[Watch]:
    """All, by directory."""
    seen = sorted(watchers(home), key=lambda one: (one.state != ALIVE, one.state == DEAD, one.name))
    found = []
    for entry in files.entries(home.path / "watches"):
        ledger = Ledger(home.path / "watches" / entry.name)
        about = _read(ledger, "watch.json")
        if isinstance(about.get("directory"), str):
            mine = tuple(one for one in seen if one.at(entry.name))
            found.append(Watch(entry.name, about["directory"], ledger, _read(ledger, "setup.json"), mine))
    return sorted(found, key=lambda watch: watch.directory)


def find(known: list[Watch], word: str) -> Watch:
    """By its directory, by some parts of that in a row, or by the beginning of its id."""
    fits = [watch for watch in known if watch.id in (word, watch_id(os.path.expanduser(word)))]
    if not fits:
        parts = f"{os.sep}{word.strip(os.sep)}{os.sep}"
        fits = [
            watch
            for watch in known
            if parts in watch.directory + os.sep or (len(word) >= _SHORTEST and watch.id.startswith(word))
        ]
    if len(fits) > 1:
        names = tuple(map(_line, fits))
        raise Ambiguous(f"{word!r} fits {len(fits)} watches.", names, hint="Use the id, or the whole path.")
    if not fits:
        listed = "\n".join(f"    {_line(watch)}" for watch in known[:20])
        more = f"\n    and {len(known) - 20} more" if len(known) > 20 else ""
        raise NotFound(
            f"There is no watch {word!r}.",
            hint=f"There are:\n{listed}{more}"
            if known
            else "`paddock watch DIRECTORY --evaluator file.py:fn` makes one.",
        )
    return fits[0]


def _line(watch: Watch) -> str:
    directory = watch.directory.replace("\n", "\\n")
    return f"{watch.id}  {directory}"


def remember(ledger: Ledger, setup: dict[str, Any]) -> None:
    """How a directory is watched from now on."""
    data = wire.dumps(setup)
    path = ledger.path / "setup.json"
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    files.replace(path, data)


def _read(ledger: Ledger, name: str) -> dict[str, Any]:
    try:
        found = wire.loads((ledger.path / name).read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}

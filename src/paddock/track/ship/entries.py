"""What is said of a run's artifacts outside of the run: the entries of their shelves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from paddock import files, wire
from paddock.record.layout import Home
from paddock.track.things.shelf import Shelf


def entries(home: Home, run_id: str) -> Iterator[tuple[str, bytes, str]]:
    """(path below the home, its bytes, its mark) of each entry that this run has made. One that only says that a
    version was logged again is filled up with what that version is: another home counts otherwise."""
    for folder in list(files.entries(home.run(run_id).files / "artifacts")):
        shelf = Shelf(home, folder.name)
        for number, entry in enumerate(list(shelf.entries())):
            if entry.get("run") != run_id:
                continue
            if "digest" not in entry:
                entry = {**(shelf.find(str(entry.get("version"))) or {}), **entry}
            yield f"artifacts/{folder.name}/v{number}.json", wire.dumps(entry), entry_mark(entry)


def entry_mark(entry: dict[str, Any]) -> str:
    """By which an entry is known in whichever home it is."""
    said = wire.dumps([entry.get(key) for key in ("run", "path", "created")])
    return hashlib.sha256(said).hexdigest()

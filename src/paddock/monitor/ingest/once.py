"""Small files that are written once and mean something: a run's facts, and the entries of an artifact's shelf."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

from paddock import files, wire
from paddock.monitor.ingest.durable import Durable
from paddock.monitor.ingest.folder import Folder
from paddock.record.layout import Home
from paddock.track.ship.entries import entry_mark
from paddock.track.ship.names import FACTS, Place
from paddock.track.ship.parcel import Answer, Ask, Part
from paddock.track.things.shelf import Shelf


class Once:
    def __init__(self, home: Home, folder: Folder, durable: Durable) -> None:
        self._home, self._folder, self._durable = home, folder, durable

    def answer(self, ask: Ask, where: Place) -> Answer:
        if where.kind != FACTS:
            known = any(entry_mark(entry) == ask.digest for entry in Shelf(self._home, where.parts[1]).entries())
            return Answer(ask.size if known else 0, done=known)
        if self._folder.look(where) is None:
            return Answer(0)
        data = files.read_from(self._folder.path(where), 0)
        same = hashlib.sha256(data).hexdigest() == ask.digest
        return Answer(len(data) if same else 0, done=same)

    def take(self, part: Part, where: Place, data: memoryview) -> Answer:
        whole = bytes(data)
        facts = _facts(whole)
        if part.at or part.size != part.total or facts is None:
            return Answer(0, refused=f"{where.parts[-1]} comes as one piece of JSON.")
        if where.kind == FACTS:
            return self._facts(where, whole, facts)
        return self._shelve(where.parts[1], facts, part.size)

    def _facts(self, where: Place, data: bytes, facts: dict[str, Any]) -> Answer:
        path = Path(self._folder.path(where))
        self._folder.forget(where)
        self._durable.note(*self._folder.prepare(where))
        if facts.get("id", where.run) != where.run:
            return Answer(0, refused=f"run.json is that of {facts.get('id')!r}, not of {where.run!r}.")
        if files.write_once(path, data):
            return Answer(len(data), done=True)
        there = files.read_from(path, 0)
        known = _facts(there)
        if there == data or (known is not None and are_together(known, facts)):
            return Answer(len(data), done=True)
        return Answer(0, refused=_taken(where.run, known or {}))

    def _shelve(self, name: str, entry: dict[str, Any], size: int) -> Answer:
        """Versions are counted by each home for itself: what is new here gets the next number of this shelf."""
        if not _is_entry(entry):
            return Answer(0, refused="This is no entry of an artifact.")
        shelf = Shelf(self._home, name)
        if not any(entry_mark(known) == entry_mark(entry) for known in shelf.entries()):
            version = next((v["version"] for v in shelf.entries() if _has_content(v, entry)), "")
            if version:
                shelf.add_again(version, entry)
            else:
                shelf.add({key: value for key, value in entry.items() if key not in ("version", "after")})
        return Answer(size, done=True)


def are_together(known: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two processes that cannot see each other's disks mean the same run: they were started together, or the
    later one has said that it joins or continues a run of this id. The first one's facts hold, as on one disk."""
    begun = known.get("begun_by")
    return bool(new.get("joins")) or (bool(begun) and begun == new.get("begun_by"))


def _taken(run: str, known: dict[str, Any]) -> str:
    host = known.get("host")
    where = host.get("name") if isinstance(host, dict) else host
    created = known.get("created")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(created)) if isinstance(created, (int, float)) else ""
    about = [str(known.get("user") or ""), f"on {where}" if where else "", f"at {when}" if when else ""]
    by = " ".join(word for word in about if word)
    return f"The server has another run {run!r}{f' (begun by {by})' if by else ''}."


def _facts(data: bytes) -> dict[str, Any] | None:
    try:
        found = wire.loads(data)
    except (wire.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_entry(entry: dict[str, Any]) -> bool:
    texts = all(isinstance(entry.get(key), str) for key in ("digest", "run", "path", "type"))
    listed = isinstance(entry.get("files"), dict) and isinstance(entry.get("aliases"), list)
    return texts and listed and {"metadata", "created"} <= entry.keys()


def _has_content(known: dict[str, Any], entry: dict[str, Any]) -> bool:
    return all(known.get(key) == entry.get(key) for key in ("digest", "type"))

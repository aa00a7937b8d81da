"""What a run's records have set: for each thing the last word counts, by the attempt and the time of its writing.

So the outcome does not depend on which journal is read first, and an index that grew line by line equals one that
was rebuilt.
"""

from __future__ import annotations

from typing import Any

import msgspec

from paddock import wire
from paddock.catalog.writer import ANNOTATION, Seen, moment

# Not kept one by one: they are folded into the card, the columns or the writer; or there are too many of them, and who
# wants usage reads the journals.
FOLDED = frozenset({"open", "columns", "beat", "dropped", "config", "summary", "info", "progress", "usage"})
# Kept, and heard.
HEARD = frozenset({"metric", "tag", "name", "note", "star", "bug", "code", "alert", "about"})

When = tuple[int, float]  # attempt, time: a later attempt is later, also when the clock was set back
Register = tuple[When, Any]
_AFTER_ALL = 1 << 62  # the attempt of what a person said, to whichever attempt


class Registers(msgspec.Struct):
    config: dict[str, Register] = {}
    summary: dict[str, Register] = {}
    tags: dict[str, Register] = {}
    info: dict[str, Register] = {}
    readings: dict[str, Register] = {}  # metric or pattern -> [goal, whether its best is its result, x-axis]
    about: dict[str, Register] = {}  # project, group, job_type, where a script says what its submission did not
    words: dict[str, Register] = {}  # name, note, star, bug, code
    alerts: int = 0

    def take(self, record: dict[str, Any], by: Seen) -> None:
        kind, when = record["k"], (_AFTER_ALL if by.role == ANNOTATION else by.attempt, moment(record))
        if kind in ("config", "summary", "info", "about"):
            values = wire.revive(record.get("set"))
            if isinstance(values, dict):
                into: dict[str, Register] = getattr(self, kind)
                for key, value in values.items():
                    _set(into, key, when, value)
        elif kind == "tag":
            for member, on in (("add", True), ("remove", False)):
                names = record.get(member)
                for name in names if isinstance(names, list) else ():
                    _set(self.tags, str(name), when, on)
        elif kind == "metric":
            if isinstance(record.get("name"), str):
                reading = [record.get("goal"), bool(record.get("best")), record.get("x")]
                _set(self.readings, record["name"], when, reading)
        elif kind == "alert":
            self.alerts += 1
        elif kind in _WORDS:
            _set(self.words, kind, when, wire.revive(record.get(_WORDS[kind])))


_WORDS = {"name": "name", "note": "text", "star": "on", "bug": "on", "code": "code"}
unpack = wire.unpacker(Registers).decode


def _set(registers: dict[str, Register], key: str, when: When, value: Any) -> None:
    known = registers.get(key)
    if known is None or known[0] <= when:
        registers[key] = (when, value)

"""What a run's records have set: for each thing the last word counts, by the time of its writing.

So the outcome does not depend on which journal is read first, and an index that grew line by line equals one that
was rebuilt.
"""

from __future__ import annotations

from typing import Any

import msgspec

from paddock import wire
from paddock.catalog.writer import moment

# Not kept one by one: they are folded into the card, the columns or the writer.
FOLDED = frozenset({"open", "columns", "beat", "dropped", "config", "summary", "info"})

Register = tuple[float, Any]


class Registers(msgspec.Struct):
    config: dict[str, Register] = {}
    summary: dict[str, Register] = {}
    tags: dict[str, Register] = {}
    info: dict[str, Register] = {}
    readings: dict[str, Register] = {}  # metric or pattern -> [goal, whether its best is its result, x-axis]
    words: dict[str, Register] = {}  # note, star, bug, code
    alerts: int = 0

    def take(self, record: dict[str, Any]) -> None:
        kind, t = record["k"], moment(record)
        if kind in ("config", "summary", "info"):
            values = record.get("set")
            if isinstance(values, dict):
                into: dict[str, Register] = getattr(self, kind)
                for key, value in values.items():
                    _set(into, key, t, wire.revive(value))
        elif kind == "tag":
            for member, on in (("add", True), ("remove", False)):
                names = record.get(member)
                for name in names if isinstance(names, list) else ():
                    _set(self.tags, str(name), t, on)
        elif kind == "metric":
            if isinstance(record.get("name"), str):
                reading = [record.get("goal"), bool(record.get("best")), record.get("x")]
                _set(self.readings, record["name"], t, reading)
        elif kind == "alert":
            self.alerts += 1
        elif kind in _WORDS:
            _set(self.words, kind, t, wire.revive(record.get(_WORDS[kind])))


_WORDS = {"note": "text", "star": "on", "bug": "on", "code": "code"}
unpack = wire.unpacker(Registers).decode


def _set(registers: dict[str, Register], key: str, t: float, value: Any) -> None:
    known = registers.get(key)
    if known is None or known[0] <= t:
        registers[key] = (t, value)

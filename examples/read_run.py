"""Read a run without Paddock: written from docs/reference/journal.md with the standard library alone.

python examples/read_run.py ~/.paddock/runs/k7f3m2qxab
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import sys
import time
import zlib
from pathlib import Path
from typing import Any

SILENT_SECONDS = 20


class Journal:
    """What one process wrote: its first record, its other records, its rows by column set."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open: dict[str, Any] = {"role": "main", "attempt": 1, "rank": None, "t": None}
        self.records: list[dict[str, Any]] = []
        self.columns: dict[int, tuple[list[str], dict[str, str]]] = {}
        self.rows: list[list[Any]] = []
        self.damaged = 0
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in data.split(b"\n")[:-1]:  # what follows the last line's end is still being written
            if line.strip():
                self._take(check(line))

    def _take(self, value: Any) -> None:
        if value is None:
            self.damaged += 1
        elif isinstance(value, list):
            self.rows.append(value)
        elif value["k"] == "open":
            self.open = value
        elif value["k"] == "columns":
            self.columns[value["id"]] = value["names"], value.get("tags", {})
        else:
            self.records.append(value)

    def said(self) -> list[tuple[float, float, dict[str, Any]]]:
        """Its records, each behind what its turn is found by: the attempt (a person comes after all), and the time."""
        attempt = float("inf") if self.open["role"] == "annotation" else self.open["attempt"]
        return [(attempt, record["t"], record) for record in self.records]

    @property
    def end(self) -> dict[str, Any] | None:
        return next((record for record in self.records if record["k"] == "end"), None)

    def alive(self) -> bool:
        if self.end is not None:
            return False
        if self.open.get("host") != socket.gethostname() or not self.open.get("boot"):
            # To be sure one would have to watch the file for so long; a single look has only its time to go by.
            return time.time() - self.path.stat().st_mtime < SILENT_SECONDS
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            fields = Path(f"/proc/{self.open['pid']}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False
        return boot == self.open["boot"] and fields[0] not in "ZX" and fields[19] == self.open["start"]


def check(line: bytes) -> Any:
    """The value of a journal line, or None when it is damaged."""
    body = line.rpartition(b",")[0]
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, (list, dict)) or not value:
        return None
    written = value.pop() if isinstance(value, list) else value.pop("crc", None)
    return value if written == zlib.crc32(body) else None


def read_run(path: Path) -> dict[str, Any]:
    names = {p.name for p in (path / "journal").iterdir() if not p.name.startswith(".")}
    wanted = [n for n in names if n.endswith(".jsonl") or (n.endswith(".jsonl.gz") and n[:-3] not in names)]
    journals = [Journal(path / "journal" / name) for name in sorted(wanted)]
    facts = revive(json.loads((path / "run.json").read_bytes()))
    series = read_series(journals, facts["created"])  # counts damaged rows too
    said = sorted((one for journal in journals for one in journal.said()), key=lambda one: one[:2])
    records = [record for _, _, record in said]
    return {
        "id": facts["id"],
        "name": next((r["name"] for r in reversed(records) if r["k"] == "name"), facts["name"]),
        "state": state(journals),
        "config": facts["config"] | members(records, "config"),
        "summary": members(records, "summary"),
        "tags": tags(facts["tags"], records),
        "notes": next((r["text"] for r in reversed(records) if r["k"] == "note"), facts["notes"]),
        "series": series,
        "damaged": sum(journal.damaged for journal in journals),
    }


def read_series(journals: list[Journal], created: float) -> list[dict[str, Any]]:
    points: dict[Any, dict[int, tuple[Any, Any]]] = {}
    for journal in journals:
        opened = created if journal.open["t"] is None else journal.open["t"]
        latest = float("-inf")
        for id_, step, milliseconds, *values in journal.rows:
            names, labels = journal.columns.get(id_, ([], {}))
            if len(names) != len(values):
                journal.damaged += 1
                continue
            latest = max(latest, opened + milliseconds / 1000)  # within a journal position decides, not the clock
            written = (journal.open["attempt"], latest)
            for name, value in zip(names, values, strict=True):
                series = points.setdefault((name, json.dumps(labels, sort_keys=True), journal.open["rank"] or 0), {})
                if step not in series or series[step][0] <= written:
                    series[step] = written, number(value)
    return [
        {
            "metric": name,
            "tags": json.loads(labels),
            "rank": rank,
            "steps": sorted(series),
            "values": [series[step][1] for step in sorted(series)],
        }
        for (name, labels, rank), series in sorted(points.items())
    ]


def number(value: Any) -> Any:
    return float("nan") if value is None else float(value) if isinstance(value, str) else value


def revive(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$float"} and value["$float"] in ("nan", "inf", "-inf"):
            return float(value["$float"])
        inner = value.get("$dict")
        if len(value) == 1 and isinstance(inner, dict) and inner.keys() in ({"$float"}, {"$dict"}):
            value = inner
        return {key: revive(item) for key, item in value.items()}
    return [revive(item) for item in value] if isinstance(value, list) else value


def members(records: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        if record["k"] == kind:
            found |= revive(record["set"])
    return found


def tags(given: list[str], records: list[dict[str, Any]]) -> list[str]:
    found = dict.fromkeys(given)
    for record in records:
        if record["k"] == "tag":
            found |= dict.fromkeys(record["add"])
            for tag in record["remove"]:
                found.pop(tag, None)
    return list(found)


def state(journals: list[Journal]) -> str:
    mains = [journal for journal in journals if journal.open["role"] == "main"]
    exits = [record for journal in journals for record in journal.records if record["k"] == "exit"]
    last = max([j.open["attempt"] for j in mains] + [e["attempt"] for e in exits], default=0)
    present = sorted(
        (j for j in mains if j.open["attempt"] == last), key=lambda j: (j.open["rank"] or 0, -(j.open["t"] or 0))
    )
    if any(journal.alive() for journal in present):
        return "running"
    own = "lost"
    if present and present[0].end is not None:
        ends = [by_end(journal.end) for journal in present if journal.end is not None]
        own = "failed" if "failed" in ends else ends[0]
    seen = next((record for record in exits if record["attempt"] == last), None)
    if seen is None or own not in ("lost", "finished"):
        return own
    return "killed" if seen["signal"] or seen["oom"] else "failed" if seen["code"] else "finished"


def by_end(end: dict[str, Any]) -> str:
    if end["reason"] in ("signal", "interrupted"):
        return "killed"
    return "failed" if end["reason"] == "exception" or end["code"] else "finished"


if __name__ == "__main__":
    json.dump(read_run(Path(os.path.expanduser(sys.argv[1]))), sys.stdout, indent=1)

"""The versions of an artifact: <home>/artifacts/<name>/.

`v<N>.json` says what a version is and which run holds its files. `again<N>.json` says that a version was logged once
more: by which run, which holds the files too, and with which aliases. Each is written once. `after` is the newest
version at that time, so what was said last is known without comparing clocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddock import files, wire
from paddock.record.layout import Home

Entry = dict[str, Any]
_SEARCHED = 100  # versions that are compared with new content; what is older is stored again


class Shelf:
    def __init__(self, home: Home, name: str) -> None:
        self._home = home
        self.path = home.path / "artifacts" / name

    def versions(self) -> list[int]:
        return self._numbers("v")

    def add(self, entry: Entry) -> str:
        self.path.mkdir(parents=True, exist_ok=True)
        number = max(self.versions(), default=-1) + 1
        while not files.write_once(self.path / f"v{number}.json", wire.dumps({**entry, "version": f"v{number}"})):
            number += 1
        return f"v{number}"

    def add_again(self, version: str, entry: Entry) -> None:
        """One that is there already was logged anew."""
        said = {key: entry[key] for key in ("aliases", "run", "path", "metadata", "created")}
        said |= {"version": version, "after": max(self.versions(), default=-1)}
        number = max(self._numbers("again"), default=-1) + 1
        while not files.write_once(self.path / f"again{number}.json", wire.dumps(said)):
            number += 1

    def find(self, which: str) -> Entry | None:
        """By version, by alias, or "latest": of several the one that was said last."""
        if re.fullmatch(r"v\d+", which):
            return self._read(which)
        for version, aliases in self._said():
            if which == "latest" or which in aliases:
                return self._read(version)
        return None

    def entries(self) -> Iterator[Entry]:
        """Every version, then every time that one was logged anew."""
        for kind in ("v", "again"):
            for number in self._numbers(kind):
                entry = self._read(f"{kind}{number}")
                if entry is not None:
                    yield entry

    def held(self, entry: Entry) -> Iterator[tuple[str, Path]]:
        """The runs that still have all of a version's files, and where."""
        holders = [entry, *(again for again in self._again() if again.get("version") == entry.get("version"))]
        wanted = [name for name, about in entry["files"].items() if "digest" in about]
        for holder in holders:
            path = self._home.run(holder["run"]).path / holder["path"]
            if all((path / name).is_file() for name in wanted):
                yield holder["run"], path

    def like(self, type: str, sizes: dict[str, int]) -> Iterator[Entry]:
        """Versions whose files have these names and sizes, the newest first."""
        for number in self.versions()[: -_SEARCHED - 1 : -1]:
            entry = self._read(f"v{number}")
            if entry is None or entry.get("type") != type:
                continue
            if {name: about["size"] for name, about in entry["files"].items() if "digest" in about} == sizes:
                yield entry

    def _said(self) -> Iterator[tuple[str, list[str]]]:
        """Each version with the aliases it was given, whatever was said last first."""
        again = self._again()
        for number in reversed(self.versions()):
            while again and again[-1]["after"] >= number:
                one = again.pop()
                yield one["version"], one["aliases"]
            entry = self._read(f"v{number}")
            yield f"v{number}", list(entry.get("aliases") or ()) if entry else []

    def _again(self) -> list[Entry]:
        found = [self._read(f"again{number}") for number in self._numbers("again")]
        return [entry for entry in found if entry is not None]

    def _numbers(self, kind: str) -> list[int]:
        found = (re.fullmatch(rf"{kind}(\d+)\.json", entry.name) for entry in files.entries(self.path))
        return sorted(int(match[1]) for match in found if match)

    def _read(self, name: str) -> Entry | None:
        try:
            found = wire.loads(files.read_from(self.path / f"{name}.json", 0))
        except (OSError, wire.DecodeError, UnicodeDecodeError):
            return None
        return found if isinstance(found, dict) else None

"""Reports: saved comparisons with prose. Each saving is a file of its own in the home; none is ever rewritten.

    <home>/reports/<id>/<number>-<writer>.json

The one with the highest number is the report; of two with the same number, which two people saved at the same moment,
the one whose name comes last. The others are its history. One that says `gone` is a report that was removed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from paddock import files, wire
from paddock.errors import Damaged, NotFound, Refused
from paddock.record.journal import writer_name
from paddock.record.layout import ID_PATTERN, Home, new_id

VERSION = 1
MOST_BYTES = 4 << 20
_NAME = re.compile(r"(\d{6,12})-[\w.-]+\.json")


class Block(msgspec.Struct, frozen=True):
    """A piece of a report: prose in Markdown, or a comparison as the query of its address on the board."""

    kind: Literal["text", "comparison"]
    text: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    v: int = VERSION
    id: str
    title: str
    blocks: tuple[Block, ...] = ()
    created: float
    saved: float
    user: str = ""
    gone: bool = False
    name: str = ""  # of the file; not in it


def directory(home: Home) -> Path:
    return home.path / "reports"


def reports(home: Home) -> Iterator[Report]:
    """Those that are there, as they were saved last; one that cannot be read is left out."""
    for entry in files.entries(directory(home)):
        if ID_PATTERN.fullmatch(entry.name) and entry.is_dir():
            try:
                yield read(home, entry.name)
            except (NotFound, Damaged):
                continue


def read(home: Home, report: str) -> Report:
    """As it was saved last."""
    names = versions(home, report)
    if not names:
        raise NotFound(f"There is no report {report!r}.", hint="GET /api/v1/reports lists the reports.")
    found = _load(directory(home) / report / names[-1])
    if found.gone:
        raise NotFound(f"The report {report!r} was removed.", hint=f"Its history is in {directory(home) / report}.")
    return found


def versions(home: Home, report: str) -> list[str]:
    """The names of its files, oldest first."""
    if not ID_PATTERN.fullmatch(report):
        return []
    try:
        names = [entry.name for entry in files.entries(directory(home) / report) if _NAME.fullmatch(entry.name)]
    except OSError:
        return []
    return sorted(names, key=lambda name: (_number(name), name))


def save(home: Home, report: str | None, content: dict[str, Any], *, base: str = "", user: str = "") -> Report:
    """Write a new version. `base` is the one that was changed: when another has come since, nothing is written."""
    name = report or new_id()
    known = versions(home, name)
    if report is not None and not known:
        raise NotFound(f"There is no report {report!r}.")
    if known and base != known[-1]:
        raise Refused(
            "Somebody has saved this report since you opened it.", hint="Copy your text, load it again, and put it in."
        )
    now = time.time()
    created = _load(directory(home) / name / known[0]).created if known else now
    made = Report(id=name, created=created, saved=now, user=user, **content)
    folder = directory(home) / name
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{(_number(known[-1]) if known else 0) + 1:06d}-{writer_name()}.json"
    data = wire.dumps({key: value for key, value in msgspec.to_builtins(made).items() if key != "name"})
    files.write_once(folder / file, data + b"\n")
    return msgspec.structs.replace(made, name=file)


def _load(path: Path) -> Report:
    try:
        data = files.read_from(path, 0, MOST_BYTES)
        found = msgspec.json.decode(data, type=Report)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Damaged(f"The report {path} cannot be read ({error}).") from None
    return msgspec.structs.replace(found, name=path.name)


def _number(name: str) -> int:
    return int(name.partition("-")[0])

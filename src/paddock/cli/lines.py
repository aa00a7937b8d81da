"""The lines of the logging module, for `paddock logs --logging`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from paddock.cli.command import Session
from paddock.cli.output import QUIET, Output
from paddock.cli.shape import label
from paddock.compare.text import clean
from paddock.model import RUNNING, LogLine, RunRow
from paddock.record import lines as pages
from paddock.record.lines import Match, Page

_PAGE = 1000  # lines
_POLL_SECONDS = 0.25
_STATE_SECONDS = 2.0  # how often a followed run is asked whether it still runs
_NAMES = {number: name for name, number in pages.LEVELS.items() if name not in ("WARN", "FATAL")}
_STYLES = {10: "dim", 20: "", 30: "yellow", 40: "red", 50: "bold red"}


def print_lines(session: Session, row: RunRow, follow: bool, count: int | None, match: Match) -> None:
    out, logs = session.out, session.home.run(row.id).logs
    if out.mode == QUIET:
        return
    if not pages.exists(logs) and not (follow and row.state == RUNNING):
        out.json({"run": row.id, "lines": []})
        out.note(f"{label(row)} has no log lines; paddock.init(capture_logging=True) keeps them.")
        return
    if follow:
        _follow(session, row, logs, count, match)
    elif out.human:
        for line in _wanted(logs, count, match):
            _print(out, line)
    else:
        found = [msgspec.structs.asdict(line) for line in _wanted(logs, count, match)]
        out.json({"run": row.id, "lines": found})


def _wanted(logs: Path, count: int | None, match: Match) -> Iterator[LogLine]:
    if count is None:
        page = Page([], {}, {}, True)
        while page.more:
            page = pages.after(logs, page.end, _PAGE, match)
            yield from page.lines
    else:
        yield from _last(logs, count, match)[0]


def _last(logs: Path, count: int, match: Match) -> tuple[list[LogLine], dict[str, int]]:
    """The last lines that fit, and the place behind them."""
    page = pages.tail(logs, count, match)
    found, end = page.lines, page.end
    while page.more and len(found) < count:
        page = pages.before(logs, page.start, count - len(found), match)
        found = page.lines + found
    return found, end


def _follow(session: Session, row: RunRow, logs: Path, count: int | None, match: Match) -> None:
    """Print what comes until the run has ended and everything it wrote has been printed."""
    out = session.out
    first, place = ([], {}) if count is None else _last(logs, count, match)
    for line in first:
        _emit(out, line)
    asked, state = time.monotonic(), row.state
    while True:
        page = pages.after(logs, place, _PAGE, match)
        place = page.end
        for line in page.lines:
            _emit(out, line)
        out.flush()
        if page.more or page.lines:
            continue
        if state != RUNNING:
            return
        time.sleep(_POLL_SECONDS)
        if time.monotonic() - asked > _STATE_SECONDS:
            with session.catalog() as catalog:
                asked, state = time.monotonic(), catalog.run(row.id).state


def _emit(out: Output, line: LogLine) -> None:
    out.json_line(msgspec.structs.asdict(line))
    _print(out, line)


def _print(out: Output, line: LogLine) -> None:
    style = _STYLES.get(line.level // 10 * 10, "")
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(_calendar(line.t))) + f".{int(line.t * 1000) % 1000:03d}"
    who = f"{line.host}:{line.pid}" + (f" rank {line.rank}" if line.rank is not None else "")
    level = _NAMES.get(line.level, str(line.level))
    first, *more = clean_lines(line.text)
    thread = f" {line.thread}" if line.thread else ""
    out.line(f"{moment} {level:<8} {who}{thread} {line.logger}: {first}", style)
    for rest in [*more, *(clean_lines(line.trace) if line.trace else [])]:
        out.line("    " + rest, style)


def clean_lines(text: str) -> list[str]:
    return [clean(part) for part in text.split("\n")]


def _calendar(t: float) -> float:
    return t if 0 <= t < 1e11 else 0.0

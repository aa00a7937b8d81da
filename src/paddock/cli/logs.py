"""paddock logs: what a run printed."""

from __future__ import annotations

import re
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import QUIET, Output
from paddock.cli.shape import label
from paddock.compare.view import output_file, output_files
from paddock.errors import NotFound, UsageError
from paddock.model import RUNNING, RunRow
from paddock.record.lines import Match, level_number
from paddock.record.printed import clean_line, tail_start

_POLL_SECONDS = 0.25
_STATE_SECONDS = 2.0  # how often a followed run is asked whether it still runs
_BLOCK = 1 << 16


@verb(
    "logs",
    help="What a run printed. Of a line that was drawn over and over (a progress bar) the last state is shown. "
    "With --logging, --level, --logger or --host: what its processes gave to the logging module, in the order of time.",
)
@click.argument("run")
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends.")
@click.option("-n", "--lines", type=click.IntRange(min=0), metavar="N", help="Only the last so many lines.")
@click.option("--attempt", type=int, help="Of this attempt [the last].")
@click.option("--rank", type=int, default=0, show_default=True, help="Of this rank.")
@click.option("--raw", is_flag=True, help="The bytes as they came, control sequences and all.")
@click.option("--grep", metavar="REGEX", help="Only lines that a regular expression fits somewhere.")
@click.option("--logging", "captured", is_flag=True, help="What the logging module was given, in all processes.")
@click.option("--level", metavar="LEVEL", help="The same, of this level and above: INFO, WARNING, 25.")
@click.option("--logger", metavar="NAME", help="The same, of this logger and those below it.")
@click.option("--host", metavar="HOST", help="The same, of this host.")
def logs(
    session: Session,
    run: str,
    follow: bool,
    lines: int | None,
    attempt: int | None,
    rank: int,
    raw: bool,
    grep: str | None,
    captured: bool,
    level: str | None,
    logger: str | None,
    host: str | None,
) -> None:
    with session.catalog() as catalog:
        row = catalog.run(run)
    pattern = _compiled(grep)
    if captured or level or logger or host:
        from paddock.cli.lines import print_lines

        print_lines(
            session, row, follow, lines, Match(level_number(level or "0"), logger or "", host or "", "", pattern)
        )
        return
    path = output_file(session.home.run(row.id).path, attempt, rank)
    if path is None and not (follow and row.state == RUNNING):
        _complain(session, row, attempt, rank)
        return
    if session.out.mode == QUIET:
        return
    if not follow:
        assert path is not None
        _print_whole(session.out, row, path, lines, raw, pattern)
        return
    _follow(session, row, attempt, rank, lines, raw, pattern)


def _compiled(grep: str | None) -> re.Pattern[str] | None:
    try:
        return re.compile(grep) if grep else None
    except re.error as error:
        raise UsageError(f"{grep!r} is no regular expression: {error}.", hint="Put a \\ before ( [ * + ? . |") from None


def _complain(session: Session, row: RunRow, attempt: int | None, rank: int) -> None:
    known = output_files(session.home.run(row.id).path)
    if known or attempt is not None or rank:
        there = ", ".join(f"attempt {a} rank {r}" for a, r in known) or "none"
        raise NotFound(f"{label(row)} has no output of this attempt and rank.", hint=f"There is: {there}.")
    session.out.json({"run": row.id, "lines": []})
    session.out.note(f"{label(row)} has no recorded output.")


def _print_whole(
    out: Output, row: RunRow, path: Path, lines: int | None, raw: bool, pattern: re.Pattern[str] | None
) -> None:
    start = 0 if lines is None or pattern else tail_start(path, lines)
    if out.human and raw and not pattern:
        with open(path, "rb") as file:
            file.seek(start)
            while block := file.read(_BLOCK):
                sys.stdout.buffer.write(block)
        return
    shown: Iterable[str] = (clean_line(line, out.terminal) for line in _lines(path, start))
    if pattern:
        shown = deque((line for line in shown if pattern.search(line)), lines)
    if out.human:
        for line in shown:
            out.raw(line + "\n")
    else:
        out.json({"run": row.id, "path": str(path), "lines": list(shown)})


def _lines(path: Path, start: int) -> Iterator[str]:
    with open(path, "rb") as file:
        file.seek(start)
        for line in file:
            yield line.decode("utf-8", "replace").removesuffix("\n")


def _follow(
    session: Session,
    row: RunRow,
    attempt: int | None,
    rank: int,
    lines: int | None,
    raw: bool,
    pattern: re.Pattern[str] | None,
) -> None:
    """Print what comes until the run has ended and everything it wrote has been printed."""
    out = session.out
    path, at, rest = None, 0, b""
    asked, state = time.monotonic(), row.state
    while True:
        if path is None:
            path = output_file(session.home.run(row.id).path, attempt, rank)
            if path is not None and lines is not None:
                at = tail_start(path, lines)
        data = _read(path, at) if path is not None else b""
        at += len(data)
        whole, newline, rest = (rest + data).rpartition(b"\n")
        _emit(out, whole + newline, raw, pattern)
        if data:
            continue
        if state != RUNNING:
            _emit(out, rest, raw, pattern)
            return
        time.sleep(_POLL_SECONDS)
        if time.monotonic() - asked > _STATE_SECONDS:
            asked, (state, path, at, rest) = time.monotonic(), _again(session, row, attempt, rank, path, at, rest)


def _again(
    session: Session, row: RunRow, attempt: int | None, rank: int, path: Path | None, at: int, rest: bytes
) -> tuple[str, Path | None, int, bytes]:
    """The run's state now; and when a new attempt has begun meanwhile, its output is the one to follow."""
    with session.catalog() as catalog:
        state = catalog.run(row.id).state
    newest = output_file(session.home.run(row.id).path, attempt, rank)
    if path is not None and newest != path:
        return state, newest, 0, b""
    return state, path, at, rest


def _read(path: Path, at: int) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(at)
            return file.read(1 << 20) or b""
    except FileNotFoundError:  # removed under us: the catalog will say so
        return b""


def _emit(out: Output, data: bytes, raw: bool, pattern: re.Pattern[str] | None) -> None:
    if not data:
        return
    if raw and out.human and not pattern:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n"):
        if pattern and not pattern.search(clean_line(line, False)):
            continue
        out.json_line({"line": clean_line(line, False)})
        if out.human:
            out.raw(clean_line(line, out.terminal) + "\n")
    out.flush()

"""paddock logs: what a run printed."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from paddock.cli.command import Session, verb
from paddock.cli.output import QUIET, Output
from paddock.cli.shape import label
from paddock.compare.view import output_file, output_files
from paddock.errors import NotFound
from paddock.model import RUNNING, RunRow

_POLL_SECONDS = 0.25
_STATE_SECONDS = 2.0  # how often a followed run is asked whether it still runs
_BLOCK = 1 << 16

# Everything that drives a terminal: CSI, OSC and the other string sequences, single escapes, control characters.
# Only colours (SGR) are let through, and only to a terminal.
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x1b\\|\x07|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


@verb(
    "logs", help="What a run printed. Of a line that was drawn over and over (a progress bar) the last state is shown."
)
@click.argument("run")
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends.")
@click.option("-n", "--lines", type=click.IntRange(min=0), metavar="N", help="Only the last so many lines.")
@click.option("--attempt", type=int, help="Of this attempt [the last].")
@click.option("--rank", type=int, default=0, show_default=True, help="Of this rank.")
@click.option("--raw", is_flag=True, help="The bytes as they came, control sequences and all.")
def logs(
    session: Session, run: str, follow: bool, lines: int | None, attempt: int | None, rank: int, raw: bool
) -> None:
    with session.catalog() as catalog:
        row = catalog.run(run)
    path = output_file(session.home.run(row.id).path, attempt, rank)
    if path is None and not (follow and row.state == RUNNING):
        _complain(session, row, attempt, rank)
        return
    if session.out.mode == QUIET:
        return
    if not follow:
        assert path is not None
        _print_whole(session.out, row, path, lines, raw)
        return
    _follow(session, row, attempt, rank, lines, raw)


def _complain(session: Session, row: RunRow, attempt: int | None, rank: int) -> None:
    known = output_files(session.home.run(row.id).path)
    if known or attempt is not None or rank:
        there = ", ".join(f"attempt {a} rank {r}" for a, r in known) or "none"
        raise NotFound(f"{label(row)} has no output of this attempt and rank.", hint=f"There is: {there}.")
    session.out.json({"run": row.id, "lines": []})
    session.out.note(f"{label(row)} has no recorded output.")


def _print_whole(out: Output, row: RunRow, path: Path, lines: int | None, raw: bool) -> None:
    start = 0 if lines is None else tail_start(path, lines)
    if out.human and raw:
        with open(path, "rb") as file:
            file.seek(start)
            while block := file.read(_BLOCK):
                sys.stdout.buffer.write(block)
        return
    shown = (clean_line(line, out.terminal) for line in _lines(path, start))
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


def tail_start(path: Path, lines: int) -> int:
    """The offset at which the last `lines` lines begin, found from the end."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        at, missing = end, lines
        while at > 0:
            size = min(_BLOCK, at)
            at -= size
            file.seek(at)
            block = file.read(size)
            if at + size == end and block.endswith(b"\n"):
                missing += 1  # the end of the last line begins no line
            if block.count(b"\n") >= missing:
                place = len(block)
                for _ in range(missing):
                    place = block.rfind(b"\n", 0, place)
                return at + place + 1
            missing -= block.count(b"\n")
    return 0


def clean_line(line: str, colours: bool) -> str:
    """One line as a terminal would show it in the end, and nothing that could drive one."""
    drawn = [part for part in line.rstrip("\r").split("\r") if part]
    text = drawn[-1] if drawn else ""
    if colours and "\x1b" in text:
        kept = _CONTROL.sub(lambda m: m.group() if _COLOUR.fullmatch(m.group()) else "", text)
        return kept + ("\x1b[0m" if "\x1b[" in kept else "")
    return _CONTROL.sub("", text)


def _follow(session: Session, row: RunRow, attempt: int | None, rank: int, lines: int | None, raw: bool) -> None:
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
        _emit(out, whole + newline, raw)
        if data:
            continue
        if state != RUNNING:
            _emit(out, rest, raw)
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


def _emit(out: Output, data: bytes, raw: bool) -> None:
    if not data:
        return
    if raw and out.human:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n"):
        out.json_line({"line": clean_line(line, False)})
        if out.human:
            out.raw(clean_line(line, out.terminal) + "\n")
    out.flush()

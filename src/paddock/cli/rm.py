"""paddock rm: remove runs."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import click

from paddock.cli.choose import named_or_queried
from paddock.cli.command import Session, verb
from paddock.cli.ls import list_runs
from paddock.cli.output import JSON, Output
from paddock.cli.shape import label, short
from paddock.compare.text import many, size
from paddock.errors import NotFound, Refused
from paddock.files import sync_directory
from paddock.model import PAUSED, QUEUED, RUNNING, RunRow
from paddock.record.layout import Home

_HELP = """Remove runs. What would go is listed, and you are asked; the answer is No unless you say yes.

\b
  paddock rm RUN RUN
  paddock rm 'state=failed created<30d'
  paddock rm 'name~^test-'

A running run is refused unless --force says so.
"""


@verb("rm", help=_HELP)
@click.argument("words", nargs=-1, required=True, metavar="RUN... | QUERY")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Running runs too.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
def rm(session: Session, words: tuple[str, ...], yes: bool, force: bool, dry_run: bool) -> None:
    out = session.out
    with session.catalog() as catalog:
        runs = named_or_queried(catalog, words)
        if not runs:
            raise NotFound("No run fits.", hint="`paddock ls` with the same query shows what it means.")
        running = [run for run in runs if run.state == RUNNING]
        if running and not force:
            raise Refused(
                f"{_count(running)} still running: {', '.join(label(run) for run in running[:5])}.",
                hint="End them first, leave them out (not state=running), or use --force. Nothing was removed.",
            )
        waiting = [run for run in runs if run.state in (QUEUED, PAUSED)]
        if waiting:
            raise Refused(
                f"{_count(waiting)} in a queue: {', '.join(label(run) for run in waiting[:5])}.",
                hint="`paddock cancel` takes tasks out of their queue. Nothing was removed.",
            )
        runs = [run for run in runs if run.path]  # a task that never ran has left nothing but its file
        sizes = {run.id: disk_size(session.home.runs / run.id) for run in runs}
        total = sum(sizes.values())
        list_runs(out, runs)
        if dry_run:
            out.json({"removed": [], "would_remove": [short(run) for run in runs], "bytes": total})
            out.note(f"{_count(runs)} would be removed, {size(total)}.")
            return
        if not yes:
            _confirm(out, runs, total)
        for run in runs:
            remove(session.home, run.id)
            catalog.forget(run.id)
            out.bare(run.id)
    out.json({"removed": [short(run) for run in runs], "bytes": total})
    out.line(f"{_count(runs)} removed, {size(total)}.")


def _count(runs: list[RunRow]) -> str:
    return many(len(runs), "run")


def _confirm(out: Output, runs: list[RunRow], total: int) -> None:
    """Ask on stderr, so that stdout stays the result's; no answer is No. A program that wants JSON is not asked."""
    if out.mode == JSON:
        raise Refused("Nothing was removed: it was not confirmed.", hint="Use --yes.")
    sys.stderr.write(f"Remove {_count(runs)}, {size(total)}, for good? [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n"):
        sys.stderr.write("\n")
    if answer.strip().lower() not in ("y", "yes"):
        raise Refused("Nothing was removed.", hint="Answer y, or use --yes.")


def remove(home: Home, run_id: str) -> None:
    """Out of runs/ by one rename, then deleted: a crash in between leaves no half run listed, and `paddock gc`
    deletes the rest."""
    path = home.run(run_id).path
    home.trash.mkdir(exist_ok=True)
    aside = home.trash / f"{run_id}-{time.time_ns()}"
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return  # somebody else was faster
    sync_directory(home.runs)
    delete(aside)


def delete(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path)


def disk_size(path: Path) -> int:
    """Bytes of the files below, links not followed; what vanishes meanwhile counts nothing."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total

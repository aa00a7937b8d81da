"""paddock gc: free space without losing a point."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click

from paddock import files, wire
from paddock.catalog import abandoned
from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.cli.rm import delete, disk_size
from paddock.compare.text import many, size
from paddock.errors import Damaged
from paddock.model import RUNNING
from paddock.queue.directory import DirectoryQueue
from paddock.queue.protocol import AWAY
from paddock.queue.redis.queue import RedisQueue
from paddock.queue.remembered import remembered
from paddock.record import code
from paddock.record.layout import Home
from paddock.record.leftovers import leftovers
from paddock.record.pack import pack_run

if TYPE_CHECKING:
    from paddock.catalog.catalog import Catalog

_HELP = """Free space: empty the trash, and remove code snapshots older than a day that no run refers to, what killed
processes left half written, and the catalogs of homes that have been gone for a month.

--pack compresses the journals of ended runs (to less than half); every point stays readable as before, and a
packed journal is compared byte for byte with the plain one before that goes.
"""


@dataclass
class Freed:
    trash: int = 0  # bytes
    code: int = 0
    code_objects: int = 0
    leftovers: int = 0
    leftover_files: int = 0
    catalogs: int = 0
    catalog_files: int = 0
    packed_journals: int = 0
    packed_from: int = 0
    packed_to: int = 0
    dry_run: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return (
            self.trash
            + self.code
            + self.leftovers
            + self.catalogs
            + (0 if self.dry_run else self.packed_from - self.packed_to)
        )


@verb("gc", help=_HELP)
@click.option("--pack", is_flag=True, help="Compress the journals of ended runs.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def gc(session: Session, pack: bool, dry_run: bool) -> None:
    freed = Freed(dry_run=dry_run)
    home = session.home
    with session.catalog() as catalog:
        _trash(home, freed)
        _code(home, catalog, freed)
        _leftovers(home, freed)
        _catalogs(session.source.settings.cache, freed)
        if pack:
            _pack(home, catalog, freed)
            catalog.refresh()
    session.out.json({**asdict(freed), "bytes": freed.bytes})
    _report(session, freed, pack)


def _trash(home: Home, freed: Freed) -> None:
    for entry in list(files.entries(home.trash)):
        path = home.trash / entry.name
        freed.trash += (
            disk_size(path) if entry.is_dir(follow_symlinks=False) else entry.stat(follow_symlinks=False).st_size
        )
        if not freed.dry_run:
            delete(path)


def _code(home: Home, catalog: Catalog, freed: Freed) -> None:
    used: set[str] = set()
    for entry in files.entries(home.runs):
        if not entry.is_dir():
            continue
        facts = _facts(home, entry.name)
        if facts is None:
            freed.notes.append(f"{entry.name}/run.json cannot be read: no code was removed, for it may be in use")
            return
        used |= set(references([facts.get("code"), *_later(catalog, entry.name)]))
    waiting = _of_tasks(home, freed)
    if waiting is None:
        return
    garbage = code.unreferenced(home, used | waiting)
    freed.notes += [f"code snapshot {digest[:12]} is damaged: no code was removed" for digest in garbage.damaged]
    freed.code_objects = len(garbage.objects) + len(garbage.manifests)
    freed.code = garbage.bytes if freed.dry_run else code.remove(home, garbage)


def _leftovers(home: Home, freed: Freed) -> None:
    for path, bytes_ in list(leftovers(home)):
        try:
            if not freed.dry_run:
                path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            freed.notes.append(f"{path} cannot be removed ({error.strerror})")
            continue
        freed.leftovers += bytes_
        freed.leftover_files += 1


def _catalogs(cache: str, freed: Freed) -> None:
    for lock in abandoned.indexes(cache):
        if not abandoned.is_abandoned(lock):
            continue
        gone = abandoned.size(lock) if freed.dry_run else abandoned.remove(lock)
        freed.catalogs += gone
        freed.catalog_files += bool(gone)


def _of_tasks(home: Home, freed: Freed) -> set[str] | None:
    """The code that tasks will run from; None when that is not known."""
    used: set[str] = set()
    for entry in files.entries(home.queues):
        queue = DirectoryQueue(home.queues / entry.name)
        listing = queue.list()
        if not listing.sure:
            freed.notes.append(f"the queue {entry.name} cannot be read: no code was removed, for it may be in use")
            return None
        for place in listing.places:
            try:
                used |= set(references([queue.read(place).task.facts.get("code")]))
            except (OSError, Damaged):
                freed.notes.append(f"the task {place.path} cannot be read: no code was removed, for it may be in use")
                return None
    for url in remembered(home):
        try:
            used |= _in_redis(RedisQueue(url))
        except (*AWAY, Damaged) as error:
            freed.notes.append(f"{url} cannot be read ({error.message}): no code was removed, for it may be in use")
            return None
    return used


def _in_redis(queue: RedisQueue) -> set[str]:
    """A task that was removed meanwhile needs none."""
    found: set[str] = set()
    for place in queue.list().places:
        with contextlib.suppress(FileNotFoundError):
            found |= set(references([queue.read(place).task.facts.get("code")]))
    return found


def _facts(home: Home, run_id: str) -> dict[str, Any] | None:
    """run.json; nothing in it when there is none, None when it cannot be read."""
    path = home.runs / run_id / "run.json"
    try:
        found = wire.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, wire.DecodeError, UnicodeDecodeError):
        return None
    return found if isinstance(found, dict) else None


def _later(catalog: Catalog, run_id: str) -> Iterable[Any]:
    """Code that was captured after run.json had been written."""
    return [record.get("code") for record in catalog.records(run_id, ["code"])]


def references(codes: Iterable[Any]) -> Iterable[str]:
    """The digests that a run's `code` holds on to: the snapshot and the diff."""
    for one in codes:
        if not isinstance(one, dict):
            continue
        git = one.get("git")
        for digest in (one.get("snapshot"), git.get("diff") if isinstance(git, dict) else None):
            if isinstance(digest, str) and digest:
                yield digest


def _pack(home: Home, catalog: Catalog, freed: Freed) -> None:
    for run in catalog.runs():
        if run.state == RUNNING or not run.path:
            continue
        try:
            packed = pack_run(home.run(run.id).journals, dry_run=freed.dry_run)
        except (OSError, Damaged) as error:
            freed.notes.append(f"{run.id} was not packed: {error}")
            continue
        freed.packed_journals += packed.journals
        freed.packed_from += packed.before
        freed.packed_to += packed.after


def _rare(name: str, amount: int, what: str) -> list[tuple[str, Cell]]:
    return [(name, f"{size(amount)} {what}")] if amount else []


def _report(session: Session, freed: Freed, pack: bool) -> None:
    out, would = session.out, "would be " if freed.dry_run else ""
    out.fields(
        [
            ("trash", f"{size(freed.trash)} {would}removed"),
            ("code", f"{size(freed.code)} {would}removed ({many(freed.code_objects, 'object')})"),
            *_rare("leftovers", freed.leftovers, f"{would}removed ({many(freed.leftover_files, 'file')})"),
            *_rare("catalogs", freed.catalogs, f"{would}removed ({many(freed.catalog_files, 'home')} that are gone)"),
        ],
        indent=0,
    )
    if pack and freed.dry_run:
        out.line(f"{many(freed.packed_journals, 'journal')} would be packed, {size(freed.packed_from)}")
    elif pack:
        out.line(
            f"{many(freed.packed_journals, 'journal')} packed: {size(freed.packed_from)} -> {size(freed.packed_to)}"
        )
    elif not freed.bytes:
        out.note("paddock gc --pack compresses the journals of ended runs.")
    for note in freed.notes:
        out.note(note)

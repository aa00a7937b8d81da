"""Artifacts: versioned sets of files, found again by name.

The files lie with the run that made them; which run that is, and which version, the artifact's shelf says. Two runs
that log the same name at the same moment get two versions. What has the content of an earlier version is that version.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from paddock import files, wire
from paddock.errors import NotFound, UsageError
from paddock.record.layout import Home, RunDirectory
from paddock.track.things.media import Media
from paddock.track.things.saving import copy
from paddock.track.things.shelf import Shelf

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
Append = Callable[[dict[str, Any]], None]


class Artifact:
    def __init__(
        self, name: str, type: str = "file", description: str | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be an artifact's name.", hint="Use letters, digits, '.', '_' and '-'.")
        self.name, self.type, self.description = name, type, description
        self.metadata = dict(metadata or {})
        self.version = ""
        self.digest = ""
        self.path: Path | None = None  # where its files lie, once it has been logged or found
        self._files: dict[str, Path] = {}
        self._references: dict[str, str] = {}

    def add(self, path: Any, name: str | None = None) -> None:
        """A file, a directory, or a Table, an Image and the like, which needs a name."""
        if isinstance(path, Media):
            self._add_media(path, name)
        elif os.path.isdir(path):
            self.add_dir(path, name)
        else:
            self.add_file(path, name)

    def add_file(self, local_path: str | os.PathLike[str], name: str | None = None, **_: Any) -> None:
        if not os.path.isfile(local_path):
            raise UsageError(f"There is no file {os.fspath(local_path)!r} to add to the artifact {self.name!r}.")
        self._files[_inside(name or os.path.basename(local_path))] = Path(local_path)

    def add_dir(self, local_path: str | os.PathLike[str], name: str | None = None, **_: Any) -> None:
        root = Path(local_path)
        if not root.is_dir():
            raise UsageError(f"There is no directory {os.fspath(local_path)!r} to add to the artifact {self.name!r}.")
        for path in sorted(root.rglob("*")):
            if path.is_file():
                self.add_file(path, f"{name}/{path.relative_to(root)}" if name else str(path.relative_to(root)))

    @contextmanager
    def new_file(self, name: str, mode: str = "w", encoding: str | None = None) -> Iterator[IO[Any]]:
        """Write a file of the artifact without keeping one elsewhere: `with artifact.new_file("a.txt") as file:`"""
        path = self._scratch() / _inside(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, mode, encoding=encoding) as file:
            yield file
        self.add_file(path, name)

    def _add_media(self, media: Media, name: str | None) -> None:
        if not name or not media.suffix:
            raise UsageError(f"A {type(media).__name__} cannot be added like this.", hint="add(table, 'name') can.")
        path = self._scratch() / _inside(name if Path(name).suffix else name + media.suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        media.write(path)
        self.add_dir(path.parent, str(Path(name).parent))  # with the pictures of a table's cells

    def _scratch(self) -> Path:
        """A directory that lasts as long as the artifact."""
        path = tempfile.mkdtemp(prefix="paddock-artifact-")
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        return Path(path)

    def add_reference(self, uri: str, name: str | None = None, **_: Any) -> None:
        """Name something that stays where it is."""
        self._references[_inside(name or uri.rstrip("/").rpartition("/")[2])] = uri

    @property
    def references(self) -> dict[str, str]:
        return dict(self._references)

    def download(self, root: str | os.PathLike[str] | None = None) -> str:
        """The directory with the files; a copy of it when `root` is given."""
        if self.path is None:
            raise UsageError(f"The artifact {self.name!r} has not been logged yet.")
        if root is None:
            return str(self.path)
        for path in self.path.rglob("*"):
            if path.is_file():
                target = Path(root) / path.relative_to(self.path)
                target.parent.mkdir(parents=True, exist_ok=True)
                copy(path, target)
        return os.fspath(root)

    def get_path(self, name: str) -> Path:
        return Path(self.download()) / _inside(name)

    def file(self) -> str:
        found = [p for p in Path(self.download()).rglob("*") if p.is_file()]
        if len(found) != 1:
            raise UsageError(f"The artifact {self.name!r} has {len(found)} files, not one.", hint="Use get_path(name).")
        return str(found[0])

    def wait(self, *_: Any) -> Artifact:
        return self


def log_artifact(
    home: Home, directory: RunDirectory, artifact: Artifact, aliases: Iterable[str] | None, append: Append
) -> Artifact:
    shelf = Shelf(home, artifact.name)
    known, held = _stored(shelf, artifact)
    target = directory.files / "artifacts" / artifact.name / os.urandom(4).hex()
    if directory.id in held:
        target = held[directory.id]
    elif known:  # the same bytes under a second name, which stays when the run that logged it first is removed
        _fill(target, artifact._files, next(iter(held.values())))
    else:
        _fill(target, artifact._files)
    listing = known["files"] if known else _listing(artifact, {name: target / name for name in artifact._files})
    artifact.digest = _digest_of(listing)
    artifact.path = target
    entry = {
        "name": artifact.name,
        "type": artifact.type,
        "description": artifact.description,
        "digest": artifact.digest,
        "files": listing,
        "metadata": wire.plain(artifact.metadata).value,
        "aliases": sorted({str(alias) for alias in aliases or ()}),
        "run": directory.id,
        "path": str(target.relative_to(directory.path)),
        "created": round(time.time(), 6),
    }
    if known:
        artifact.version = known["version"]
        shelf.add_again(artifact.version, entry)
    else:
        artifact.version = shelf.add(entry)
    append({"k": "artifact", **entry, "version": artifact.version})
    return artifact


def _stored(shelf: Shelf, artifact: Artifact) -> tuple[dict[str, Any], dict[str, Path]]:
    """The version that has this very content, and who holds its files. What has other names or sizes is not read."""
    listing: dict[str, Any] = {}
    for entry in shelf.like(artifact.type, {name: path.stat().st_size for name, path in artifact._files.items()}):
        listing = listing or _listing(artifact, artifact._files)
        if entry.get("digest") == _digest_of(listing) and (held := dict(shelf.held(entry))):
            return entry, held
    return {}, {}


def _fill(target: Path, sources: dict[str, Path], held: Path | None = None) -> None:
    for name, source in sorted(sources.items()):
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        if held is None or not _linked(held / name, destination):
            copy(source, destination)


def _linked(held: Path, destination: Path) -> bool:
    try:
        os.link(held, destination)
    except OSError:  # no hard links here, or just removed
        return False
    return True


def _listing(artifact: Artifact, paths: dict[str, Path]) -> dict[str, Any]:
    files = {n: {"size": path.stat().st_size, "digest": _digest(path)} for n, path in sorted(paths.items())}
    return files | {name: {"reference": uri} for name, uri in sorted(artifact._references.items())}


def _digest_of(listing: dict[str, Any]) -> str:
    return hashlib.sha256(wire.dumps(listing)).hexdigest()


def use_artifact(home: Home, wanted: Any, append: Append) -> Artifact:
    if isinstance(wanted, Artifact):
        wanted = f"{wanted.name}:{wanted.version}"
    name, _, which = str(wanted).rpartition("/")[2].partition(":")
    shelf = Shelf(home, name)
    versions = shelf.versions() if _NAME.fullmatch(name) else []
    if not versions:
        known = sorted(entry.name for entry in files.entries(home.path / "artifacts"))
        raise NotFound(
            f"There is no artifact {name!r} in {home.path}.", hint=f"There are: {', '.join(known) or 'none'}."
        )
    entry = shelf.find(which or "latest")
    if entry is None:
        raise NotFound(
            f"The artifact {name!r} has no version or alias {which!r}.", hint=f"It has v0 to v{versions[-1]}."
        )
    found = Artifact(name, entry["type"], entry.get("description"), entry.get("metadata"))
    found.version, found.digest = entry["version"], entry["digest"]
    run_id, found.path = next(shelf.held(entry), ("", None))
    if found.path is None:
        raise _gone(shelf, entry)
    found._references = {n: f["reference"] for n, f in entry["files"].items() if "reference" in f}
    append({"k": "use", "name": name, "version": found.version, "run": run_id, "digest": found.digest})
    return found


def _gone(shelf: Shelf, entry: dict[str, Any]) -> NotFound:
    others = [e["version"] for n in shelf.versions() if (e := shelf.find(f"v{n}")) and next(shelf.held(e), None)]
    return NotFound(
        f"The files of the artifact {entry['name']}:{entry['version']} are gone: the run {entry['run']} that logged it"
        " was removed, or they were.",
        hint=f"Still there: {', '.join(others[-10:])}." if others else "No other version is left either.",
    )


def _inside(name: str) -> str:
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts:
        raise UsageError(f"{name!r} cannot be a path inside an artifact.", hint="It is relative, without '..'.")
    return str(Path(*parts))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Artifacts: versioned sets of files, found again by name.

The files lie with the run that made them. `<home>/artifacts/<name>/v<N>.json` says which run that is; it is written
once, so two runs that log the same name at the same moment get two versions.
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
from paddock.track.media import Media
from paddock.track.saving import copy

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
    target = directory.files / "artifacts" / artifact.name / os.urandom(4).hex()
    listing: dict[str, Any] = {}
    for name, source in sorted(artifact._files.items()):
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        copy(source, destination)
        listing[name] = {"size": destination.stat().st_size, "digest": _digest(destination)}
    listing |= {name: {"reference": uri} for name, uri in artifact._references.items()}
    artifact.digest = hashlib.sha256(wire.dumps(listing)).hexdigest()
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
    artifact.version = _claim_version(home, artifact.name, entry)
    append({"k": "artifact", **entry, "version": artifact.version})
    return artifact


def _claim_version(home: Home, name: str, entry: dict[str, Any]) -> str:
    shelf = home.path / "artifacts" / name
    shelf.mkdir(parents=True, exist_ok=True)
    number = max(_versions(shelf), default=-1) + 1
    while not files.write_once(shelf / f"v{number}.json", wire.dumps({**entry, "version": f"v{number}"})):
        number += 1
    return f"v{number}"


def _versions(shelf: Path) -> list[int]:
    found = (re.fullmatch(r"v(\d+)\.json", entry.name) for entry in files.entries(shelf))
    return sorted(int(match[1]) for match in found if match)


def use_artifact(home: Home, wanted: Any, append: Append) -> Artifact:
    if isinstance(wanted, Artifact):
        wanted = f"{wanted.name}:{wanted.version}"
    name, _, which = str(wanted).rpartition("/")[2].partition(":")
    shelf = home.path / "artifacts" / name
    versions = _versions(shelf) if _NAME.fullmatch(name) else []
    if not versions:
        known = sorted(entry.name for entry in files.entries(home.path / "artifacts"))
        raise NotFound(
            f"There is no artifact {name!r} in {home.path}.", hint=f"There are: {', '.join(known) or 'none'}."
        )
    entry = _choose(shelf, versions, which or "latest")
    if entry is None:
        raise NotFound(
            f"The artifact {name!r} has no version or alias {which!r}.", hint=f"It has v0 to v{versions[-1]}."
        )
    found = Artifact(name, entry["type"], entry.get("description"), entry.get("metadata"))
    found.version, found.digest = entry["version"], entry["digest"]
    found.path = home.run(entry["run"]).path / entry["path"]
    found._references = {n: f["reference"] for n, f in entry["files"].items() if "reference" in f}
    append({"k": "use", "name": name, "version": found.version, "run": entry["run"], "digest": found.digest})
    return found


def _choose(shelf: Path, versions: list[int], which: str) -> dict[str, Any] | None:
    for number in reversed(versions):
        if which in ("latest", f"v{number}"):
            return _read(shelf, number)
        if not re.fullmatch(r"v\d+", which):
            entry = _read(shelf, number)
            if which in entry.get("aliases", ()):
                return entry
    return None


def _read(shelf: Path, number: int) -> dict[str, Any]:
    found: dict[str, Any] = wire.loads(files.read_from(shelf / f"v{number}.json", 0))
    return found


def _inside(name: str) -> str:
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts:
        raise UsageError(f"{name!r} cannot be a path inside an artifact.", hint="It is relative, without '..'.")
    return str(Path(*parts))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

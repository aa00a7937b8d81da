"""Checkpoints in a bucket of an object store, by way of fsspec: listed, never told of.

An object appears whole or not at all, and the store says what it contains (its ETag). A checkpoint of many objects is
still many: its format tells when all are there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

from paddock.errors import MissingExtra, UsageError
from paddock.evaluate.origin.look import Entry, Look
from paddock.evaluate.origin.scan import Scan, is_checkpoint

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
# Of S3 the ETag tells the content; of Google and Azure it changes with every copy and remark, but they have checksums.
_IDENTITIES = ("ETag", "md5Hash", "content_md5", "crc32c", "etag", "generation", "uid")
_TIMES = ("LastModified", "updated", "last_modified", "mtime", "created")


@dataclass(frozen=True)
class StoreLook(Look):
    store: Store | None = field(default=None, compare=False, repr=False)

    @property
    def appears_whole(self) -> bool:
        return True

    def read(self, name: str, offset: int = 0, size: int = 1 << 20) -> bytes:
        assert self.store is not None
        start = offset if offset >= 0 else max(0, self.files[name].size + offset)
        return self.store.read(self.where(name), start, size)

    def identity(self, name: str) -> str:
        assert self.store is not None
        return self.store.identity(self.where(name))

    def beside(self) -> Mapping[str, Entry]:
        assert self.store is not None
        return self.store.files_in(os.path.dirname(self.path))

    def read_beside(self, name: str, size: int = 1 << 20) -> bytes | None:
        assert self.store is not None
        return self.store.read(f"{os.path.dirname(self.path)}/{name}", 0, size) if name in self.beside() else None


class Store:
    """What lies below a URL, as it was when it was last listed."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.scheme = self.url.partition("://")[0]
        self.filesystem, self._root = _open(self.url)
        self._objects: dict[str, dict[str, Any]] = {}  # URL -> what the store says of it
        self._entries: dict[str, Entry] = {}
        self._inside: dict[str, list[str]] = {}  # URL of a directory -> the names in it

    def refresh(self) -> None:
        """List everything; whatever the store's library raises."""
        self.filesystem.invalidate_cache()
        try:
            listing = self.filesystem.find(self._root, detail=True)
        except FileNotFoundError:
            listing = {}
        paths = {path: self.url + str(path).removeprefix(self._root) for path in listing if not path.endswith("/")}
        self._objects = {url: listing[path] for path, url in paths.items()}
        self._entries = {url: _entry(about, self.identity(url)) for url, about in self._objects.items()}
        self._inside = {}
        for url in self._entries:
            while url != self.url:
                directory, _, name = url.rpartition("/")
                known = self._inside.setdefault(directory, [])
                known.append(name)
                if len(known) > 1 or len(directory) < len(self.url):
                    break  # those above know of this directory already
                url = directory

    def require_bucket(self) -> None:
        """An empty prefix may be filled later; without its bucket it never is."""
        if not self._entries:
            try:
                self.filesystem.ls(self._root.partition("/")[0])
            except PermissionError:
                pass  # of the prefix alone we may have the rights

    def look(self, url: str) -> StoreLook | None:
        if url in self._entries:
            return StoreLook(url, False, {"": self._entries[url]}, self)
        files = {path: self._entries[f"{url}/{path}"] for path in self._below(url)}
        return StoreLook(url, True, files, self) if files else None

    def candidates(self, pattern: re.Pattern[str]) -> list[str]:
        """The same that would be found in a directory."""
        found: list[str] = []
        pending = [self.url]
        while pending:
            directory = pending.pop()
            names = self._inside.get(directory, [])
            if directory != self.url and is_checkpoint(directory, names, pattern):
                found.append(directory)
                continue
            for name in names:
                url = f"{directory}/{name}"
                if url in self._entries:
                    if name[0] != "." and pattern.search(url):
                        found.append(url)
                elif name[0] != ".":
                    pending.append(url)
        return found

    def files_in(self, url: str) -> dict[str, Entry]:
        paths = {name: f"{url}/{name}" for name in self._inside.get(url, [])}
        return {name: self._entries[path] for name, path in paths.items() if path in self._entries}

    def read(self, url: str, start: int, size: int) -> bytes:
        end = min(start + size, self._entries[url].size) if url in self._entries else start + size
        try:
            return bytes(self.filesystem.cat_file(self._path(url), start=start, end=end)) if end > start else b""
        except Exception:  # whatever its library raises: it cannot be read just now
            return b""

    def identity(self, url: str) -> str:
        about = self._objects.get(url, {})
        return next((str(about[name]).strip('"') for name in _IDENTITIES if about.get(name)), "")

    def download(self, look: Look, to: str) -> None:
        for name in look.files:
            target = os.path.join(to, name) if name else to
            os.makedirs(os.path.dirname(target), exist_ok=True)
            self.filesystem.get_file(self._path(look.where(name)), target)

    def _path(self, url: str) -> str:
        return self._root + url.removeprefix(self.url)

    def _below(self, url: str) -> list[str]:
        found: list[str] = []
        pending = [""]
        while pending:
            place = pending.pop()
            for name in self._inside.get(f"{url}/{place}".rstrip("/"), []):
                path = f"{place}/{name}" if place else name
                (found if f"{url}/{path}" in self._entries else pending).append(path)
        return found


class StoreOrigin:
    def __init__(self, url: str, pattern: re.Pattern[str]) -> None:
        self._store, self._pattern = Store(url), pattern
        self._marks: dict[str, object] = {}
        try:
            self._store.refresh()
            self._store.require_bucket()
        except Exception as error:  # of the store's library: no such bucket, no rights, no network
            why = " ".join(str(error).split()) or type(error).__name__
            raise UsageError(f"{url} cannot be listed: {why}.", hint="Check its name and your credentials.") from None

    @property
    def directories(self) -> set[str]:
        return set()

    def scan(self, only: Collection[str] | None = None, named: Collection[str] | None = None) -> Scan:
        """Always everything: nobody tells of changes, and what was seen a while ago says nothing of now."""
        try:
            self._store.refresh()
        except Exception:  # it cannot be reached just now
            return Scan(self._marks.keys(), set(), False)
        before, self._marks = self._marks, {}
        for path in self._store.candidates(self._pattern):
            here = self._store.look(path)
            if here is not None:
                self._marks[path] = {name: (entry, here.identity(name)) for name, entry in here.files.items()}
        touched = {path for path, mark in self._marks.items() if before.get(path) != mark}
        return Scan(self._marks.keys(), touched, True)

    def look(self, path: str) -> Look | None:
        return self._store.look(path)

    def pin(self, here: Look, key: str) -> str:
        return ""  # a store has no links; what is deleted before its turn is missed


def look_at(url: str) -> tuple[Store, StoreLook | None]:
    """One checkpoint, as it is now."""
    store = Store(url)
    store.refresh()
    return store, store.look(url)


def _open(url: str) -> tuple[Any, str]:
    scheme = url.partition("://")[0].lower()
    try:
        import fsspec.core

        filesystem, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError:
        raise MissingExtra(f"Watching {scheme}://", _EXTRAS.get(scheme, "s3")) from None
    except ValueError as error:
        raise UsageError(f"{url} cannot be watched: {error}.", hint="A directory, s3:// or gs://.") from None
    return filesystem, str(path).rstrip("/")


def _entry(about: Mapping[str, Any], identity: str) -> Entry:
    """The times of objects are whole seconds: what identifies the content stands for the inode."""
    moment = next((about[name] for name in _TIMES if about.get(name)), 0)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.replace("Z", "+00:00"))
        except ValueError:
            moment = 0
    seconds = moment.timestamp() if isinstance(moment, datetime) else float(moment)
    number = int.from_bytes(blake2b(identity.encode(), digest_size=7).digest(), "big")
    return Entry(int(about.get("size") or 0), int(seconds * 1e9), number)

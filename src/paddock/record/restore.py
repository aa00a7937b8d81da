"""Putting a snapshot back as files, without ever writing outside the directory it is put in.

A manifest is data that may come from another machine: its paths are judged before the first byte is written, each
directory is opened without following links, and the links themselves are made last.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.errors import Damaged, Refused
from paddock.record.layout import Home
from paddock.record.manifest import Entry, read_manifest, real_path, stays_inside, text_path
from paddock.record.objects import get_object

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class _Item(NamedTuple):
    parts: tuple[str, ...]
    entry: Entry


def restore(home: Home, digest: str, into: Path, *, overwrite: bool = False) -> int:
    """Write the snapshot's files below `into` and return how many. Nothing is written unless all of it is whole."""
    items = [_judge(name, entry) for name, entry in read_manifest(home, digest).items()]
    _no_file_inside_a_file(items)
    for item in items:
        if "digest" in item.entry:
            get_object(home, item.entry["digest"])
    if not overwrite and _has_something(into):
        raise Refused(f"{into} is not empty.", hint="Name a new directory, or say that files may be overwritten.")
    into.mkdir(parents=True, exist_ok=True)
    top = os.open(into, _DIRECTORY)
    try:
        for item in sorted(items, key=lambda item: "link" in item.entry):
            _restore_one(home, top, item)
    finally:
        os.close(top)
    return len(items)


def _judge(name: str, entry: Entry) -> _Item:
    try:
        path = real_path(name, entry)
        target = real_path(entry.get("link", ""), entry, link=True)
    except ValueError:
        raise Damaged(f"The snapshot names {name!r} in a way that cannot be read.") from None
    parts = tuple(path.split("/"))
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise Refused(f"The snapshot holds the path {text_path(path)!r}, which could lead elsewhere.", hint=_DOCTORED)
    if "link" in entry and not stays_inside(path, target):
        raise Refused(f"The snapshot holds a link {name!r} that leads out of it, to {entry['link']!r}.", hint=_DOCTORED)
    return _Item(parts, entry)


_DOCTORED = "Paddock writes no such snapshot: somebody changed it. Nothing was restored."


def _no_file_inside_a_file(items: list[_Item]) -> None:
    names = {item.parts for item in items}
    for item in items:
        if any(item.parts[:depth] in names for depth in range(1, len(item.parts))) or len(names) != len(items):
            raise Refused(f"The snapshot holds {'/'.join(item.parts)!r} twice over.", hint=_DOCTORED)


def _has_something(path: Path) -> bool:
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise Refused(f"{path} is not a directory.", hint="Name a new directory.")
    return next(files.entries(path), None) is not None


def _restore_one(home: Home, top: int, item: _Item) -> None:
    folder = _enter(top, item.parts[:-1])
    name = item.parts[-1]
    aside = f".{secrets.token_hex(8)}.tmp"
    try:
        if "link" in item.entry:
            os.symlink(real_path(item.entry["link"], item.entry, link=True), aside, dir_fd=folder)
        else:
            mode = 0o755 if item.entry.get("mode") == "755" else 0o644
            descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, mode, dir_fd=folder)
            try:
                files.write_all(descriptor, get_object(home, item.entry["digest"]))
            finally:
                os.close(descriptor)
        os.replace(aside, name, src_dir_fd=folder, dst_dir_fd=folder)  # over a link, never through it
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(aside, dir_fd=folder)
        shown = text_path("/".join(item.parts))
        raise Refused(
            f"{shown!r} cannot be written ({error.strerror or error}).", hint="Name a new directory."
        ) from None
    finally:
        if folder != top:
            os.close(folder)


def _enter(top: int, parts: tuple[str, ...]) -> int:
    """A descriptor of the directory, made if need be, with no link on the way."""
    here = top
    for part in parts:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=here)
            below = os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        except OSError as error:
            shown = text_path("/".join(parts))
            link = _is_link(part, here)
            why = "a link is in the way" if link else error.strerror or str(error)
            raise Refused(f"{shown!r} cannot be made ({why}).", hint="Name a new directory.") from None
        finally:
            if here != top:
                os.close(here)
        here = below
    return here


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except OSError:
        return False

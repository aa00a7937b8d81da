"""The code of a run: git's facts, and a snapshot of the files as they are now, committed or not."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from time import monotonic
from typing import Any

from paddock.record.layout import Home
from paddock.record.manifest import Entry, file_entry, link_entry, put_manifest, stays_inside, text_path
from paddock.record.objects import put_unsynced, sync_all
from paddock.record.worktree import git, sources
from paddock.record.worktree.pace import Pace
from paddock.settings import Settings

LEFT_OUT = 50  # named; the others are only counted
_DIFF_SHARE = 0.4  # of the time: a huge diff must leave some for the files


def snapshot(
    home: Home, script: Path | None, cwd: Path, settings: Settings, pace: Pace, *, durable: bool = False
) -> dict[str, Any]:
    """run.json's `code`. Never raises; `note` says what could not be had. Durable: it is on the disk when this returns,
    and an OSError says that the disk refused."""
    found: dict[str, Any] = {"root": None, "script": None, "git": None, "snapshot": None, "files": 0, "bytes": 0}
    found |= {"left_out": [], "left_out_count": 0, "note": ""}
    notes: list[str] = []
    try:
        _snapshot(found, notes, home, script, cwd, settings, pace, durable)
    except Exception as error:  # a run without its code is better than no run
        if durable and isinstance(error, OSError):
            raise
        notes.append(f"the code could not be kept ({type(error).__name__}: {text_path(str(error))})")
    found["note"] = "; ".join(notes)
    return found


def _snapshot(
    found: dict[str, Any],
    notes: list[str],
    home: Home,
    script: Path | None,
    cwd: Path,
    settings: Settings,
    pace: Pace,
    durable: bool,
) -> None:
    deadline = pace.deadline  # of what is done before the files are read
    own = _own_script(script, cwd)
    start = own.parent if own else Path(os.path.realpath(cwd))
    repository = git.find_repository(start, deadline)
    if repository and sources.is_broad(repository.top):  # dotfiles kept in git: not this run's code
        notes.append(f"the git repository at {text_path(str(repository.top))} is too broad to be the code")
        repository = None
    root = repository.top if repository else start
    inside = _relative(own, root)
    found["root"], found["script"] = text_path(str(root)), text_path(inside) if inside else None
    if repository:
        share = monotonic() + _DIFF_SHARE * (deadline - monotonic())
        found["git"], said = git.facts(home, repository, share)
        notes += said
    keeper = _Keeper(home, root, settings, pace)
    listing = _listing(root, repository, keeper, inside, deadline)
    if found["git"]:
        found["git"]["untracked"] = [text_path(path) for path in listing.untracked[: git.UNTRACKED]]
        if len(listing.untracked) > git.UNTRACKED:
            notes.append(f"{len(listing.untracked)} untracked files, {git.UNTRACKED} of them named")
    try:
        keeper.keep(listing, first=inside)
    except OSError as error:  # the home is full or read-only: what was put so far is of no use without a manifest
        if durable:
            raise
        notes.append(f"the code could not be kept ({error.strerror or error})")
    else:
        found["snapshot"] = put_manifest(home, keeper.entries) if keeper.entries else None
        found["files"], found["bytes"] = len(keeper.entries), keeper.bytes
        if durable:
            sync_all(home, keeper.new, strict=True)
        else:
            _sync_later(home, keeper.new)
    found["left_out"], found["left_out_count"] = keeper.left_out, keeper.left_out_count
    notes += keeper.notes


def _sync_later(home: Home, digests: list[str]) -> None:
    """500 new files take the disk 100 to 500 ms, for which no start should wait. Only a power cut in that moment costs
    a file, and the next run with the same one writes it again."""
    if not digests:
        return
    try:
        threading.Thread(target=sync_all, args=(home, digests), name="paddock-sync", daemon=True).start()
    except RuntimeError:  # no more threads to be had: the kernel does it in its own time
        pass


def _own_script(script: Path | None, cwd: Path) -> Path | None:
    """The script by its real directory; None when there is none, or it is an installed program."""
    if script is None:
        return None
    path = os.path.join(cwd, script)
    own = Path(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return own if os.path.isfile(own) and not sources.is_installed(own) else None


def _relative(path: Path | None, root: Path) -> str | None:
    """`path` below `root` as text with slashes; None when it is elsewhere."""
    if path is None:
        return None
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return None


def _listing(
    root: Path, repository: git.Repository | None, keeper: _Keeper, script: str | None, deadline: float
) -> sources.Listing:
    besides = _relative(Path(os.path.realpath(keeper.home.path)), root)
    if besides == ".":
        besides = None
    if repository and repository.usable:
        return sources.in_git(root, besides, deadline, keeper.leave_out)
    if sources.is_broad(root):
        keeper.notes.append(f"only the script was kept: {text_path(str(root))} is no project's directory")
        return sources.Listing([script] if script else [], 0, [])
    return sources.by_walk(root, besides, deadline, keeper.leave_out)


class _Keeper:
    """Puts files into the store within the limits, and remembers what it left out and why."""

    def __init__(self, home: Home, root: Path, settings: Settings, pace: Pace) -> None:
        self.home, self.root, self.pace = home, str(root), pace
        self.file_bytes, self.total_bytes = int(settings.code_file_bytes), int(settings.code_total_bytes)
        self.files = int(settings.code_files)
        self.entries: dict[str, Entry] = {}
        self.new: list[str] = []  # digests that are not on the disk yet
        self.bytes = 0
        self.left_out: list[dict[str, str]] = []
        self.left_out_count = 0
        self.notes: list[str] = []
        self._real: dict[str, bool] = {"": True}

    def leave_out(self, path: str, why: str) -> None:
        self.left_out_count += 1
        if len(self.left_out) < LEFT_OUT:
            self.left_out.append({"path": text_path(path), "why": text_path(why)})

    def keep(self, listing: sources.Listing, first: str | None) -> None:
        missing_ok = set(listing.files[: listing.expected])
        paths = dict.fromkeys([first, *listing.files] if first else listing.files)
        for number, path in enumerate(paths):
            self.pace.pause()
            if self.pace.over:
                self.notes.append(f"time ran out after {number} of {len(paths)} files")
                for left in list(paths)[number:]:
                    self.leave_out(left, "time ran out")
                return
            why = self._keep_one(path)
            if why and not (why == _MISSING and path in missing_ok):
                self.leave_out(path, why)

    def _keep_one(self, path: str) -> str:
        """Keep the file; or the reason why not."""
        if len(self.entries) >= self.files:
            return f"more than {self.files} files"
        if not self._is_real(os.path.dirname(path)):
            return "behind a link"
        full = f"{self.root}/{path}"
        try:
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                return self._keep_link(path, full)
            if not stat.S_ISREG(status.st_mode):
                return "not a regular file"
            if status.st_size > self.file_bytes:
                return f"larger than {self.file_bytes} bytes"
            if self.bytes + status.st_size > self.total_bytes:
                return f"more than {self.total_bytes} bytes in all"
            data = self._read(full)
        except (FileNotFoundError, NotADirectoryError):
            return _MISSING
        except OSError as error:
            return error.strerror or str(error)
        if data is None or len(data) > self.file_bytes:
            return "changed while it was read"
        digest, new = put_unsynced(self.home, data)
        if new:
            self.new.append(digest)
        self.bytes += len(data)
        self.entries[path] = file_entry(path, digest, len(data), bool(status.st_mode & stat.S_IXUSR))
        return ""

    def _read(self, full: str) -> bytes | None:
        # Never through a link, and never waiting: what was a file a moment ago may be a FIFO now.
        descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            parts = []
            left = self.file_bytes + 1
            while left > 0 and (part := os.read(descriptor, left)):
                parts.append(part)
                left -= len(part)
            return b"".join(parts)
        finally:
            os.close(descriptor)

    def _keep_link(self, path: str, full: str) -> str:
        """A link is kept as one when it points below the root, directly and through all other links."""
        target = os.readlink(full)
        if os.path.isabs(target):  # inside the root it means the same wherever the snapshot is restored
            target = os.path.relpath(target, os.path.dirname(full))
        real, root = os.path.realpath(full), os.path.realpath(self.root)
        if not stays_inside(path, target) or not (real == root or real.startswith(root.rstrip("/") + "/")):
            return "a link that leads out of the code"
        self.entries[path] = link_entry(path, target)
        return ""

    def _is_real(self, directory: str) -> bool:
        """Whether no part of the way down to this directory is a link (git lists files behind one as they were)."""
        known = self._real.get(directory)
        if known is None:
            known = self._is_real(os.path.dirname(directory))
            if known:
                try:
                    known = not stat.S_ISLNK(os.lstat(f"{self.root}/{directory}").st_mode)
                except OSError:
                    known = True  # opening the file says better what is wrong
            self._real[directory] = known
        return known


_MISSING = "vanished"

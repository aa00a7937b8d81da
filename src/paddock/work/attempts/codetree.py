"""The directory a task runs in.

A frozen task gets one made of links: to the snapshot for what was code at submit, and to the original directory for
everything else (data, ignored files), so that paths in commands go on working. What it writes beside them stays in the
run's directory. The snapshot itself is restored once for each digest, read-only, and shared.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import shutil
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from paddock.errors import Damaged, PaddockError
from paddock.queue.task import Task
from paddock.record.layout import Home

_NEVER = {".git", ".paddock"}


def work_directory(task: Task, home: Home, run: str, cache: Path) -> str:
    """Where the task's command starts; a sentence when it cannot be had. `run`: the run's directory."""
    if not task.code:
        return task.cwd or os.getcwd()  # roach's tasks run where the worker was started
    code = task.facts.get("code") or {}
    root = str(code.get("root") or task.cwd)
    tree = shared_tree(home, task.code, cache)
    work = f"{run}/work"
    if not os.path.isdir(work):
        _fill(work, tree, root)
    if not task.cwd or task.cwd == root:
        return work
    inside = os.path.relpath(task.cwd, root)
    return work if inside.startswith("..") else f"{work}/{inside}"


class Trees:
    """Snapshots as files, restored by whoever needs them first: in a thread, because a big one takes long, and the
    worker has other duties."""

    def __init__(self, home: Home, cache: Path, fetch: Callable[[str], None] | None = None) -> None:
        """`fetch` brings a snapshot into the home from elsewhere."""
        self._home, self._cache, self._fetch = home, cache, fetch
        self._asked: dict[str, list[Any]] = {}
        self._results: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()

    def has(self, digest: str) -> bool:
        return os.path.isdir(_path(self._cache, digest))

    def ask(self, digest: str, who: Any) -> None:
        """Have it restored; `done` says when."""
        self._asked.setdefault(digest, []).append(who)
        if len(self._asked[digest]) == 1:
            threading.Thread(target=self._restore, args=(digest,), daemon=True).start()

    def _restore(self, digest: str) -> None:
        from paddock.record.travel import has_snapshot  # here: a task without a snapshot does not wait for it

        try:
            if self._fetch is not None and not has_snapshot(self._home, digest):
                self._fetch(digest)
            shared_tree(self._home, digest, self._cache)
            self._results.put((digest, ""))
        except PaddockError as error:
            self._results.put((digest, error.message))
        except Exception as error:  # whatever it is, somebody waits for an answer
            self._results.put((digest, f"The code snapshot {digest[:12]} cannot be restored: {error}"))

    @property
    def busy(self) -> bool:
        return bool(self._asked)

    def done(self) -> list[tuple[Any, str]]:
        """Everybody whose snapshot has been dealt with since the last call, and why it cannot be had."""
        found = []
        while not self._results.empty():
            digest, trouble = self._results.get()
            found += [(who, trouble) for who in self._asked.pop(digest)]
        return found


def _path(cache: Path, digest: str) -> str:
    return f"{cache}/code/{digest}"


def shared_tree(home: Home, digest: str, cache: Path) -> str:
    """The snapshot as files, restored by whoever needs it first."""
    tree = _path(cache, digest)
    if os.path.isdir(tree):
        return tree
    aside = cache / "code" / f".{digest}.{secrets.token_hex(4)}"
    aside.parent.mkdir(parents=True, exist_ok=True)
    try:
        from paddock.record.code import restore

        restore(home, digest, aside)
    except PaddockError as error:
        _remove(aside)
        raise Damaged(
            f"The code snapshot {digest[:12]} cannot be restored: {error.message}", hint="Submit the task anew."
        ) from None
    _make_read_only(aside)
    try:
        os.rename(aside, tree)
    except OSError:  # another worker of this host was faster
        _remove(aside)
        if not os.path.isdir(tree):
            raise
    return tree


def _fill(work: str, tree: str, root: str) -> None:
    """Filled under another name: a directory that is there is whole."""
    global _last
    aside = f"{os.path.dirname(work)}/.work.part"
    try:
        os.mkdir(aside)
    except FileExistsError:  # of an attempt that was killed, or of another rank right now
        aside += secrets.token_hex(4)
        os.mkdir(aside)
    names = _names(tree)
    before = _last[1] if _last[0] == tree else ""
    for name in names:
        _link(f"{tree}/{name}", f"{aside}/{name}", before and f"{before}/{name}")
    with contextlib.suppress(OSError):  # the original may be gone; the code is not
        for name in os.listdir(root):
            if name not in names and name not in _NEVER:
                os.symlink(f"{root}/{name}", f"{aside}/{name}")
    try:
        os.rename(aside, work)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        if not os.path.isdir(work):
            raise
    _last = tree, work


_last = "", ""  # a tree, and the directory that was filled with it last


def _link(target: str, link: str, before: str) -> None:
    """A symbolic link; or one more name of the link that the task before this one has, which spares the disk an inode
    and a block."""
    if not before or not _is_linked(before, link, target):
        os.symlink(target, link)


def _is_linked(before: str, link: str, target: str) -> bool:
    try:
        os.link(before, link, follow_symlinks=False)
    except OSError:  # on another disk, gone, or it has too many names
        return False
    with contextlib.suppress(OSError):  # no link at all
        if os.readlink(link) == target:
            return True
    os.unlink(link)  # that task has put something else in its place
    return False


@lru_cache(64)
def _names(tree: str) -> frozenset[str]:
    """What is in a restored snapshot, which never changes."""
    return frozenset(os.listdir(tree))


def _make_read_only(tree: Path) -> None:
    """A task that wrote into the shared tree would change the code of all others that run from it."""
    for directory, _, names in os.walk(tree, topdown=False):
        for name in names:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode & 0o555)
        if directory != str(tree):
            os.chmod(directory, 0o555)


def _remove(tree: Path) -> None:
    for directory, _, _ in os.walk(tree):
        os.chmod(directory, 0o755)
    shutil.rmtree(tree, ignore_errors=True)

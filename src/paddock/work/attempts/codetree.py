"""The directory a task runs in.

A frozen task gets one made of links: to the snapshot for what was code at submit, and to the original directory for
everything else (data, ignored files), so that paths in commands go on working. What it writes beside them stays in the
run's directory. The snapshot itself is restored once for each digest, read-only, and shared; a directory of it that
holds other things too, or that the task runs in, is made of links in the same way (mixed.py).
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from paddock.errors import Damaged, PaddockError
from paddock.queue.task import Task
from paddock.record.layout import Home
from paddock.work.attempts import mixed
from paddock.work.attempts.left import link_what_is_named


def work_directory(task: Task, home: Home, run: str, cache: Path) -> str:
    """Where the task's command starts; a sentence when it cannot be had. `run`: the run's directory."""
    if not task.code:
        return task.cwd or os.getcwd()  # roach's tasks run where the worker was started
    code = task.facts.get("code") or {}
    root = str(code.get("root") or task.cwd)
    tree = shared_tree(home, task.code, cache)
    work = f"{run}/work"
    inside = os.path.relpath(task.cwd, root) if task.cwd and task.cwd != root else ""
    if inside.startswith(".."):
        inside = ""
    _fill(work, tree, root, inside)
    here = f"{work}/{inside}" if inside else work
    if task.after:
        link_what_is_named(task, os.path.dirname(run), here, inside)
    return here


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
    aside = cache / "code" / f".{digest}.{os.urandom(4).hex()}"
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


def _fill(work: str, tree: str, root: str, inside: str) -> None:
    """What is missing is added, by each rank that begins, and after an attempt that was killed here: the last of the
    code is there when all of it is."""
    global _last
    names, own = _names(tree), mixed.own(tree, root, inside)
    if own and not os.path.lexists(work):
        _fill_aside(work, tree, root, own)
    else:
        try:
            os.mkdir(work)
        except FileExistsError:
            _point_here(work, tree)
            if names and os.path.lexists(f"{work}/{next(reversed(names))}"):
                return
        _put_links(work, tree, root, {})
    _last = tree, work


def _fill_aside(work: str, tree: str, root: str, own: Mapping[str, Sequence[str]]) -> None:
    """One that has directories of its own is filled under another name: nothing else would say that it is whole."""
    import shutil  # here, because most tasks run in place

    aside = f"{os.path.dirname(work)}/.work.{os.urandom(4).hex()}"
    os.mkdir(aside)
    try:
        _put_links(aside, tree, root, own)
        os.rename(aside, work)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        if not os.path.isdir(work):  # else another rank was faster
            raise


def _put_links(directory: str, tree: str, root: str, own: Mapping[str, Sequence[str]]) -> None:
    names = _names(tree)
    before = _last[1] if _last[0] == tree else ""
    for folder, beside in own.items():
        os.mkdir(f"{directory}/{folder}")
        for name in beside:
            os.symlink(f"{root}/{folder}/{name}", f"{directory}/{folder}/{name}")
        for part in (f"{folder}/{name}" for name in mixed.folders(tree)[folder]):
            if part not in own:
                _link(f"{tree}/{part}", f"{directory}/{part}", before and f"{before}/{part}")
    for name in _listed(root):
        if name not in names and name not in mixed.NEVER:
            with contextlib.suppress(FileExistsError):
                os.symlink(f"{root}/{name}", f"{directory}/{name}")
    for name in names:
        if name not in own:
            _link(f"{tree}/{name}", f"{directory}/{name}", before and f"{before}/{name}")


def _listed(root: str) -> list[str]:
    try:
        return os.listdir(root)
    except OSError:  # the original may be gone; the code is not
        return []


_last = "", ""  # a tree, and the directory that was filled with it last


def _link(target: str, link: str, before: str) -> None:
    """A symbolic link; or one more name of the link that the task before this one has, which spares the disk an inode
    and a block."""
    if not before or not _is_linked(before, link, target):
        with contextlib.suppress(FileExistsError):
            os.symlink(target, link)


def _is_linked(before: str, link: str, target: str) -> bool:
    """Looked at first: a worker that is killed between the two must not leave another task's file here as the code."""
    try:
        if os.readlink(before) != target:
            return False  # that task has put something else in its place
        os.link(before, link, follow_symlinks=False)
    except OSError:  # no link at all, on another disk, gone, or it has too many names
        return False
    with contextlib.suppress(OSError):
        if os.readlink(link) == target:
            return True
    os.unlink(link)  # it did so just now
    return False


def _point_here(work: str, tree: str) -> None:
    """An earlier attempt may have had the snapshot elsewhere: on another machine, or in a job's own scratch space."""
    code = f"/code/{os.path.basename(tree)}/"
    for folder, names in mixed.folders(tree).items():
        if os.path.islink(f"{work}/{folder}"):
            continue
        for name in names:
            part = os.path.normpath(f"{folder}/{name}")
            link, target = f"{work}/{part}", f"{tree}/{part}"
            try:
                found = os.readlink(link)
            except OSError:  # what the task has made of it, or nothing
                continue
            if found != target and found.endswith(code + part) and not os.path.exists(link):
                aside = f"{os.path.dirname(link)}/.{os.urandom(4).hex()}"
                os.symlink(target, aside)
                os.replace(aside, link)


@lru_cache(64)
def _names(tree: str) -> dict[str, None]:
    """What is in a restored snapshot, which never changes, in the order of the alphabet."""
    return dict.fromkeys(sorted(os.listdir(tree)))


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
    import shutil

    for directory, _, _ in os.walk(tree):
        os.chmod(directory, 0o755)
    shutil.rmtree(tree, ignore_errors=True)

"""Deleting a checkpoint that others are better than. It is irrevocable, so every doubt keeps it.

    watches/<id>/deleting/<key>        it is about to be deleted
    watches/<id>/ledger/<key>.deleted  it was

A directory is renamed to a hidden name before its files go: half a checkpoint is never seen under its name. What a
watcher leaves that dies in between is finished by the next. No link is followed, in the checkpoint or on the way to it,
and nothing outside of the watched directory is touched.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator

from paddock import files, wire
from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.origin.look import look
from paddock.evaluate.policy.tally import DELETED

_HIDDEN = ".paddock-deleted-"


def delete(ledger: Ledger, root: str, finding: Finding, why: str) -> str:
    """ "" when it is deleted, else why it is kept."""
    doubt = doubt_about(root, finding)
    if doubt:
        return doubt
    intents = ledger.path / "deleting"
    intents.mkdir(exist_ok=True)
    intent = intents / finding.key
    files.replace(intent, wire.dumps({"path": wire.text(finding.path), "why": why}))
    try:
        _remove(root, finding)
    except OSError as error:
        intent.unlink(missing_ok=True)
        return f"it cannot be deleted ({error.strerror})"
    _note(ledger, finding, why)
    return ""


def finish(ledger: Ledger, root: str) -> Iterator[Finding]:
    """What a watcher left that died while it deleted: what had lost its name already."""
    for entry in list(files.entries(ledger.path / "deleting")):
        finding = ledger.finding(entry.name)
        try:
            begun = finding is not None and _remove_hidden(root, finding)
        except OSError:
            continue  # later
        if finding is not None and (begun or not os.path.lexists(finding.path)):
            _note(ledger, finding, "a watcher died while it deleted it")
            yield finding
        else:  # it had not come so far: it is decided anew
            (ledger.path / "deleting" / entry.name).unlink(missing_ok=True)


def doubt_about(root: str, finding: Finding) -> str:
    """Why it must not be deleted, if anything speaks against it."""
    here = look(finding.path)
    if here is None:
        return "it is gone already"
    if fingerprint(here) != finding.fingerprint:
        return "it was changed since it was evaluated"
    try:
        parent = _parent(root, finding.path)
    except OSError:
        return "it is not in the watched directory itself"
    try:
        mode = os.stat(os.path.basename(finding.path), dir_fd=parent, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return "it is a link"
        if _is_linked_to(parent, finding.path):
            return "a link leads to it"
    except OSError as error:
        return f"it cannot be looked at ({error.strerror})"
    finally:
        os.close(parent)
    return ""


def _parent(root: str, path: str) -> int:
    """The directory that holds it, opened step by step from the watched one: a link on the way is an error."""
    inside = os.path.relpath(path, root).split(os.sep)
    if inside[0] in ("..", ".") or not inside[-1]:
        raise FileNotFoundError(path)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    here = os.open(root, flags)
    for name in inside[:-1]:
        try:
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def _is_linked_to(parent: int, path: str) -> bool:
    """Whether a symbolic link beside it (`last.ckpt`, `latest`) is of this one."""
    with os.scandir(parent) as listing:
        links = [entry.name for entry in listing if entry.is_symlink()]
    directory, real = os.path.dirname(path), os.path.realpath(path)
    return any(os.path.realpath(os.path.join(directory, name)) == real for name in links)


def _remove(root: str, finding: Finding) -> None:
    parent, name = _parent(root, finding.path), os.path.basename(finding.path)
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.rename(name, _HIDDEN + finding.key, src_dir_fd=parent, dst_dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)
        os.fsync(parent)
    finally:
        os.close(parent)
    _remove_hidden(root, finding)


def _remove_hidden(root: str, finding: Finding) -> bool:
    """Whether it had lost its name already."""
    try:
        parent = _parent(root, finding.path)
    except FileNotFoundError:  # the whole directory is gone
        return False
    try:
        if _HIDDEN + finding.key not in os.listdir(parent):
            return False
        shutil.rmtree(_HIDDEN + finding.key, dir_fd=parent)
    finally:
        os.close(parent)
    return True


def _note(ledger: Ledger, finding: Finding, why: str) -> None:
    note = {"path": wire.text(finding.path), "why": why, "t": round(time.time(), 6)}
    files.write_once(ledger.directory / (finding.key + DELETED), wire.dumps(note))
    (ledger.path / "deleting" / finding.key).unlink(missing_ok=True)

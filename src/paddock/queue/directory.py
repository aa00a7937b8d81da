"""A queue in a directory: every change of state is one rename.

Nothing is polled by name: a listing decides (on NFS a listing is fresh where exists() is half a minute old). After a
rename that failed, a listing tells whether it happened all the same: over NFS it may have.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from paddock import files
from paddock.errors import HomeError, NotFound, Refused, UsageError
from paddock.queue import aside, engine, lifecycle
from paddock.queue.abilities import Abilities
from paddock.queue.check import done_check
from paddock.queue.crew import crew
from paddock.queue.lease import Identity, server_time
from paddock.queue.lifecycle import QUEUED, STATES, Place, Token
from paddock.queue.task import Task, TaskFile, name_in, read
from paddock.record.layout import Home

ABILITIES = Abilities(files=True, ranks=True, several=True, apart=False, jobs=True)
SENTINEL = ".paddock-queue"
ASIDE = ".submit"
_HEAD_BYTES = 4096
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE, errno.EIO, errno.ETIMEDOUT}  # they may pass
_AWAY = {errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.ENODEV, errno.ENOTCONN, errno.EHOSTDOWN}


class Listing(NamedTuple):
    places: list[Place]
    strangers: list[str]  # paths of files that are no tasks
    sure: bool  # everything could be read, and the queue is really there


class DirectoryQueue:
    abilities = ABILITIES

    def __init__(self, path: Path, by: engine.Engine | None = None) -> None:
        """`by`: the engine that is to run its tasks, as its URL says; what is there already says so itself."""
        self.path, self._by = path, by
        # roach kept its states in <queue>/tasks at one time and in <queue> at another.
        self.base = path / "tasks" if (path / "tasks" / QUEUED).is_dir() else path
        self._base = str(self.base)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def address(self) -> str:
        return str(self.path)

    @property
    def runner(self) -> engine.Engine | None:
        """The engine that runs its tasks; None when people start workers."""
        return self._by or engine.read(self.path)

    @property
    def workers(self) -> Path:
        return self.path / "workers"

    def directory(self, state: str) -> Path:
        return self.base / state

    def exists(self) -> bool:
        return self.directory(QUEUED).is_dir()

    def require(self) -> None:
        if not self.exists():
            raise NotFound(f"There is no queue in {self.path}.", hint="`paddock submit` makes one; check the name.")

    def prepare(self) -> None:
        """Make what is missing, and refuse a queue that strangers could put commands into."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is a file, not a queue.")
        if (
            self.path.is_dir()
            and not self.exists()
            and any(not e.name.startswith(".") for e in files.entries(self.path))
        ):
            known = {*STATES, "workers", "tasks"}
            found = sorted(e.name for e in files.entries(self.path) if not e.name.startswith("."))
            if not known.intersection(found):
                raise UsageError(
                    f"{self.path} is no queue: it holds {', '.join(found[:3])}.", hint="Name a new or empty directory."
                )
        try:
            for directory in (*map(self.directory, (*STATES, lifecycle.CANCELLED)), self.workers, self.path / ASIDE):
                directory.mkdir(parents=True, exist_ok=True)
            if not self.is_there():  # also when a full disk once took the name and not the content
                files.replace(self.path / SENTINEL, b"1\n")
            if self._by is not None:
                engine.write(self.path, self._by)
            self.refuse_if_open_to_all()
        except OSError as error:
            denied = isinstance(error, PermissionError)
            raise HomeError(
                f"The queue {self.path} cannot be written ({error.strerror}).",
                hint="Check who owns it." if denied else "See to the disk.",
            ) from None

    def refuse_if_open_to_all(self) -> None:
        for directory in (self.path, self.base, self.directory(QUEUED)):
            if os.stat(directory).st_mode & stat.S_IWOTH:
                raise Refused(
                    f"Everybody may write to {directory}, and whoever writes a queue runs commands as its workers.",
                    hint=f"chmod o-w '{directory}'",
                )

    # Reading

    def list(self, states: Iterable[str] = STATES) -> Listing:
        places: list[Place] = []
        strangers: list[str] = []
        sure = True
        for state in states:
            try:
                names = os.listdir(self.directory(state))
            except OSError:
                sure = False
                continue
            for name in names:
                found = lifecycle.place(state, name)
                if found is not None:
                    places.append(found)
                elif not name.startswith("."):
                    strangers.append(f"{state}/{name}")
        return Listing(places, strangers, sure and self.is_there())

    def is_there(self) -> bool:
        """A mount point without its filesystem is an empty directory, and an empty queue looks just like it."""
        try:
            return (self.path / SENTINEL).read_bytes() != b""
        except OSError:
            return False

    def is_untouched(self) -> bool:
        """All directories are there, and no Paddock has worked here yet: it is roach's."""
        return not os.path.lexists(self.path / SENTINEL) and all(self.directory(state).is_dir() for state in STATES)

    def file(self, place: Place) -> Path:
        return self.base / place.state / place.name

    def where(self, place: Place) -> str:
        """The same as a text, which is had ten times faster."""
        return f"{self._base}/{place.state}/{place.name}"

    def read(self, place: Place) -> TaskFile:
        return read(files.read_from(self.file(place), 0), place.id)

    def raw(self, place: Place) -> bytes:
        return files.read_from(self.file(place), 0)

    def title(self, place: Place) -> str:
        """The task's name, without the rest of the file: somebody may look for one among a hundred thousand."""
        return name_in(files.read_from(self.file(place), 0, _HEAD_BYTES))

    def distrust(self, place: Place) -> str:
        """Why no worker runs what this file says; nothing when it was written by us, the queue's owner, or root."""
        found = os.stat(self.file(place), follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            return "it is no plain file, and is left alone"
        if found.st_uid in {0, os.getuid(), os.stat(self.path).st_uid}:
            return "everybody may write it, so it is left alone; chmod o-w" if found.st_mode & stat.S_IWOTH else ""
        try:
            owner = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            owner = f"user {found.st_uid}"
        return f"it belongs to somebody else ({owner}), and is left alone"

    def since(self, place: Place) -> float | None:
        """When the file was last moved."""
        try:
            return os.stat(self.file(place)).st_ctime
        except OSError:
            return None

    def now(self) -> float:
        """By the clock of the file server."""
        return server_time(self.path / ASIDE)

    def reasons(self) -> Mapping[str, str]:
        return {}  # they stay with a worker, whose log says it

    def check(self, task: str) -> str:
        return done_check(self.base, task)

    def crew(self) -> Sequence[tuple[Identity, float, bool]]:
        """All workers that have a file, by name, and how long ago it was written to by the clock of the file server."""
        return crew(self.workers, self.path / ASIDE)

    def dismiss(self, worker: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # somebody else was faster, or it has just ended
            os.unlink(self.workers / worker)

    def forget(self, worker: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.workers / worker)
        files.sync_directory(self.workers)

    def tend(self) -> None:
        """Its workers see to what waits."""

    # Changing

    def put(self, tasks: Sequence[Task]) -> None:
        """Acknowledged is durable: each file is on the disk before its name is, and all names before this returns."""
        written: aside.Written = []
        try:
            aside.write(f"{self.path}/{ASIDE}", tasks, written)
            for temporary, target in written:
                os.rename(temporary, self.where(target))
            files.sync_directory(self.directory(QUEUED), strict=True)
        except BaseException as error:
            taken = sum(not aside.take_back(temporary, self.where(target)) for temporary, target in written)
            if not isinstance(error, OSError):
                raise
            what = f"{taken} of its tasks are with a worker already" if taken else "nothing was submitted"
            raise HomeError(
                f"The queue {self.path} did not take that ({error.strerror}): {what}.",
                hint="See to the disk, then again.",
            ) from None

    def place_copy(self, data: bytes, at: Place) -> None:
        """A task's file from elsewhere: whole and on the disk before it has its name."""
        temporary = self.path / ASIDE / f"{at.id}.{os.urandom(3).hex()}"
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
        try:
            try:
                files.write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.rename(temporary, self.file(at))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        files.sync_directory(self.directory(at.state))

    def claim(self, place: Place, token: Token, state: str = lifecycle.ACTIVE) -> Place | None:
        """Take a task; None when somebody else was faster."""
        wanted = lifecycle.claimed(place, token, state)
        return wanted if self.move(place, wanted) else None

    def has_rival(self, mine: Place) -> bool:
        """Whether another file of a task that we have just taken is in a worker's hands: an editor that was open when
        the task began has saved it under its old name, or somebody made a copy. They must not run at once."""
        for state in (lifecycle.ACTIVE, lifecycle.PAUSED):
            for name in os.listdir(self.directory(state)):
                if name.startswith(mine.id) and (state, name) != (mine.state, mine.name):
                    found = lifecycle.place(state, name)
                    if found is not None and found.id == mine.id and found.token is not None:
                        return True
        return False

    def move(self, place: Place, to: Place) -> bool:
        """Rename; True when the file is at its new place because of this call."""
        try:
            os.rename(self.where(place), self.where(to))
            return True
        except FileNotFoundError:
            return to.token is not None and self._arrived(to)
        except OSError as error:
            if error.errno not in _AWAY:
                raise
            if self._arrived(to):
                return True
            raise

    def remove(self, place: Place) -> bool:
        """False when it is not there any more."""
        try:
            os.unlink(self.file(place))
        except FileNotFoundError:
            return False
        return True

    def sync(self, states: Iterable[str]) -> None:
        """After a power cut the files are where they were put, too."""
        for state in states:
            files.sync_directory(self.directory(state))

    def _arrived(self, to: Place) -> bool:
        """Names with a token are ours alone: one that is there was put there by us."""
        try:
            return to.name in os.listdir(self.directory(to.state))
        except OSError:
            return False

    def append(self, place: Place, data: bytes) -> None:
        """Add to a task's file, on the disk before this returns. Only for who holds its token."""
        descriptor = self.write(place, data)
        try:
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def write(self, place: Place, data: bytes) -> int:
        """Add to a task's file; the descriptor comes back, for who wants to have it on the disk."""
        try:
            descriptor = os.open(self.where(place), os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except PermissionError:  # another user's, in a queue that we share
            descriptor = self._copy(place)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
            try:
                files.write_all(descriptor, data)
            except OSError:
                os.ftruncate(descriptor, size)  # half a note would be read as one, and then comes the whole one
                raise
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _copy(self, place: Place) -> int:
        """Put a file of our own in the place of one that we may read and rename, but not write."""
        copy = f"{self.path}/{ASIDE}/{place.id}.{os.urandom(3).hex()}"
        descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            files.write_all(descriptor, files.read_from(self.file(place), 0))
            os.fsync(descriptor)
            os.rename(copy, self.file(place))
        except BaseException:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(copy)
            raise
        return descriptor


def find_queue(where: str | os.PathLike[str], home: Home) -> DirectoryQueue:
    """A name is a queue of the home; anything with a slash is a directory anywhere."""
    if not isinstance(where, (str, os.PathLike)):
        raise UsageError(f"queue={where!r} is no queue.", hint="Give its name, or the path of a directory.")
    text = os.fsdecode(where)
    if text.startswith(("redis://", "rediss://", "unix://")):
        raise UsageError("This cannot be done with a queue in Redis.", hint="Name a queue in a directory.")
    if engine.is_engine(text):
        named = engine.parse(text)
        return DirectoryQueue(home.queues / named.queue, named)
    if engine.is_url(text):
        raise UsageError(
            f"{text!r} is no queue that Paddock knows.",
            hint="There are slurm://PARTITION, k8s://CONTEXT/NAMESPACE and redis://HOST:6379/0?queue=NAME.",
        )
    if "/" in text or text.startswith(("~", ".")):
        return DirectoryQueue(Path(os.path.abspath(os.path.expanduser(text))))
    if not lifecycle.place(QUEUED, text):
        raise UsageError(
            f"{text!r} cannot be a queue's name.", hint="Use letters, digits, '.', '_' and '-', or a path."
        )
    return DirectoryQueue(home.queues / text)


def queues(home: Home) -> list[DirectoryQueue]:
    """The queues of a home, and those elsewhere that tasks were submitted to from it."""
    found = [DirectoryQueue(home.queues / entry.name) for entry in files.entries(home.queues)]
    return sorted((queue for queue in found if queue.exists()), key=lambda queue: queue.name)


def remember(queue: DirectoryQueue, home: Home) -> None:
    """Link a queue that lies elsewhere into the home, so that its tasks are listed there too."""
    if queue.path.parent == home.queues:
        return
    home.queues.mkdir(parents=True, exist_ok=True)
    link = home.queues / queue.name
    try:
        if not lifecycle.place(QUEUED, queue.name) or (link.exists() and not link.samefile(queue.path)):
            from hashlib import blake2b  # seldom, and nobody waits for it

            link = home.queues / f"queue-{blake2b(os.fsencode(queue.path), digest_size=4).hexdigest()}"
        if not link.is_symlink() or os.readlink(link) != str(queue.path):
            link.unlink(missing_ok=True)
            os.symlink(queue.path, link)
    except OSError:
        pass  # somebody else just did it, or the home cannot be written: the task is queued all the same

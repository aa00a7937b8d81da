"""Where everything is: the home, and a run's directory inside it."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import msgspec

from paddock import files
from paddock.errors import HomeError, UsageError

LONGEST_ID = 128
ID_PATTERN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_ID - 1}}}")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # 32 of them, no i, l, o, u: an id is read aloud and typed


def new_id() -> str:
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in os.urandom(10))


def check_id(run_id: str) -> str:
    """An id is a directory's name, a label and a part of URLs: refuse what could be more than that."""
    if not ID_PATTERN.fullmatch(run_id):
        raise UsageError(
            f"{run_id!r} cannot be a run's id.",
            hint=f"Use up to {LONGEST_ID} letters, digits, '.', '_' and '-', beginning with a letter or digit.",
        )
    return run_id


class RunDirectory(msgspec.Struct, frozen=True):
    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def facts(self) -> Path:
        return self.path / "run.json"

    @property
    def journals(self) -> Path:
        return self.path / "journal"

    @property
    def output(self) -> Path:
        return self.path / "output"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def files(self) -> Path:
        return self.path / "files"


# Where no directory can be made; ENOENT is what /proc says.
_IMPOSSIBLE = (
    *(errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.ENOENT),
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL),
)


class Home(msgspec.Struct, frozen=True):
    path: Path

    @property
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def code(self) -> Path:
        return self.path / "code"

    @property
    def queues(self) -> Path:
        return self.path / "queues"

    @property
    def hosts(self) -> Path:
        return self.path / "hosts"

    @property
    def trash(self) -> Path:
        return self.path / "trash"

    @property
    def server(self) -> Path:
        return self.path / "server"

    def run(self, run_id: str) -> RunDirectory:
        return RunDirectory(self.runs / check_id(run_id))

    def prepare(self) -> None:
        """Make the directories, or say in a sentence why they cannot be had."""
        try:
            for directory in (self.runs, self.code):
                directory.mkdir(parents=True, exist_ok=True)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")  # a home inside a work tree is nobody's source code
        except OSError as error:
            hint = "Set PADDOCK_HOME to a directory that you can write."
            if error.errno == errno.EROFS:
                raise HomeError(f"The home {self.path} is on a read-only filesystem.", hint=hint) from None
            if error.errno in _IMPOSSIBLE:
                why = error.strerror or error
                raise HomeError(f"The home {self.path} cannot be made ({why}).", hint=hint) from None
            raise
        if not os.access(self.runs, os.W_OK | os.X_OK):
            raise HomeError(
                f"The home {self.path} cannot be written.",
                hint="Set PADDOCK_HOME to a directory that you can write, or ask its owner for access.",
            )


def find_home(explicit: str | os.PathLike[str] | None = None, start: Path | None = None) -> Home:
    """`explicit` (an argument or PADDOCK_HOME), else the nearest .paddock/ upwards, else ~/.paddock."""
    if explicit:
        return Home(Path(os.path.abspath(os.path.expanduser(explicit))))
    here = start or _working_directory()
    for directory in (here, *here.parents) if here else ():
        candidate = directory / ".paddock"
        try:
            if candidate.is_dir() and not files.is_planted(candidate):
                return Home(candidate)
        except PermissionError:  # sudo -u and su leave us where the other one was: nothing there is ours
            continue
    try:
        return Home(Path.home() / ".paddock")
    except RuntimeError:
        raise HomeError(
            "There is no home directory to keep runs in (HOME is not set).",
            hint="Set PADDOCK_HOME to a directory that you can write.",
        ) from None


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was deleted under us
        return None

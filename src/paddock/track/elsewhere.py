"""A full or failing disk must not stop a training: its record goes to local disk, and moves back by mv."""

from __future__ import annotations

import contextlib
import errno
import shlex
import tempfile
from pathlib import Path

from paddock.errors import HomeError
from paddock.record.layout import Home, RunDirectory
from paddock.track import notice


def spare_home(home: Home, error: OSError) -> Home:
    """A home in the temporary directory, in place of one whose disk refused; one that is closed to us is an error."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        raise HomeError(
            f"The home {home.path} cannot be written ({error.strerror}).",
            hint="Set PADDOCK_HOME to a directory that you can write, or mode='disabled' to go without a record.",
        ) from None
    spare = Home(Path(tempfile.mkdtemp(prefix="paddock-home-")))
    notice.say(
        f"{home.path} cannot take the run ({error.strerror}). It is written to {spare.path} instead; later:\n"
        f"    {_bring_back(spare, home)}"
    )
    spare.prepare()
    return spare


def give_up(directory: RunDirectory) -> None:
    """Remove a run's directory in which nothing could be written: it would be listed as a lost run."""
    with contextlib.suppress(OSError):  # something is in it after all
        directory.journals.rmdir()
        directory.path.rmdir()


def _bring_back(spare: Home, home: Home) -> str:
    """The command that moves the runs, with the code they refer to."""
    here, code, runs = (shlex.quote(str(path)) for path in (spare.runs, spare.code, home.runs))
    return f"mkdir -p {runs} && mv {here}/* {runs}/ && cp -Rf {code} {shlex.quote(str(home.path))}/"

"""What was started, as a person would say it.

`paddock run train.py` starts another process, whose own command line nobody typed: it declares the one that was.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

_script: Path | None = None
_command: list[str] = []
about: dict[str, Any] = {}  # what `paddock run` was told of the run; goes before what the script says


def declare(script: Path, command: list[str]) -> None:
    global _script, _command
    _script, _command = script, command


def command() -> list[str]:
    """As it was typed: sys.orig_argv knows `python -m module` where sys.argv does not."""
    return _command or list(sys.orig_argv) or list(sys.argv)


def script() -> Path | None:
    """The file that was started, if it was a file."""
    path = _script or getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(os.path.abspath(path)) if path else None


def directory() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was deleted under us
        return Path("/")


def root() -> Path:
    """The directory that gives a run's project its name: the work tree the script is in, else the script's own."""
    origin = script()
    here = origin.parent if origin else directory()
    return next((d for d in (here, *here.parents) if (d / ".git").exists()), here)

"""Copies of the user's files, kept with a run."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from paddock.errors import UsageError


def copy_into(pattern: Path, target: Path, base: Path | None) -> Iterator[Path]:
    """Copy what the pattern names below `target`, keeping the path below `base` (else the file's name). One file that
    cannot be read does not keep the others from being kept; it is named at the end."""
    text = os.path.expanduser(str(pattern))
    if os.path.isdir(text):
        root = Path(text)
        sources = [p for p in sorted(root.rglob("*")) if p.is_file()]
        base = base or root.parent
    else:
        sources = [Path(p) for p in sorted(glob.glob(text, recursive=True)) if os.path.isfile(p)]
        if os.path.isfile(text):
            sources = [Path(text)]
    if not sources:
        raise UsageError(f"There is no file {text!r} to save.", hint="Save it after it has been written.")
    refused = []
    for source in sources:
        relative = _below(source, base) if base else Path(source.name)
        destination = target / relative
        try:
            destination.parent.mkdir(parents=True, exist_ok=True)
            # What was written into run.dir to begin with is there already.
            if not (destination.exists() and os.path.samefile(source, destination)):
                copy(source, destination)
        except OSError as error:
            refused.append(f"{source} ({error.strerror or error})")
            continue
        yield destination
    if refused:
        raise UsageError(f"{len(refused)} files could not be copied: {', '.join(refused[:5])}.")


def copy(source: Path, destination: Path) -> None:
    """A copy that is whole or absent."""
    aside = destination.with_name(f".{destination.name}.{os.urandom(4).hex()}.tmp")
    try:
        shutil.copy2(source, aside)
        os.replace(aside, destination)
    finally:
        aside.unlink(missing_ok=True)


def _below(source: Path, base: Path) -> Path:
    try:
        return Path(os.path.abspath(source)).relative_to(os.path.abspath(base))
    except ValueError:
        raise UsageError(f"{source} is not inside base_path {base}.") from None

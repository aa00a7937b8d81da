"""Copies of the user's files, kept with a run."""

from __future__ import annotations

import glob
import os
import shutil
from pathlib import Path

from paddock.errors import UsageError


def copy_into(pattern: Path, target: Path, base: Path | None) -> list[Path]:
    """Copy what the pattern names below `target`, keeping the path below `base` (else the file's name)."""
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
    kept = []
    for source in sources:
        relative = _below(source, base) if base else Path(source.name)
        destination = target / relative
        destination.parent.mkdir(parents=True, exist_ok=True)
        if destination.exists() and os.path.samefile(source, destination):
            kept.append(destination)  # it was written into run.dir to begin with
            continue
        copy(source, destination)
        kept.append(destination)
    return kept


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

"""`shipped.json` beside a run's journals at a server: which of them are copies whose processes had ended when their
last bytes came. Of the others the server knows only that bytes come, or do not."""

from __future__ import annotations

from pathlib import Path

from paddock import files, wire
from paddock.record.layout import RunDirectory

NAME = "shipped.json"


def gone(run: Path | str) -> frozenset[str]:
    """The writers that were known to have ended."""
    try:
        found = wire.loads(files.read_from(f"{run}/{NAME}", 0))
    except (OSError, wire.DecodeError, UnicodeDecodeError):
        return frozenset()
    writers = found.get("gone") if isinstance(found, dict) else None
    return frozenset(w for w in writers if isinstance(w, str)) if isinstance(writers, list) else frozenset()


def note_gone(run: RunDirectory, writer: str) -> None:
    """Before its bytes are written, so that whoever sees them knows it."""
    known = gone(run.path)
    if writer not in known:
        run.path.mkdir(parents=True, exist_ok=True)
        files.replace(run.path / NAME, wire.dumps({"v": 1, "gone": sorted({*known, writer})}))

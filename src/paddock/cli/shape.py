"""Runs as JSON, the same in every verb."""

from __future__ import annotations

from typing import Any

from paddock import wire
from paddock.compare.fields import duration
from paddock.compare.stats import best_of
from paddock.model import RunRow

STATE_STYLES = {
    "queued": "blue",
    "paused": "blue",
    "running": "cyan",
    "finished": "green",
    "failed": "red",
    "killed": "yellow",
    "lost": "magenta",
}


def run_json(run: RunRow, now: float | None = None) -> dict[str, Any]:
    found = {name: getattr(run, name) for name in run.__struct_fields__}
    found["duration"] = duration(run, now)
    found["metrics"] = {
        name: {**stat._asdict(), "best": best_of(name, stat, run.goals)} for name, stat in run.metrics.items()
    }
    return found


def run_raw(run: RunRow, now: float | None = None) -> Any:
    """The same, encoded already where it can be: for listings of many runs."""
    found = run_json(run, now)
    return wire.shown(found) or found


def short(run: RunRow) -> dict[str, Any]:
    return {"id": run.id, "name": run.name, "project": run.project, "state": run.state}


def label(run: RunRow) -> str:
    """A run in a sentence or over a column."""
    return run.id if run.name in ("", run.id) else f"{run.name} ({run.id})"


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else nothing: what other programs wrote into a record may be anything."""
    return value if isinstance(value, dict) else {}


def amount(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0
    return value if abs(value) < 1e300 else 0  # a whole number may exceed all that can be reckoned with

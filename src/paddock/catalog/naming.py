"""Which run a person means: by id, by name, or by the beginning of either."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

SHORTEST_END = 4
Named = tuple[str, str]  # id, name


def fitting(wanted: str, runs: Sequence[Named]) -> list[str]:
    """The ids that fit best: an exact id, else an exact name, else the beginning of an id, else of a name,
    else the end of an id: those of tasks begin with the date."""
    if not wanted:
        return []
    return (
        [run_id for run_id, _ in runs if run_id == wanted]
        or [run_id for run_id, name in runs if name == wanted]
        or [run_id for run_id, _ in runs if run_id.startswith(wanted)]
        or [run_id for run_id, name in runs if name.startswith(wanted)]
        or [run_id for run_id, _ in runs if len(wanted) >= SHORTEST_END and run_id.endswith(wanted)]
    )


def near(wanted: str, runs: Sequence[Named]) -> list[str]:
    """Names and ids that look like what was typed."""
    names = {name for _, name in runs} | {run_id for run_id, _ in runs}
    return difflib.get_close_matches(wanted, sorted(names)[:5000], 3)

"""A comparison that was printed, kept as a report of the board."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from urllib.parse import urlencode

from paddock.errors import NotFound, UsageError
from paddock.record import reports
from paddock.record.layout import Home
from paddock.record.reports import Report

MOST_RUNS = 200  # that the board compares
MOST_CHARACTERS = 500


def check_title(title: str | None) -> None:
    if title is not None and not 0 < len(title.strip()) <= MOST_CHARACTERS:
        raise UsageError(f"The title of a report has 1 to {MOST_CHARACTERS} characters.")


def keep_report(home: Home, title: str, runs: Sequence[str], metrics: Sequence[str], stat: str) -> Report:
    """Its curves and its results, by the same value of each run, as the board shows them."""
    if not runs:
        raise NotFound("No run fits, so no report was made.")
    if len(runs) > MOST_RUNS:
        raise UsageError(
            f"A report compares {MOST_RUNS} runs at most, and {len(runs)} fit.", hint="Name fewer, by a narrower query."
        )
    seen = [("run", run) for run in runs] + [("metric", metric) for metric in metrics]
    results = [("show", "results"), ("stat", stat)]
    made = tuple(reports.Block("comparison", urlencode([*shown, *seen])) for shown in ([], results))
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    return reports.save(home, None, {"title": title.strip(), "blocks": made}, user=user)

"""Runs are named by id, by name, or by the beginning of either."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.catalog.catalog import Catalog
from paddock.catalog.naming import fitting
from paddock.errors import Ambiguous, RunNotFound

RUNS = [("a1b2", "baseline"), ("a9zz", "wide"), ("b7", "a1"), ("wide-2", "other"), ("c1", "twin"), ("c2", "twin")]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("a1b2", ["a1b2"]),
        ("a9", ["a9zz"]),
        ("baseline", ["a1b2"]),
        ("base", ["a1b2"]),
        ("a1", ["b7"]),  # a whole name says more than the beginning of an id
        ("wide", ["a9zz"]),
        ("wide-", ["wide-2"]),
        ("a", ["a1b2", "a9zz"]),
        ("twin", ["c1", "c2"]),
        ("nothing", []),
        ("", []),
    ],
)
def test_the_best_fit_counts(wanted: str, found: list[str]) -> None:
    assert fitting(wanted, RUNS) == found


def test_a_name_that_fits_several_runs_gets_a_list_of_them(field: Any, catalog: Catalog) -> None:
    for run_id, created in (("x1", 1000.0), ("x2", 2000.0)):
        field.run(run_id, name="same", created=created).author(run_id).end()
    catalog.refresh()
    with pytest.raises(Ambiguous, match="fits 2 runs") as caught:
        catalog.run("same")
    assert [line.split()[0] for line in caught.value.candidates] == ["x2", "x1"]
    assert all("same" in line and line.endswith("finished") for line in caught.value.candidates)


def test_an_unknown_name_is_answered_with_near_ones(field: Any, catalog: Catalog) -> None:
    field.run("x1", name="baseline")
    catalog.refresh()
    with pytest.raises(RunNotFound, match="Did you mean baseline") as caught:
        catalog.run("baselime")
    assert caught.value.exit_code == 3
    with pytest.raises(RunNotFound, match="paddock ls"):
        catalog.run("zzzzzzzz")

"""Charts as wandb.plot makes them: the data is right, and kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

import paddock
from paddock.errors import UsageError
from paddock.track.things import plot
from paddock.track.things.media import Table


def test_a_chart_is_a_table_that_says_how_it_is_drawn(read: Any) -> None:
    with paddock.init() as run:
        run.log({"curve": plot.line(Table(["x", "y"], [[1, 2], [2, 4]]), "x", "y", title="T")})
    (record,) = read(run.path).records["table"]
    assert record["plot"] == {"type": "line", "title": "T", "x": "x", "y": "y"}
    assert json.loads((run.path / record["path"]).read_bytes()) == {"columns": ["x", "y"], "data": [[1, 2], [2, 4]]}


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"no column 'z'. It has: x"):
        plot.histogram(Table(["x"], [[1]]), "z")


def test_a_confusion_matrix_counts_every_pair_of_classes() -> None:
    found = plot.confusion_matrix(y_true=[0, 0, 1], preds=[0, 1, 1], class_names=["a", "b"])
    assert found.data == [["a", "a", 1], ["a", "b", 1], ["b", "a", 0], ["b", "b", 1]]
    by_chance = plot.confusion_matrix(probs=[[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]], y_true=[0, 0, 1])
    assert [row[2] for row in by_chance.data] == [1, 1, 0, 1]
    for wrong in (
        {"y_true": [0]},
        {"y_true": [0], "preds": [0, 1]},
        {"y_true": [5], "preds": [0], "class_names": "ab"},
    ):
        with pytest.raises(UsageError):
            plot.confusion_matrix(**wrong)


def test_curves_go_from_end_to_end() -> None:
    truth, chances = [0, 0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]
    roc = [row[1:] for row in plot.roc_curve(truth, chances, labels=["n", "p"]).data if row[0] == "p"]
    assert roc == [[0, 0], [0, 0.5], [0.5, 0.5], [0.5, 1], [1, 1]]
    precision = plot.pr_curve(truth, chances, interp_size=3, classes_to_plot=[1]).data
    assert precision == [["1", 1.0, 0.0], ["1", 1.0, 0.5], ["1", pytest.approx(2 / 3), 1.0]]


def test_equal_chances_are_one_point() -> None:
    assert plot.roc_curve([0, 1], [[0.5, 0.5], [0.5, 0.5]], classes_to_plot=[1]).data == [["1", 0, 0], ["1", 1, 1]]


def test_several_lines_share_their_x_or_have_their_own() -> None:
    rows = [[0, "a", 1], [1, "a", 2], [0, "b", 3], [1, "b", 4]]
    assert plot.line_series([0, 1], [[1, 2], [3, 4]], keys=["a", "b"]).data == rows
    assert plot.line_series([[0, 1], [0, 1]], [[1, 2], [3, 4]], keys=["a", "b"]).data == rows

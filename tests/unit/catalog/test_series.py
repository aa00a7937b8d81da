"""One metric of many runs: by step, the last written value of each."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from paddock.catalog.catalog import Catalog
from paddock.errors import UsageError


def values(catalog: Catalog, run_id: str, metric: str = "loss", **choice: Any) -> list[tuple[int, float]]:
    catalog.refresh()
    found = catalog.series([run_id], metric, **choice)[run_id]
    return list(zip(found.steps, found.values, strict=True))


def test_runs_without_the_metric_are_left_out(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, 0.5]])
    field.author("b1").rows(("acc",), [[0, 0.5]])
    catalog.refresh()
    assert catalog.series(["a1", "b1", "unknown"], "loss").keys() == {"a1"}
    assert catalog.series([], "loss") == {}


def test_the_last_written_value_of_a_step_counts(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, 0.5], [1, 0.4], [1, 0.3], [2, 0.2]])
    assert values(catalog, "a1") == [(0, 0.5), (1, 0.3), (2, 0.2)]
    assert sum(len(batch.steps) for batch in catalog.points(["a1"])) == 4


def test_steps_out_of_order_are_sorted(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[5, 0.5], [-1, 0.1], [3, 0.3]])
    assert values(catalog, "a1") == [(-1, 0.1), (3, 0.3), (5, 0.5)]
    stat = catalog.run("a1").metrics["loss"]
    assert (stat.last, stat.last_step, stat.min, stat.min_step, stat.count) == (0.5, 5, 0.1, -1, 3)


def test_a_step_written_again_in_a_later_refresh_counts(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("loss",), [[i, 0.5] for i in range(5000)])
    catalog.refresh()
    author.rows(("loss",), [[10, 0.1], [4999, 0.2]])
    found = dict(values(catalog, "a1"))
    assert (found[10], found[4999], len(found)) == (0.1, 0.2, 5000)
    assert catalog.run("a1").metrics["loss"].last == 0.2


def test_a_resumed_run_continues_and_overwrites(field: Any, catalog: Catalog) -> None:
    field.author("a1", "zz-first").rows(("loss",), [[i, 1.0] for i in range(10)])
    # the second attempt's host has a clock that is far behind
    second = field.author("a1", "aa-second", attempt=2, host="elsewhere")
    second.journal.append({"k": "open", "t": 5.0, "attempt": 2, "role": "main", "host": "elsewhere", "pid": 1})
    second.rows(("loss",), [[i, 2.0] for i in range(6, 12)])
    assert values(catalog, "a1") == [(i, 1.0) for i in range(6)] + [(i, 2.0) for i in range(6, 12)]
    row = catalog.run("a1")
    assert (row.attempts, row.metrics["loss"].last, row.metrics["loss"].last_step) == (2, 2.0, 11)


def test_processes_of_one_attempt_are_ordered_by_time(field: Any, catalog: Catalog) -> None:
    late, early = field.author("a1", "w1"), field.author("a1", "w2", role="child")
    for author, opened, value in ((late, 2000.0, 0.2), (early, 1000.0, 0.1)):
        author.journal.append({"k": "open", "t": opened, "attempt": 1, "role": "main", "host": "h", "pid": 1})
        author.rows(("loss",), [[0, value], [1, value]])
    assert values(catalog, "a1") == [(0, 0.2), (1, 0.2)]


def test_the_lowest_rank_is_shown_unless_another_is_asked_for(field: Any, catalog: Catalog) -> None:
    for rank in (2, 1, 3):
        field.author("a1", f"w{rank}", rank=rank).rows(("loss",), [[0, rank / 10]])
    assert values(catalog, "a1") == [(0, 0.1)]
    assert values(catalog, "a1", rank=3) == [(0, 0.3)]
    assert catalog.series(["a1"], "loss", rank=7) == {}
    assert catalog.run("a1").metrics["loss"].last == 0.1
    assert {batch.rank for batch in catalog.points(["a1"])} == {1, 2, 3}


def test_a_writer_without_a_rank_counts_as_rank_zero(field: Any, catalog: Catalog) -> None:
    field.author("a1", "w1", rank=1).rows(("loss",), [[0, 0.1]])
    field.author("a1", "w2").rows(("loss",), [[0, 0.2]])
    assert values(catalog, "a1") == [(0, 0.2)]
    assert values(catalog, "a1", rank=0) == [(0, 0.2)]


def test_the_untagged_series_is_the_default(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("loss",), [[0, 0.1]])
    author.rows(("loss",), [[0, 0.2]], {"split": "val", "fold": 1})
    assert values(catalog, "a1") == [(0, 0.1)]
    assert values(catalog, "a1", tags={}) == [(0, 0.1)]
    assert values(catalog, "a1", tags={"fold": 1, "split": "val"}) == [(0, 0.2)]
    assert values(catalog, "a1", tags={"fold": "1", "split": "val"}) == [(0, 0.2)]
    assert catalog.series(["a1"], "loss", tags={"split": "val"}) == {}
    assert catalog.run("a1").metrics.keys() == {"loss", "loss{fold=1,split=val}"}
    assert catalog.metric_tags("a1", "loss") == [{}, {"fold": 1, "split": "val"}]


def test_a_single_set_of_tags_needs_no_choice(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, 0.2]], {"split": "val"})
    assert values(catalog, "a1") == [(0, 0.2)]
    assert catalog.series(["a1"], "loss")["a1"].tags == {"split": "val"}


def test_several_sets_of_tags_must_be_chosen_from(field: Any, catalog: Catalog) -> None:
    author = field.author("a1")
    for split in ("train", "val"):
        author.rows(("loss",), [[0, 0.2]], {"split": split})
    catalog.refresh()
    with pytest.raises(UsageError, match=r"split=train; split=val"):
        catalog.series(["a1"], "loss")


def test_whole_numbers_stay_so_until_a_fraction_comes(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("n",), [[i, i] for i in range(10)])
    catalog.refresh()
    assert catalog.series(["a1"], "n")["a1"].values.typecode == "q"
    author.rows(("n",), [[10, 0.5]])
    catalog.refresh()
    found = catalog.series(["a1"], "n")["a1"].values
    assert (found.typecode, found.tolist()) == ("d", [*map(float, range(10)), 0.5])


def test_truth_is_one_and_zero(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("ok",), [[0, True], [1, False]])
    field.author("b1").rows(("ok",), [[0, True], [1, 0.5]])
    assert values(catalog, "a1", "ok") == [(0, 1), (1, 0)]
    assert catalog.run("a1").metrics["ok"][:6] == (0.0, 1, 0.0, 1, 1.0, 0)
    assert catalog.run("b1").metrics["ok"].max == 1.0


def test_blocks_of_whole_numbers_and_of_fractions_are_joined(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("n",), [[i, i] for i in range(5000)])
    catalog.refresh()
    author.rows(("n",), [[5000 + i, 0.5] for i in range(5000)])
    found = values(catalog, "a1", "n")
    assert found[:2] == [(0, 0.0), (1, 1.0)]
    assert found[-1] == (9999, 0.5)
    assert {batch.values.typecode for batch in catalog.points(["a1"])} == {"q", "d"}


def test_nan_and_infinities_are_values(field: Any, catalog: Catalog) -> None:
    field.author("a1").rows(("loss",), [[0, None], [1, "inf"], [2, "-inf"], [3, None]])
    found = [value for _, value in values(catalog, "a1")]
    assert math.isnan(found[0])
    assert found[1:3] == [math.inf, -math.inf]
    stat = catalog.run("a1").metrics["loss"]
    assert (stat.last, stat.min, stat.max, stat.count) == (None, -math.inf, math.inf, 4)


def test_times_are_those_of_the_writing(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("loss",), [[0, 0.5], [1, 0.5]])
    catalog.refresh()
    times = catalog.series(["a1"], "loss")["a1"].times
    started = catalog.writers("a1")[0].started
    assert times[0] == pytest.approx(started)
    assert times[1] - times[0] == pytest.approx(0.001, abs=1e-6)
    assert started == pytest.approx(author.journal.started, abs=1e-5)


def test_points_come_as_columns_and_can_be_limited_to_a_metric(field: Any, catalog: Catalog) -> None:
    for run_id in ("a1", "b1"):
        field.author(run_id).rows(("loss", "acc"), [[i, 0.5, i] for i in range(9000)])
    catalog.refresh()
    batches = list(catalog.points(["b1", "a1"], "acc"))
    assert [batch.run for batch in batches] == sorted((batch.run for batch in batches), reverse=True)
    assert {batch.metric for batch in batches} == {"acc"}
    assert sum(len(batch.values) for batch in batches) == 18_000
    assert len(batches) <= 6
    assert list(catalog.points(["a1"], "nothing")) == []


def test_a_metric_logged_with_and_without_others_is_one_series(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("loss",), [[i, 0.5] for i in range(0, 100, 2)])
    author.rows(("loss", "acc"), [[i, 0.25, 1] for i in range(1, 100, 2)])
    assert values(catalog, "a1") == [(i, 0.25 if i % 2 else 0.5) for i in range(100)]


def test_a_clock_set_back_does_not_change_what_was_written_last(field: Any, catalog: Catalog) -> None:
    author = field.author("a1").rows(("loss",), [[0, 0.1], [1, 0.2], [1, 0.3]])
    catalog.refresh()
    author.rows(("loss",), [[1, 0.4]])
    assert values(catalog, "a1") == [(0, 0.1), (1, 0.4)]
    assert catalog.run("a1").metrics["loss"].last == 0.4


SETS = [("loss",), ("loss", "acc"), ("acc", "loss")]


@pytest.mark.parametrize("seed", range(4))
def test_of_two_at_one_moment_the_later_line_counts(field: Any, catalog: Catalog, seed: int) -> None:
    """In whatever company a metric is logged, and however much of the journal each look finds."""
    chance = random.Random(seed)
    author = field.author("a1")
    written: dict[int, float] = {}
    for value in range(300):
        names, step = chance.choice(SETS), chance.randrange(8)
        author.rows(names, [[step, *(value if name == "loss" else -1 for name in names)]])  # all in millisecond 0
        written[step] = value
        if chance.random() < 0.05:
            catalog.refresh()
    assert values(catalog, "a1") == sorted(written.items())
    assert catalog.run("a1").metrics["loss"].last == written[max(written)]
    catalog._store.rebuild()
    assert values(catalog, "a1") == sorted(written.items())
    assert catalog.run("a1").metrics["loss"].last == written[max(written)]


@pytest.mark.parametrize("first", ["w1", "w2"])
def test_of_two_journals_at_one_moment_it_is_always_the_same_one(field: Any, catalog: Catalog, first: str) -> None:
    for writer in sorted(["w1", "w2"], key=lambda name: name != first):
        author = field.author("a1", writer)
        author.journal.append({"k": "open", "t": 5.0, "attempt": 1, "role": "main", "host": "h", "pid": 1})
        author.rows(("loss",), [[0, 0.1], [1, int(writer[1])]])
        catalog.refresh()
    assert values(catalog, "a1") == [(0, 0.1), (1, 2)]
    assert catalog.run("a1").metrics["loss"].last == 2

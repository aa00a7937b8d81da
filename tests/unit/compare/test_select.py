"""The query language: what each form means, and that bad input is told where and why."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.compare.select import fits, parse, select, sort_runs
from paddock.errors import QueryError
from paddock.model import MetricStat, RunRow

NOW = datetime(2026, 11, 15, 12).timestamp()
HOUR, DAY = 3600.0, 86400.0


def run(**fields) -> RunRow:
    base = {"id": "r1", "name": "resnet-a", "project": "mnist", "state": "finished", "created": NOW - DAY}
    return RunRow(**(base | fields))


def holds(query: str, row: RunRow | None = None, **fields) -> bool:
    return fits(row or run(**fields), parse(query, NOW), NOW)


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("state=running", {"state": "running"}),
        ("state == running", {"state": "running"}),
        ("lr<0.01", {"config": {"lr": 1e-3}}),
        ("lr=1e-3,1e-4", {"config": {"lr": 1e-4}}),
        ("lr in (1, 2, 3)", {"config": {"lr": 2}}),
        ("lr not in (1, 2, 3)", {"config": {"lr": 4}}),
        ("lr=0.10", {"config": {"lr": 0.1}}),
        ("config.model.name=resnet", {"config": {"model": {"name": "resnet"}}}),
        ("model.name=resnet", {"config": {"model.name": "resnet"}}),
        ("config.'my key'=3", {"config": {"my key": 3}}),
        ("name~'^res'", {}),
        ("name~^res(net|t)-a$", {}),
        ("(name~^(res|x)net)", {}),
        ("name!~^vit", {}),
        ("project=mnist group=a tag:base star", {"group": "a", "tags": ("base",), "star": True}),
        ("tags=base", {"tags": ("x", "base")}),
        ("not bug", {}),
        ("has:lr", {"config": {"lr": None}}),
        ("not has:lr", {}),
        ("lr=null", {"config": {"lr": None}}),
        ("amp=true", {"config": {"amp": True}}),
        ("amp=True", {"config": {"amp": True}}),
        ("amp!=true", {"config": {"amp": False}}),
        ("size='10'", {"config": {"size": "10"}}),
        ("lr!=0.1", {"config": {"lr": 0.2}}),
        ("created>2d", {}),
        ("created<2d", {"created": NOW - 3 * DAY}),
        ("created>=2026-11-14", {}),
        ("created=2026-11-14", {}),
        ("created=yesterday", {}),
        ("duration>1h", {"ended": NOW - DAY + 2 * HOUR}),
        ("duration<=7200", {"ended": NOW - DAY + 2 * HOUR}),
        ("duration>7200000ms", {"ended": NOW - DAY + 2 * HOUR + 1}),
        ("duration=2:00:00", {"ended": NOW - DAY + 2 * HOUR}),
        ("duration>23h", {"state": "running"}),
        ("a=1 or b=2", {"config": {"b": 2}}),
        ("not (a=1 or b=2)", {"config": {"b": 3}}),
        ("a=1 AND b=2", {"config": {"a": 1, "b": 2}}),
        ("", {}),
    ],
)
def test_a_query_chooses_the_run_it_describes(query, fields):
    assert holds(query, **fields)


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("lr<0.01", {}),
        ("lr>=0", {"config": {"lr": math.nan}}),
        ("lr=0.1", {"config": {"lr": True}}),
        ("amp=1", {"config": {"amp": True}}),
        ("created>2d", {"created": NOW - 3 * DAY}),
        ("created>2026-11-14", {}),
        ("a=1 b=2", {"config": {"a": 1}}),
        ("star", {}),
        ("ended>1d", {}),
    ],
)
def test_a_query_leaves_out_what_it_does_not_describe(query, fields):
    assert not holds(query, **fields)


def test_metrics_are_compared_by_last_extreme_best_and_step():
    row = run(
        metrics={"loss": MetricStat(0.5, 90, 0.1, 40, 2.0, 0, 100), "val/acc": MetricStat(None, 9, 0.2, 1, 0.9, 5, 10)},
        goals={"val/acc": "max"},
    )
    for query in (
        "loss=0.5",
        "last.loss=0.5",
        "min.loss<=0.1",
        "max.loss=2",
        "best.loss=0.1",
        "best.val/acc=0.9",
        "step.loss=90",
        "count.loss=100",
        "last.val/acc=nan",
        "has:min.loss",
        "not has:min.nothing",
    ):
        assert holds(query, row), query


def test_a_bare_key_means_the_config_before_a_metric_and_the_summary_last():
    stat = MetricStat(0.5, 1, 0.5, 1, 0.5, 1, 1)
    assert holds("lr=0.1", run(config={"lr": 0.1}, metrics={"lr": stat}))
    assert holds("lr=0.5", run(metrics={"lr": stat}, summary={"lr": 9}))
    assert holds("lr=9", run(summary={"lr": 9}))


def test_not_equal_is_exactly_the_opposite_of_equal_also_for_a_missing_key():
    assert holds("lr!=0.1", run())
    assert not holds("lr!=0.1 has:lr", run())


@pytest.mark.parametrize(
    ("query", "at", "expected"),
    [
        ("lr", 3, "a comparison"),
        ("lr<", 4, "a value"),
        ("(a=1", 5, "')'"),
        ("a=1)", 4, "the end"),
        ("a=1 and", 8, "a key"),
        ("name~'[a'", 6, "regular expression"),
        ("created=soon", 9, "a date"),
        ("created=2026-02-31", 9, "a date"),
        ("created=2d", 9, "< or >"),
        ("duration>long", 10, "a duration"),
        ("x!3", 2, "!= or !~"),
        ("a='b", 5, "closing '"),
        ("lr<1,2", 5, "one value"),
        ("tag:", 5, "a tag"),
        ("lr in 3", 7, "'('"),
    ],
)
def test_an_error_marks_the_place_and_says_what_was_expected(query, at, expected):
    with pytest.raises(QueryError) as caught:
        parse(query)
    message = caught.value.message
    assert f"character {at}:" in message
    assert expected in message
    assert message.splitlines()[-1].index("^") == 4 + at - 1


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)*$",
        "(.*)*x",
        "(a{1,20}){2,}b",
        ".*.*.*.*x",
        r"(a)\1",
        "a" * 501,
        "a?" * 16 + "b",
        "(a|aa)" * 12,
    ],
)
def test_a_pattern_that_could_run_for_ever_is_refused(pattern):
    with pytest.raises(QueryError, match="regular expression"):
        parse(f"name~'{pattern}'")


@pytest.mark.parametrize("pattern", ["^res.*-lr.*", "a{2}b+", "(foo|bar)-[0-9]+$", "(?i)RESNET", "(ab){2,3}"])
def test_an_ordinary_pattern_is_accepted(pattern):
    parse(f"name~'{pattern}'")


def test_deep_nesting_is_an_error_and_not_a_crash():
    for query in ("(" * 5000 + "a=1" + ")" * 5000, "not " * 2000 + "a=1"):
        with pytest.raises(QueryError):
            parse(query)


PIECES = st.sampled_from([
    "and", "or", "not", "in", "has:", "tag:", "star", "(", ")", ",", "=", "==", "!=", "<", "<=", ">", ">=", "~",
    "!~", "'", '"', "\\", "a", "lr", "1e-3", "2d", "created", "duration", "nan", "1_0", "(a+)+", ".*", "[",
    "config.", "null", "2026-11-01", "-", "\n", "\x00", "é",
])  # fmt: skip


@given(
    st.one_of(
        st.text(max_size=80), st.lists(PIECES, max_size=30).map(" ".join), st.lists(PIECES, max_size=30).map("".join)
    )
)
def test_reading_any_text_raises_nothing_but_a_query_error(text):
    try:
        tree = parse(text, NOW)
    except QueryError:
        return
    row = run(config={"a": 1, "lr": "x", "b": [1], "c": None, "d": {"e": True}}, tags=("a",), ended=NOW)
    assert fits(row, tree, NOW) in (True, False)


@given(st.text(alphabet="ab[](){}*+?.|\\^$,019:=!<>Pi-", max_size=25))
def test_any_pattern_is_refused_or_ends_soon(pattern):
    try:
        tree = parse("name~'" + pattern.replace("\\", "\\\\") + "'", NOW)
    except QueryError:
        return
    assert fits(run(name="ab" * 20 + "a" * 60 + "!"), tree, NOW) in (True, False)


def test_runs_without_the_sorted_key_or_with_nan_come_last_both_ways():
    rows = [
        run(id=name, config=config)
        for name, config in [("a", {"x": 2}), ("b", {}), ("c", {"x": 1}), ("d", {"x": math.nan})]
    ]
    assert [r.id for r in sort_runs(rows, "x")][:2] == ["c", "a"]
    assert [r.id for r in sort_runs(rows, "-x")][:2] == ["a", "c"]
    assert {r.id for r in sort_runs(rows, "-x")[2:]} == {"b", "d"}


def test_texts_come_behind_numbers_and_numbers_too_long_for_a_float_are_the_greatest():
    values = {"a": "fast", "b": 2, "c": 10**400, "d": True, "e": -(10**400), "f": "slow"}
    rows = [run(id=name, config={"x": value}) for name, value in values.items()]
    assert [r.id for r in sort_runs(rows, "x")] == ["e", "d", "b", "c", "a", "f"]
    assert [r.id for r in sort_runs(rows, "-x")] == ["f", "a", "c", "b", "d", "e"]


def test_sorting_by_several_keys_breaks_ties_in_turn():
    rows = [run(id=i, project=p, config={"x": x}) for i, p, x in [("a", "q", 1), ("b", "p", 1), ("c", "p", 2)]]
    assert [r.id for r in sort_runs(rows, "project", "-x")] == ["c", "b", "a"]


def test_select_keeps_the_order_of_the_runs():
    rows = [run(id="a"), run(id="b", state="failed"), run(id="c")]
    assert [r.id for r in select(rows, "state=finished")] == ["a", "c"]

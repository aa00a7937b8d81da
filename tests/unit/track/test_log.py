"""log(): what goes in is on disk when the call returns, at its step, as it was."""

from __future__ import annotations

import decimal
import fractions
import math
import threading

import numpy as np
import pytest

import paddock
from paddock.errors import UsageError


def test_values_are_on_disk_when_the_call_returns(read) -> None:
    run = paddock.init()
    run.log({"loss": 0.5, "epoch": 1})
    run.log({"loss": 0.25, "epoch": 2})
    found = read(run.path)
    assert found.points == {"loss": [(0, 0.5), (1, 0.25)], "epoch": [(0, 1), (1, 2)]}


def test_steps_count_up_by_themselves_and_an_explicit_one_stays_current(read) -> None:
    run = paddock.init()
    run.log({"a": 1})
    run.log({"a": 2})
    run.log({"a": 3}, step=10)
    run.log({"b": 1})
    run.log({"b": 2})
    run.log({"c": 1}, commit=False)
    run.log({"c": 2})
    found = read(run.path)
    assert [step for step, _ in found.points["a"]] == [0, 1, 10]
    assert [step for step, _ in found.points["b"]] == [10, 11]
    assert [step for step, _ in found.points["c"]] == [12, 12]


def test_no_point_is_dropped_for_its_step(read) -> None:
    run = paddock.init()
    for step in (5, 3, 5, -1, 2**62, 0):
        run.log({"a": step}, step=step)
    assert [step for step, _ in read(run.path).points["a"]] == [5, 3, 5, -1, 2**62, 0]


@pytest.mark.parametrize("fast", [False, True])
def test_nan_and_infinities_are_values(read, fast: bool) -> None:
    run = paddock.init()
    if fast:
        run.log({"a": 1.0, "b": 1.0})
    run.log({"a": math.nan, "b": 2.0}, step=1)
    run.log({"a": math.inf, "b": -math.inf}, step=2)
    found = read(run.path)
    assert found.points["a"][-2:] == [(1, None), (2, "inf")]
    assert found.points["b"][-2:] == [(1, 2.0), (2, "-inf")]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array(2.5), 2.5),
        (np.array([2.5]), 2.5),
        (decimal.Decimal("0.5"), 0.5),
        (fractions.Fraction(1, 4), 0.25),
        (True, True),
        (2**63 - 1, 2**63 - 1),
        (2**80, 2**80),
        (1e308, 1e308),
        (5e-324, 5e-324),
    ],
)
@pytest.mark.parametrize("fast", [False, True])
def test_scalars_of_every_make_are_numbers(read, value: object, kept: object, fast: bool) -> None:
    run = paddock.init()
    if fast:  # the names are known already, so the fast path meets the odd value
        run.log({"x": 1.0})
    run.log({"x": value}, step=9)
    assert read(run.path).points["x"][-1] == (9, kept)


def test_nested_dicts_flatten_with_slashes(read) -> None:
    run = paddock.init()
    run.log({"train": {"loss": 1.0, "acc": {"top1": 0.5}}, "lr": 0.1})
    assert set(read(run.path).points) == {"train/loss", "train/acc/top1", "lr"}


def test_texts_lists_and_none_beside_numbers(read) -> None:
    run = paddock.init()
    run.log({"loss": 1.0, "sample": "once upon a time", "shape": [2, 3], "missing": None})
    found = read(run.path)
    assert found.points == {"loss": [(0, 1.0)]}
    assert found.records["text"][0]["text"] == "once upon a time"
    assert found.records["value"][0]["value"] == [2, 3]


def test_a_name_does_not_drive_the_terminal_that_it_is_said_on(capsys, monkeypatch) -> None:
    monkeypatch.delenv("PADDOCK_QUIET", raising=False)
    paddock.init(name="\x1b[2J\x9b31m\u202eabc \u6f22").finish()
    said = capsys.readouterr().err
    assert "\\x1b[2J\\x9b31m\\u202eabc \u6f22" in said and not set(said) & {"\x1b", "\x9b", "\u202e"}


def test_an_unserialisable_value_costs_a_notice_and_a_counter_not_an_exception(read, capsys) -> None:
    run = paddock.init()
    for _ in range(3):
        run.log({"loss": 1.0, "model": object()})
    run.log("not a dict")  # type: ignore[arg-type]
    run.log({"big": np.zeros(5000)})
    run.finish()
    found = read(run.path)
    assert found.values("loss") == [1.0, 1.0, 1.0]
    assert found.records["dropped"][-1]["counts"] == {"unserialisable": 4, "not a dict": 1}
    assert capsys.readouterr().err.count("'model' was not recorded") == 1


class Hostile:
    def __float__(self) -> float:
        raise RuntimeError("no")

    def __radd__(self, other: object) -> object:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_hostile_object_cannot_raise_into_the_loop(read) -> None:
    run = paddock.init()
    run.log({"a": 1.0, "x": 1.0})
    run.log({"a": 2.0, "x": Hostile()})
    assert read(run.path).values("a") == [1.0, 2.0]


def test_a_step_that_is_no_whole_number_keeps_the_value_and_says_so(read, capsys) -> None:
    run = paddock.init()
    run.log({"a": 1.0}, step=0.5)  # type: ignore[arg-type]
    run.log({"a": 2.0}, step=np.int32(4))  # type: ignore[arg-type]
    found = read(run.path)
    assert found.points["a"] == [(0, 1.0), (4, 2.0)]
    assert found.records["text"][0]["text"] == "0.5"
    assert "no whole number" in capsys.readouterr().err


def test_tags_make_series_of_their_own(read) -> None:
    run = paddock.init()
    run.log_metric("acc", 0.5, tags={"split": "val"}, step=1)
    run.log_metric("acc", 0.6, tags={"split": "test"}, step=1)
    run.log_metric("acc", {"top1": 0.7, "top5": 0.9}, tags={"split": "test"}, step=2)
    run.log_metric("acc", 0.8, step=3)
    assert read(run.path).points == {
        "acc{split=val}": [(1, 0.5)],
        "acc{split=test}": [(1, 0.6)],
        "acc/top1{split=test}": [(2, 0.7)],
        "acc/top5{split=test}": [(2, 0.9)],
        "acc": [(3, 0.8)],
    }


def test_threads_share_a_journal_without_mixing_lines(read) -> None:
    run = paddock.init()

    def work(number: int) -> None:
        for step in range(500):
            run.log({f"thread/{number}": step, "shared": number}, step=step)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read(run.path)
    assert found.damaged == 0
    assert all(found.values(f"thread/{n}") == list(range(500)) for n in range(8))
    assert len(found.points["shared"]) == 4000


def test_columns_are_declared_again_so_that_one_damaged_line_costs_one_line(read) -> None:
    run = paddock.init()
    for step in range(5000):
        run.log({"a": step}, step=step)
    positions = [i for i, line in enumerate(_lines(run)) if line.startswith(b'{"k":"columns"')]
    rows_before = [p - n for n, p in enumerate(positions)]
    assert [r - rows_before[0] for r in rows_before] == [0, 1, 64, 4096]
    run.finish()
    assert sum(line.startswith(b'{"k":"columns"') for line in _lines(run)) == 5


def _lines(run: paddock.Run) -> list[bytes]:
    (journal,) = run.path.glob("journal/*.jsonl")
    return journal.read_bytes().splitlines()


def test_module_level_log_is_the_runs_own() -> None:
    run = paddock.init()
    assert paddock.log == run.log
    assert paddock.run is run
    paddock.finish()
    assert paddock.run is None
    with pytest.raises(UsageError, match=r"Call paddock\.init\(\) first"):
        paddock.log({"a": 1})


def test_log_after_finish_says_so_and_does_not_raise(capsys) -> None:
    run = paddock.init()
    run.log({"a": 1})
    run.finish()
    run.log({"a": 2})
    run.mark("late")
    assert "after finish()" in capsys.readouterr().err
    assert run.summary["a"] == 1


def test_a_dict_that_contains_itself_is_no_trap(read) -> None:
    run = paddock.init()
    loop: dict[str, object] = {"fine": 1.0}
    loop.update(a=loop, b=loop, c=loop)
    run.log({"x": loop})
    assert read(run.path).values("x/fine") == [1.0]


def test_a_step_beyond_64_bits_loses_nothing(read) -> None:
    run = paddock.init()
    run.log({"a": 1.0}, step=1)
    run.log({"a": 2.0}, step=2**63)
    run.log({"a": 3.0})
    found = read(run.path)
    assert found.values("a") == [1.0, 2.0, 3.0]
    assert all(abs(step) < 2**63 for step, _ in found.points["a"])


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def test_no_recording_call_raises_into_the_loop(read, tmp_path) -> None:
    run = paddock.init()
    run.mark("m", 5)  # type: ignore[arg-type]
    run.mark(Mute())  # type: ignore[arg-type]
    run.alert(Mute())  # type: ignore[arg-type]
    run.log_text("t", Mute())  # type: ignore[arg-type]
    run.log_table("ragged", columns=["a"], data=[[1, 2]])
    run.log_table("none", 5)
    run.save(None)  # type: ignore[arg-type]
    run.log_artifact("/missing")
    run.tags = None
    run.config.update({"odd": Mute()})
    run.log({Mute(): 1.0, "fine": 1.0})  # type: ignore[dict-item]
    assert read(run.path).values("fine") == [1.0]


def test_two_keys_of_one_name_are_two_points(read) -> None:
    run = paddock.init()
    run.log({"a/b": 1, "a": {"b": 2, "c": "first"}, "a/c": "second", 7: object(), "7": object(), "fine": 0})
    run.log({**{k: n for n, k in enumerate([1, 1.0, True])}, "1": 5, "True": 6}, step=9)
    run.log_metric("m", {"x/y": 1, "x": {"y": 2}}, tags={"split": "val"})
    run.finish()
    found = read(run.path)
    assert found.points["a/b"] == [(0, 1), (0, 2)]
    assert [text["text"] for text in found.records["text"]] == ["first", "second"]
    assert found.records["dropped"][-1]["counts"] == {"unserialisable": 2}
    assert found.points["1"] == [(9, 2), (9, 5)] and found.points["fine"] == [(0, 0)]
    assert found.values("m/x/y{split=val}") == [1, 2]
    assert run.summary["a/b"] == 2


def test_the_summary_has_what_was_logged_last_in_whatever_company() -> None:
    run = paddock.init()
    run.log({"a": 1, "b": 1})
    run.log({"a": 2})
    run.log({"a": 3, "b": 3})
    assert dict(run.summary) == {"a": 3, "b": 3}

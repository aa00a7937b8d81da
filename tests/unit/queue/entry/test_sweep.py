"""A sweep is one command with placeholders, and each combination a task."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import UsageError
from paddock.queue.entry import sweep


def test_every_combination_is_a_task_with_its_values_in_the_config() -> None:
    words = ["python", "train.py", "--lr", "{lr}", "--seed", "{seed}"]
    points = sweep.expand(words, ["lr=1e-3,1e-4", "seed=0..2"])
    assert [point.command for point in points][:2] == [
        "python train.py --lr 1e-3 --seed 0",
        "python train.py --lr 1e-3 --seed 1",
    ]
    assert len(points) == 6
    assert points[4] == sweep.Point("python train.py --lr 1e-4 --seed 1", {"lr": 0.0001, "seed": 1}, "lr=1e-4 seed=1")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0..4", ["0", "1", "2", "3", "4"]),
        ("0..10..5", ["0", "5", "10"]),
        ("3..1", ["3", "2", "1"]),
        ("0.1..0.3..0.1", ["0.1", "0.2", "0.3"]),
        ("-1..1", ["-1", "0", "1"]),
        ("1,4..6,9", ["1", "4", "5", "6", "9"]),
        ("a,b c", ["a", "b c"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ("..", [".."]),
        ("../data,./x", ["../data", "./x"]),
        ("'a,b',c", ["a,b", "c"]),
        ('"say, it\'s" , "1..3",""', ["say, it's", "1..3", ""]),
        ("it's,that's", ["it's", "that's"]),
        ('"a,b', ['"a', "b"]),
        ('"x":1,y', ['"x":1', "y"]),
    ],
)
def test_values_are_listed_or_given_as_ranges(text: str, values: list[str]) -> None:
    assert [point.command for point in sweep.expand(["echo", "{x}"], [f"x={text}"])] == [
        shlex.join(["echo", value]) for value in values
    ]


def test_braces_that_name_nothing_in_the_grid_are_the_commands_own() -> None:
    (point,) = sweep.expand(["awk '{print $1}' {file} {}"], ["file=a"])
    assert point.command == "awk '{print $1}' a {}"


@given(st.text(st.characters(blacklist_characters=",[](){}\0", blacklist_categories=["Cs"]), min_size=1))
def test_no_value_can_break_out_of_its_argument(value: str) -> None:
    if value != value.strip() or ".." in value or value[0] in "'\"":
        return
    (point,) = sweep.expand(["""echo {x} 'a {x} b' # it's {x}\n"""], [f"x={value}"])
    command = point.command[: point.command.index(" # it's")]
    assert shlex.split(command) == ["echo", value, f"a {value} b"]


@pytest.mark.parametrize("value", ["a b", "it's", 'say "hi"', "$HOME `id` \\n", "a;b"])
@pytest.mark.parametrize(
    "command",
    [
        "printf %s {x}",
        'printf %s "{x}"',
        "printf %s '{x}'",
        "# it's\nprintf %s {x}",
        "cat <<. >&2\nit's\n.\nprintf %s {x}",
    ],
)
def test_a_real_shell_sees_the_value_whatever_quotes_it_is_put_in(command: str, value: str) -> None:
    (point,) = sweep.expand([command], [f"x={value}"])
    done = subprocess.run(["/bin/sh", "-c", point.command], capture_output=True, text=True, check=True)
    assert done.stdout == value


def test_what_is_in_quotes_is_a_text_in_the_config() -> None:
    points = sweep.expand(["echo {x}"], ["x='1','a,b',2"])
    assert [point.config["x"] for point in points] == ["1", "a,b", 2]


def test_a_value_in_a_config_is_a_number_where_it_reads_like_one() -> None:
    assert [
        sweep.typed(text) for text in ("1", "007", "1e-3", ".5", "true", "null", "adam", "[1, 2]", '"1"', "1.2.3")
    ] == [*(1, 7, 0.001, 0.5, True, None, "adam", [1, 2], '"1"', "1.2.3")]


@pytest.mark.parametrize(
    "grid",
    ["lr", "lr=", "=1", "a b=1", "x=1,1", "x=0..9..0", "x=5..1..1", "x=1e-5..1e-3", "x=a,,b", "x=1,", "x=0..1000000"],
)
def test_a_grid_that_means_nothing_is_refused_with_a_sentence(grid: str) -> None:
    with pytest.raises(UsageError) as found:
        sweep.expand(["echo"], [grid])
    assert found.value.hint


def test_a_sweep_that_is_far_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="tasks"):
        sweep.expand(["echo"], ["a=0..999", "b=0..999"])


def test_names_that_the_command_does_not_use_are_told() -> None:
    assert sweep.unused(["echo", "{a}"], ["a=1", "b=2"]) == ["b"]


def test_what_is_almost_a_name_of_the_grid_is_told_and_what_is_the_commands_own_is_not() -> None:
    grids = ["seed=0..4", "lr=1,2", "weight_decay=0,1"]
    slips = [("sed", "seed"), ("LR", "lr"), ("weight-decay", "weight_decay")]
    assert sweep.slips(["python {sed} {seed} {LR} {sed}", "--x={weight-decay}"], grids) == slips
    own = [
        "{seed}",
        "${seeds}",
        "{seeds,lrs}",
        "{seed..9}",
        '{"sed": 1}',
        "awk '{print}'",
        "{{seeds}}",
        "{ seeds; }",
        "{}",
    ]
    assert sweep.slips(own, grids) == []
    assert sweep.slips(["{sed}"], []) == []

"""Tasks that wait for each other."""

from __future__ import annotations

import pytest

from paddock.queue.circle import circle, stuck, told


@pytest.mark.parametrize(
    ("waits", "between"),
    [
        ({"a": "b", "b": "a"}, ["b"]),
        ({"a": "bc", "b": "c", "c": "da", "d": ""}, ["c"]),
        ({"a": "b", "b": "c", "c": "b"}, []),  # waits for a circle, and is in none
        ({"a": "b", "b": ""}, []),
    ],
)
def test_a_circle_is_found_from_those_that_are_in_it(waits: dict[str, str], between: list[str]) -> None:
    assert circle("a", waits.__getitem__) == between


def test_a_long_chain_is_not_followed_to_its_end() -> None:
    asked: list[int] = []

    def waits(task: str) -> list[str]:
        asked.append(int(task))
        return [str(int(task) + 1)]

    assert circle("0", waits) == []
    assert len(asked) <= 100


def test_stuck_is_what_is_in_a_circle_or_waits_for_one() -> None:
    assert stuck({"a": ["b"], "b": ["a", "x"], "c": ["b"], "d": ["x"], "e": ["d"], "f": ["e", "c"]}) == {*"abcf"}
    assert stuck({}) == set()


def test_in_words() -> None:
    assert told(["b"]) == "waits for ever: for b, which waits for it"
    assert told(["b", "c"]) == "waits for ever: for b, which waits for c, which waits for it"

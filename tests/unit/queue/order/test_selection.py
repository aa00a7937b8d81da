"""Which tasks a person means."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.errors import Ambiguous, NotFound, UsageError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.order.selection import Selection, choose
from paddock.queue.show.view import Entry, snapshot
from paddock.queue.task import Task

IDS = ("20261115-234727-123456-k3f9", "20261115-234727-123457-ab12", "20261116-000000-000000-cd34")


@pytest.fixture
def entries(tmp_path: Path) -> list[Entry]:
    queue = DirectoryQueue(tmp_path / "q")
    queue.prepare()
    names = ("train lr=0.1", "train lr=0.2", "ab12")
    queue.put([Task(id=i, name=name, command=f"run {name}") for i, name in zip(IDS, names, strict=True)])
    return snapshot(queue).entries


def chosen(entries: list[Entry], *words: str, **more: object) -> list[str]:
    return [entry.id for entry in choose(entries, Selection(words, **more))]  # type: ignore[arg-type]


def test_by_id_by_its_beginning_by_its_end_and_by_name(entries: list[Entry]) -> None:
    assert chosen(entries, IDS[0]) == [IDS[0]]
    assert chosen(entries, "20261116") == [IDS[2]]
    assert chosen(entries, "k3f9") == [IDS[0]]
    assert chosen(entries, "train lr=0.2") == [IDS[1]]
    assert chosen(entries, "k3f9", IDS[0], "20261116") == [IDS[0], IDS[2]]


def test_a_name_comes_before_the_end_of_another_tasks_id(entries: list[Entry]) -> None:
    assert chosen(entries, "ab12") == [IDS[2]]


def test_what_fits_several_is_listed_and_what_fits_none_is_said(entries: list[Entry]) -> None:
    with pytest.raises(Ambiguous) as caught:
        chosen(entries, "20261115-234727")
    assert [line.split()[0] for line in caught.value.candidates] == list(IDS[:2])
    for word in ("f9", "lr", "", "20270101-000000"):
        with pytest.raises(NotFound):
            chosen(entries, word)


def test_a_pattern_a_state_and_everything_narrow_each_other(entries: list[Entry]) -> None:
    assert chosen(entries, regex="lr=0") == list(IDS[:2])
    assert chosen(entries, regex="^run ab") == [IDS[2]]
    assert chosen(entries, states=["done"], regex="lr") == []
    assert chosen(entries, everything=True) == sorted(IDS)
    with pytest.raises(UsageError, match="Which tasks"):
        chosen(entries)
    with pytest.raises(UsageError, match="cannot be read"):
        chosen(entries, regex="(")
    assert Selection(["a"]).exact and not Selection(["a"], regex="b").exact and not Selection(everything=True).exact

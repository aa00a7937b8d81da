"""Truncation and flipped bits: what is damaged is counted and skipped, everything else is read, nothing is made up."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import paddock
from paddock.record.scan import parse


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", "false")
    chance = random.Random(7)
    with paddock.init(config={"lr": 0.1}) as run:
        for step in range(400):
            run.log({"loss": chance.random(), "acc": chance.random()}, step=step)
            if step % 50 == 0:
                run.mark(f"mark {step}")
                run.log_metric("val", chance.random(), tags={"split": "a"}, step=step)
    (path,) = run.path.glob("journal/*.jsonl")
    return path.read_bytes()


def _rows(data: bytes) -> set[str]:
    return {repr((rows.id, row)) for rows in parse(data).tables for row in zip(*rows.columns, strict=True)}


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_costs_its_line_only(journal: bytes, seed: int) -> None:
    chance = random.Random(seed)
    damaged = bytearray(journal)
    touched = set()
    for _ in range(chance.choice([1, 1, 3, 10])):
        where = chance.randrange(len(journal))
        damaged[where] ^= 1 << chance.randrange(8)
        touched.add(journal.count(b"\n", 0, where))
        if journal[where : where + 1] == b"\n":  # two lines became one
            touched.add(journal.count(b"\n", 0, where) + 1)
    before, after = _rows(journal), _rows(bytes(damaged))
    assert after <= before, "a damaged line was taken for a whole one"
    assert len(before - after) <= len(touched)
    found = parse(bytes(damaged))
    whole = parse(journal)
    lost = len(before) + len(whole.records) - len(after) - len(found.records)
    assert lost <= len(touched)
    if lost:
        assert found.damaged > 0


@pytest.mark.parametrize("seed", range(40))
def test_a_cut_costs_the_torn_line_only(journal: bytes, seed: int) -> None:
    cut = random.Random(seed).randrange(1, len(journal))
    found = parse(journal[:cut])
    assert found.damaged == 0
    assert found.lines == journal.count(b"\n", 0, cut)
    assert found.size + found.torn == cut


def test_a_hole_of_zeros_is_skipped(journal: bytes) -> None:
    start = len(journal) // 2
    damaged = journal[:start] + bytes(512) + journal[start + 512 :]
    lines_hit = journal.count(b"\n", start, start + 512) + 1
    before, after = _rows(journal), _rows(damaged)
    assert after <= before and len(before - after) <= lines_hit
    assert parse(damaged).damaged >= 1


def test_windows_line_ends_and_blank_lines_do_no_harm(journal: bytes) -> None:
    changed = journal.replace(b"\n", b"\r\n").replace(b"\r\n", b"\r\n\r\n", 3)
    assert _rows(changed) == _rows(journal)
    assert parse(changed).damaged == 0

"""What a trainer says of a checkpoint counts at once, and only for what it was said of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import paddock
from paddock.evaluate.completeness import marker
from paddock.evaluate.completeness.rule import Completeness
from paddock.evaluate.completeness.settling import Settling
from paddock.evaluate.origin.look import Look, look
from paddock.evaluate.training.metadata import step_for


def seen(path: Path) -> Look:
    found = look(str(path))
    assert found is not None
    return found


def is_ready(path: Path, quiet: float | None = 3600.0) -> bool:
    settling, here = Settling(), seen(path)
    settling.observe(here, 0.0)
    return settling.is_ready(here, Completeness().judge(here), 0.0, quiet=quiet)


def test_what_the_trainer_calls_done_need_not_rest_whatever_its_format(tmp_path: Path) -> None:
    path = tmp_path / "step=1.pt"
    path.write_bytes(b"no archive at all")
    assert not is_ready(path)
    assert paddock.checkpoint_done(path)
    assert is_ready(path)


def test_a_directory_is_said_to_be_done_without_being_changed(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-5"
    path.mkdir()
    (path / "weights.bin").write_bytes(b"x")
    before = seen(path)
    assert paddock.checkpoint_done(str(path), step=700)
    assert seen(path) == before
    assert is_ready(path) and step_for(seen(path)) == 700


def test_an_old_marker_says_nothing_of_what_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "last.pt"
    path.write_bytes(b"one")
    paddock.checkpoint_done(path, step=1)
    path.write_bytes(b"other")
    assert not is_ready(path)
    assert step_for(seen(path)) is None
    paddock.checkpoint_done(path, step=2)
    assert is_ready(path) and step_for(seen(path)) == 2


def test_a_damaged_marker_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "last.pt"
    path.write_bytes(b"one")
    for text in (b"", b"{", b"[]", b"\xff", b'{"of": 3}'):
        (tmp_path / f".last.pt{marker.SUFFIX}").write_bytes(text)
        assert marker.read(seen(path)) is None


def test_markers_of_checkpoints_that_are_gone_are_removed_by_the_next(tmp_path: Path) -> None:
    for step in range(3):
        path = tmp_path / f"step={step}.pt"
        path.write_bytes(b"x")
        paddock.checkpoint_done(path, step)
        if step:
            (tmp_path / f"step={step - 1}.pt").unlink()
    paddock.checkpoint_done(path)
    assert sorted(os.listdir(tmp_path)) == [f".step=2.pt{marker.SUFFIX}", "step=2.pt"]


def test_what_cannot_be_said_ends_no_training(tmp_path: Path) -> None:
    assert paddock.checkpoint_done(tmp_path / "nowhere.pt") is False
    (tmp_path / "x.pt").write_bytes(b"x")
    (tmp_path / f".x.pt{marker.SUFFIX}").mkdir()
    assert paddock.checkpoint_done(tmp_path / "x.pt") is False
    with pytest.raises(paddock.UsageError, match="no step"):
        paddock.checkpoint_done(tmp_path / "x.pt", step="five")  # type: ignore[arg-type]

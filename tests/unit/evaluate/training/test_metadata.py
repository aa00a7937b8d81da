"""What a checkpoint says of its step, when its name says nothing."""

from __future__ import annotations

import json
import pickle
import re
import struct
import zipfile
from pathlib import Path

import pytest

from paddock.evaluate.origin.look import look
from paddock.evaluate.training.metadata import step_for


def step(path: Path, rule: str = "") -> int | None:
    found = look(str(path))
    assert found is not None
    return step_for(found, re.compile(rule) if rule else None)


def torch_save(path: Path, value: object, protocol: int = 2) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        file.writestr("archive/data.pkl", pickle.dumps(value, protocol))
        file.writestr("archive/data/0", b"weights")
    return path


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('it was unpickled')",))


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("number", [0, 7, 300, 70_000, 3 * 10**9])
def test_lightning_writes_its_global_step_into_the_pickle(tmp_path: Path, protocol: int, number: int) -> None:
    saved = {"epoch": 3, "global_step": number, "state_dict": {"w": list(range(1000))}, "x": Bomb()}
    assert step(torch_save(tmp_path / "last.ckpt", saved, protocol)) == number


def test_other_counters_count_when_there_is_no_global_step(tmp_path: Path) -> None:
    assert step(torch_save(tmp_path / "best.pt", {"model": {}, "epoch": 12})) == 12
    assert step(torch_save(tmp_path / "best2x.pt", {"epoch": 12, "iteration": 9})) == 9
    assert step(torch_save(tmp_path / "bestx.pt", {"step": "text", "a": 5})) is None


def test_the_name_and_the_rule_go_before_what_is_inside(tmp_path: Path) -> None:
    path = torch_save(tmp_path / "step=5.pt", {"global_step": 9})
    assert step(path) == 5
    assert step(path, r"nothing(\d+)") is None


def test_safetensors_have_metadata(tmp_path: Path) -> None:
    header = json.dumps({"__metadata__": {"step": "1500"}}).encode()
    path = tmp_path / "best.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    assert step(path) == 1500


def test_a_trainers_state_goes_before_the_name(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-3"
    path.mkdir()
    (path / "trainer_state.json").write_text('{"global_step": 500, "epoch": 1.5}')
    assert step(path) == 500


def test_a_directory_may_have_a_state_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "best"
    path.mkdir()
    assert step(path) is None
    (path / "train_state.json").write_text('{"epoch": 2, "iteration": 40}')
    assert step(path) == 40
    (path / "train_state.json").write_text("{")
    assert step(path) is None


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"PK\x03\x04" + bytes(40), b"PK\x03\x04" + b"\xff" * 400])
def test_whatever_the_bytes_are_nothing_breaks(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "best.pt"
    path.write_bytes(data)
    assert step(path) is None

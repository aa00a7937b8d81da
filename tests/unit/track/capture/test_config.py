"""Configs of every make become plain dicts."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from omegaconf import OmegaConf
from pydantic import BaseModel

from paddock import wire
from paddock.errors import UsageError
from paddock.track.capture.config import hydra_overrides, to_config


class Kind(enum.Enum):
    ADAM = "adam"


@dataclasses.dataclass
class Optimizer:
    lr: float = 0.1
    kind: Kind = Kind.ADAM


@dataclasses.dataclass
class Config:
    seed: int = 1
    path: Path = Path("/data")
    optimizer: Optimizer = dataclasses.field(default_factory=Optimizer)


class Model(BaseModel):
    depth: int = 2
    optimizer: dict[str, Any] = {"lr": 0.1}


class Struct(msgspec.Struct):
    depth: int = 2


class Tuple(NamedTuple):
    lr: float
    depth: int


class Old:
    """As pydantic 1 looks from outside."""

    __fields__ = {"depth": object()}

    def dict(self) -> dict[str, Any]:
        return {"depth": 2}


class Flags:
    """As absl's FLAGS look from outside."""

    def flag_values_dict(self) -> dict[str, Any]:
        return {"lr": 0.1}


class Plain:
    lr = 0.1

    def __init__(self) -> None:
        self.depth = 2
        self._private = 3
        self.method = print


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"lr": 0.1, "nested": {"a": [1, 2]}}, {"lr": 0.1, "nested": {"a": [1, 2]}}),
        (None, {}),
        (argparse.Namespace(lr=0.1, path=Path("/x")), {"lr": 0.1, "path": "/x"}),
        (types.SimpleNamespace(lr=np.float32(0.5)), {"lr": 0.5}),
        (types.MappingProxyType({"lr": 1}), {"lr": 1}),
        (Config(), {"seed": 1, "path": "/data", "optimizer": {"lr": 0.1, "kind": "adam"}}),
        (OmegaConf.create({"a": 1, "b": "${a}", "c": {"d": [1]}}), {"a": 1, "b": 1, "c": {"d": [1]}}),
        (OmegaConf.structured(Optimizer()), {"lr": 0.1, "kind": "adam"}),
        (Model(), {"depth": 2, "optimizer": {"lr": 0.1}}),
        (Struct(), {"depth": 2}),
        (Old(), {"depth": 2}),
        (Flags(), {"lr": 0.1}),
        (Tuple(0.1, 2), {"lr": 0.1, "depth": 2}),
        (Plain(), {"depth": 2}),
        (Plain, {"lr": 0.1}),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
    ],
)
def test_a_config_becomes_a_plain_dict(given: Any, expected: dict[str, Any]) -> None:
    assert to_config(given) == (expected, [])


def test_attrs_objects_are_configs() -> None:
    attrs = pytest.importorskip("attrs")
    Made = attrs.make_class("Made", {"depth": attrs.field(default=2)})
    assert to_config(Made()) == ({"depth": 2}, [])


def test_real_absl_flags_are_configs() -> None:
    flags = pytest.importorskip("absl.flags")
    values = flags.FlagValues()
    flags.DEFINE_float("lr", 0.1, "", flag_values=values)
    values(["program"])
    assert to_config(values)[0]["lr"] == 0.1


@pytest.mark.parametrize(
    "given", [1, 0.5, [1, 2], (1,), {"a"}, b"x", True, object(), print, int, OmegaConf.create([1])]
)
def test_what_is_no_config_gets_a_sentence(given: Any) -> None:
    with pytest.raises(UsageError, match=r"config is an? \w+"):
        to_config(given)


def test_a_config_that_fails_when_read_gets_a_sentence() -> None:
    class Broken:
        def to_dict(self) -> dict[str, Any]:
            raise RuntimeError("not now")

    with pytest.raises(UsageError, match="not now"):
        to_config(Broken())


def test_one_odd_value_is_kept_as_its_repr_and_named() -> None:
    found, lossy = to_config({"model": {"loss": object}, "lr": 1})
    assert found == {"model": {"loss": "<class 'object'>"}, "lr": 1}
    assert lossy == ["model.loss"]


def test_a_missing_omegaconf_value_does_not_lose_the_others() -> None:
    assert to_config(OmegaConf.create({"a": "???", "b": 1}))[0] == {"a": "???", "b": 1}


def test_an_omegaconf_interpolation_that_leads_nowhere_keeps_the_config() -> None:
    assert to_config(OmegaConf.create({"a": "${nowhere}", "b": 1}))[0] == {"a": "${nowhere}", "b": 1}


def test_configs_that_contain_themselves_or_odd_text_can_be_written_down() -> None:
    loop: dict[str, Any] = {"lr": 1, "odd\udcff": "x\ud800"}
    loop["self"], loop["again"] = loop, [loop, loop]
    found, lossy = to_config(loop)
    assert found["lr"] == 1
    assert "self" in lossy
    wire.dumps(found)


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.json", '{"lr": 0.1}'), ("c.toml", "lr = 0.1\n"), ("c.yaml", "lr: 0.1\n"), ("c.YML", "lr: 0.1\n")],
)
def test_a_config_file_is_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert to_config(tmp_path / name) == ({"lr": 0.1}, [])
    assert to_config(str(tmp_path / name)) == ({"lr": 0.1}, [])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(
            ("c.json", b"{"),
            ("c.toml", b"="),
            ("c.yaml", b"a: ["),
            ("c.txt", b"a=1"),
            ("c.json", b"\xff"),
            ("c.json", b"3"),
        ),
        ("c.yaml", b"!!python/object/apply:os.getcwd []"),
    ],
)
def test_a_config_file_that_cannot_be_used_gets_a_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError):
        to_config(tmp_path / name)


def test_a_config_file_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        to_config(tmp_path / "none.json")


def test_what_hydra_wrote_is_read(tmp_path: Path) -> None:
    assert hydra_overrides(tmp_path) == {}
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text("lr: 0.1\nwhen: 2024-01-01\n")
    (tmp_path / ".hydra" / "overrides.yaml").write_text("- lr=0.1\n")
    found = hydra_overrides(tmp_path)
    assert found["output_dir"] == str(tmp_path)
    assert found["overrides"] == ["lr=0.1"]
    assert found["config"]["lr"] == 0.1
    wire.dumps(found)


def test_what_hydra_wrote_is_kept_as_text_when_it_cannot_be_parsed(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text("lr: [0.1\n")
    assert hydra_overrides(tmp_path)["config"] == "lr: [0.1\n"
    (tmp_path / ".hydra" / "config.yaml").write_text("lr: 0.1\n")
    monkeypatch.setitem(sys.modules, "yaml", None)  # as if PyYAML were not installed
    assert hydra_overrides(tmp_path)["config"] == "lr: 0.1\n"

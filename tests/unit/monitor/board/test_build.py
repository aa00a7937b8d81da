"""The board's build: nothing is done twice, the lock file names no host, and what is missing is said in a sentence."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

WEB = Path(__file__).parents[4] / "web"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with sources and a bundle of its own."""
    spec = importlib.util.spec_from_file_location("board_build", WEB / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "web/src").mkdir(parents=True)
    (tmp_path / "web/src/main.tsx").write_text("1")
    (tmp_path / "web/package-lock.json").write_text("{}")
    (tmp_path / "static").mkdir()
    for name in ("index.html", "package.json", "vite.config.ts", "precompress.ts", "tsconfig.json"):
        (tmp_path / "web" / name).write_text(name)
    monkeypatch.setattr(module, "WEB", tmp_path / "web")
    monkeypatch.setattr(module, "BUNDLE", tmp_path / "static")
    return module


def test_a_bundle_of_the_same_sources_is_left_as_it_is(build: ModuleType) -> None:
    assert not build.is_built()
    (build.BUNDLE / build.MADE_OF).write_text(build.digest())
    assert build.is_built() and build.build() is False
    (build.WEB / "src/other.test.ts").write_text("a test is not in the bundle")
    assert build.is_built()
    (build.WEB / "src/main.tsx").write_text("2")
    assert not build.is_built()


def test_without_sources_the_bundle_that_came_along_is_used(build: ModuleType) -> None:
    (build.BUNDLE / build.MADE_OF).write_text("of somewhere else")
    assert not build.is_built()
    (build.WEB / "src/main.tsx").unlink()
    (build.WEB / "src").rmdir()
    assert build.is_built()


def test_a_machine_without_node_is_told_so(build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build, "_homes_of_node", list)
    with pytest.raises(build.CannotBuild, match="needs Node"):
        build.build(install_node=False)


def test_a_node_that_is_too_old_is_none(build: ModuleType, tmp_path: Path) -> None:
    for version, good in (("v18.20.0", False), ("v20.18.9", False), ("v20.19.0", True), ("v24.1.0", True), ("", False)):
        node = tmp_path / "node"
        node.write_text(f"#!/bin/sh\necho {version}\n")
        node.chmod(0o755)
        assert build.new_enough(str(node)) is good
    assert not build.new_enough(str(tmp_path / "nothing"))


def test_the_lock_file_names_no_host_and_pins_everything() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    parts = {name: part for name, part in lock["packages"].items() if name}
    assert parts and all("resolved" not in part and part.get("integrity") for part in parts.values())
    wanted = json.loads((WEB / "package.json").read_text())
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert version == parts[f"node_modules/{name}"]["version"], name


def test_nothing_in_the_sources_turns_text_into_markup() -> None:
    """Or code: a run's name must never be more than a name."""
    ways = ("innerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "eval(", "new Function(")
    for path in (WEB / "src").rglob("*.ts*"):
        text = path.read_text()
        assert not [way for way in ways if way in text], path

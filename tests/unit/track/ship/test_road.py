"""Code on its way to workers that do not see the home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paddock.errors import Damaged
from paddock.record.code import put_manifest, put_object, restore
from paddock.record.layout import Home
from paddock.record.manifest import file_entry, manifest_path
from paddock.record.objects import object_path
from paddock.record.travel import has_snapshot
from paddock.track.ship.connection import Connection
from paddock.track.ship.road import Road, ServerRoad, StoreRoad
from tests.served import TOKEN, served


@pytest.fixture(params=["server", "store"])
def road(request: pytest.FixtureRequest, tmp_path: Path):
    if request.param == "store":
        yield StoreRoad(f"file://{tmp_path}/bucket")
        return
    with served(_home(tmp_path / "server")) as server:
        yield ServerRoad(Connection(server.address, TOKEN))


def _home(path: Path) -> Home:
    made = Home(path)
    made.prepare()
    return made


def snapshot(home: Home, contents: dict[str, bytes]) -> str:
    entries = {path: file_entry(path, put_object(home, data), len(data), False) for path, data in contents.items()}
    return put_manifest(home, entries)


def test_a_snapshot_arrives_as_it_was(road: Road, tmp_path: Path) -> None:
    here, there = _home(tmp_path / "here"), _home(tmp_path / "there")
    code = {"train.py": b"print(1)\n", "data/a b.bin": os.urandom(9 << 20), "empty": b""}
    code |= {f"lib/{n}.py": b"x = %d\n" % n for n in range(1200)}
    digest = snapshot(here, code)
    road.send(here, digest)
    road.fetch(there, digest)
    restore(there, digest, tmp_path / "tree")
    found = {str(path.relative_to(tmp_path / "tree")): path.read_bytes() for path in (tmp_path / "tree").rglob("*.*")}
    assert found == {path: data for path, data in code.items() if "." in path}
    road.send(here, digest)  # again is no trouble
    road.fetch(there, digest)


def test_what_nobody_sent_is_a_sentence(road: Road, tmp_path: Path) -> None:
    here = _home(tmp_path / "here")
    with pytest.raises(Damaged, match="has no"):
        road.fetch(here, "ab" * 32)
    assert not has_snapshot(here, "ab" * 32)


def test_bytes_that_do_not_fit_their_name_are_not_kept(tmp_path: Path) -> None:
    here, there = _home(tmp_path / "here"), _home(tmp_path / "there")
    digest = snapshot(here, {"train.py": b"print(1)\n"})
    store = StoreRoad(f"file://{tmp_path}/bucket")
    store.send(here, digest)
    (victim,) = (tmp_path / "bucket" / "code" / "objects").rglob("?" * 62)
    victim.write_bytes(b"print(2)\n")
    with pytest.raises(Damaged, match="damaged"):
        store.fetch(there, digest)
    assert not has_snapshot(there, digest)
    assert not os.path.exists(object_path(there, victim.parent.name + victim.name))


def test_a_manifest_with_a_file_that_is_missing_is_not_kept(tmp_path: Path) -> None:
    here, there = _home(tmp_path / "here"), _home(tmp_path / "there")
    digest = snapshot(here, {"a.py": b"a", "b.py": b"b"})
    store = StoreRoad(f"file://{tmp_path}/bucket")
    store.send(here, digest)
    next((tmp_path / "bucket" / "code" / "objects").rglob("?" * 62)).unlink()
    with pytest.raises(Damaged):
        store.fetch(there, digest)
    assert not os.path.exists(manifest_path(there, digest))

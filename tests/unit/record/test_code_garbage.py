"""What no run refers to is removed, and nothing that one might still need."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from paddock.errors import Damaged
from paddock.record import code
from paddock.record.layout import Home
from paddock.record.manifest import file_entry
from paddock.record.objects import digest_of, object_path


def keep(home: Home, *contents: bytes) -> str:
    entries = {
        f"{n}.py": file_entry(f"{n}.py", code.put_object(home, c), len(c), False) for n, c in enumerate(contents)
    }
    return code.put_manifest(home, entries)


def age(home: Home, days: float = 3) -> None:
    """Let everything in the store have been there for days."""
    then = time.time() - days * 86_400
    for path in home.code.rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def test_what_is_used_stays_and_the_rest_goes(home: Home) -> None:
    used, unused = keep(home, b"shared", b"used"), keep(home, b"shared", b"unused")
    diff, lonely = code.put_object(home, b"a diff"), code.put_object(home, b"lonely")
    age(home)
    garbage = code.unreferenced(home, [used, diff])
    assert garbage.manifests == [unused]
    assert set(garbage.objects) == {digest_of(b"unused"), lonely}
    manifest = (home.code / f"{unused}.json").stat().st_size
    assert garbage.bytes == manifest + len(b"unused") + len(b"lonely")
    assert code.remove(home, garbage) == garbage.bytes
    assert code.get_object(home, diff) == b"a diff"
    assert code.referenced_objects(home, used) == {digest_of(b"shared"), digest_of(b"used")}
    with pytest.raises(Damaged):
        code.read_manifest(home, unused)
    assert code.unreferenced(home, [used, diff]).bytes == 0


def test_fresh_things_are_spared_since_a_run_may_be_about_to_name_them(home: Home) -> None:
    keep(home, b"new")
    code.put_object(home, b"newer")
    garbage = code.unreferenced(home, [])
    assert (garbage.manifests, garbage.objects) == ([], [])


def test_old_objects_of_a_fresh_snapshot_are_spared(home: Home) -> None:
    code.put_object(home, b"old")
    age(home)
    path = object_path(home, digest_of(b"old"))
    old = os.stat(path).st_mtime
    snapshot = keep(home, b"old")
    os.utime(path, (old, old))
    assert code.unreferenced(home, []).objects == []
    assert code.referenced_objects(home, snapshot) == {digest_of(b"old")}


def test_what_is_put_again_between_looking_and_removing_stays(home: Home) -> None:
    snapshot = keep(home, b"back again")
    age(home)
    garbage = code.unreferenced(home, [])
    assert garbage.objects
    assert keep(home, b"back again") == snapshot
    assert code.remove(home, garbage) == 0
    assert code.get_object(home, digest_of(b"back again")) == b"back again"
    assert len(code.read_manifest(home, snapshot)) == 1


def test_a_sweep_killed_half_way_loses_nothing(home: Home) -> None:
    snapshot = keep(home, b"taken")
    path = Path(object_path(home, digest_of(b"taken")))
    path.rename(path.with_name(f".gone-{path.name}.abcd"))
    manifest = home.code / f"{snapshot}.json"
    manifest.rename(manifest.with_name(f".gone-{manifest.name}.abcd"))
    code.unreferenced(home, [snapshot])
    assert code.get_object(home, digest_of(b"taken")) == b"taken"
    assert code.read_manifest(home, snapshot)


def test_while_a_used_snapshot_cannot_be_read_no_object_is_garbage(home: Home) -> None:
    used = keep(home, b"used")
    code.put_object(home, b"lonely")
    path = home.code / f"{used}.json"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-5])
    age(home)
    garbage = code.unreferenced(home, [used])
    assert garbage.damaged == [used]
    assert garbage.objects == []


def test_what_killed_writers_left_is_swept_when_old(home: Home) -> None:
    folder = Path(object_path(home, code.put_object(home, b"x"))).parent
    (folder / ".0123.tmp").write_bytes(b"half")
    (home.code / ".4567.tmp").write_bytes(b"half")
    assert code.unreferenced(home, []).asides == []
    age(home)
    garbage = code.unreferenced(home, [digest_of(b"x")])
    assert len(garbage.asides) == 2
    code.remove(home, garbage)
    assert not list(home.code.rglob("*.tmp"))


def test_writers_and_sweeps_at_once_lose_no_object_that_was_put(home: Home) -> None:
    writer = """
import os, sys
from pathlib import Path
from paddock.record import code
from paddock.record.layout import Home
from paddock.record.objects import object_path
home = Home(Path(sys.argv[1]))
data = sys.argv[2].encode()
digest = code.put_object(home, data)
turns = 0
while turns < 400 or not Path(sys.argv[3]).exists():
    turns += 1
    try:
        os.utime(object_path(home, digest), (1, 1))  # it has been there for years
    except FileNotFoundError:
        pass
    code.put_object(home, data)
    assert code.get_object(home, digest) == data
"""
    arguments, enough = [sys.executable, "-c", writer, str(home.path)], home.path / "enough"
    writers = [subprocess.Popen([*arguments, str(number), str(enough)]) for number in range(3)]
    swept, end = 0, time.monotonic() + 60
    while any(process.poll() is None for process in writers):
        swept += code.remove(home, code.unreferenced(home, []))
        if swept or time.monotonic() > end:  # however seldom the two meet on this machine
            enough.touch()
    assert [process.wait() for process in writers] == [0, 0, 0]
    assert swept > 0


def test_an_object_that_a_slow_sweep_has_in_hand_is_waited_for(home: Home) -> None:
    digest = code.put_object(home, b"x")
    path = Path(object_path(home, digest))
    held = path.with_name(f".gone-{path.name}.0123")
    path.rename(held)
    put_back = threading.Timer(0.3, lambda: held.rename(path))
    put_back.start()
    try:
        assert code.get_object(home, digest) == b"x"
    finally:
        put_back.join()


def test_foreign_files_in_the_store_are_left_alone(home: Home) -> None:
    (home.code / "README").write_text("mine")
    (home.code / "objects" / "zz").mkdir(parents=True)
    (home.code / "objects" / "zz" / "note").write_text("mine")
    age(home)
    garbage = code.unreferenced(home, [])
    assert (garbage.manifests, garbage.objects, garbage.asides) == ([], [], [])


def test_a_home_without_a_store_has_no_garbage(tmp_path: Path) -> None:
    assert code.unreferenced(Home(tmp_path / "none"), []).bytes == 0

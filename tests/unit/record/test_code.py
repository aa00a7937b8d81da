"""The code store: objects by content, snapshots, restoring, comparing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from paddock import wire
from paddock.errors import Damaged, Refused, UsageError
from paddock.record import code
from paddock.record.layout import Home
from paddock.record.manifest import file_entry, link_entry
from paddock.record.objects import digest_of, object_path


def keep(home: Home, files: dict[str, bytes | str], executable: tuple[str, ...] = ()) -> str:
    """A snapshot of these files; a text stands for a link's target."""
    entries = {}
    for path, content in files.items():
        if isinstance(content, str):
            entries[path] = link_entry(path, content)
        else:
            entries[path] = file_entry(path, code.put_object(home, content), len(content), path in executable)
    return code.put_manifest(home, entries)


def doctor(home: Home, files: dict[str, object]) -> str:
    """A manifest that no snapshot would make, with a digest that fits."""
    data = wire.dumps({"files": files, "v": 1})
    (home.code / f"{digest_of(data)}.json").write_bytes(data)
    return digest_of(data)


def test_an_object_is_named_by_its_content_and_read_back(home: Home) -> None:
    digest = code.put_object(home, b"print(1)\n")
    assert digest == digest_of(b"print(1)\n")
    assert code.get_object(home, digest) == b"print(1)\n"
    assert code.put_object(home, b"print(1)\n") == digest
    assert code.get_object(home, code.put_object(home, b"")) == b""


def test_an_object_cannot_be_written_by_accident_and_is_not_rewritten(home: Home) -> None:
    path = object_path(home, code.put_object(home, b"x"))
    before = os.stat(path)
    code.put_object(home, b"x")
    assert os.stat(path).st_ino == before.st_ino
    assert not before.st_mode & 0o222


def test_an_object_that_a_power_cut_left_empty_is_written_again(home: Home) -> None:
    path = Path(object_path(home, code.put_object(home, b"content")))
    path.chmod(0o644)
    path.write_bytes(b"")
    assert code.get_object(home, code.put_object(home, b"content")) == b"content"


def test_a_damaged_or_missing_object_is_said_to_be_so(home: Home) -> None:
    digest = code.put_object(home, b"content")
    path = Path(object_path(home, digest))
    path.chmod(0o644)
    path.write_bytes(b"CONTENT")
    with pytest.raises(Damaged, match="does not fit its name"):
        code.get_object(home, digest)
    path.unlink()
    with pytest.raises(Damaged, match="has no object"):
        code.get_object(home, digest)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_what_is_no_digest_never_becomes_a_path(home: Home, name: str) -> None:
    with pytest.raises(UsageError):
        code.get_object(home, name)
    with pytest.raises(UsageError):
        code.read_manifest(home, name)


def test_equal_code_has_one_snapshot_whatever_the_order(home: Home) -> None:
    one = keep(home, {"a.py": b"a", "b/c.py": b"c", "l": "a.py"})
    two = keep(home, {"l": "a.py", "b/c.py": b"c", "a.py": b"a"})
    assert one == two
    assert one != keep(home, {"a.py": b"a", "b/c.py": b"c", "l": "a.py"}, executable=("a.py",))


def test_a_snapshot_is_restored_with_modes_links_and_odd_names(home: Home, tmp_path: Path) -> None:
    odd = os.fsdecode(b"caf\xe9 \n.py")
    files: dict[str, bytes | str] = {
        "train.py": b"print(1)",
        "run.sh": b"#!/bin/sh\n",
        "deep/er/x.bin": bytes(range(256)),
        odd: b"odd",
        "caf\\xe9 \n.py": b"reads like the odd one",
        "deep/latest": "../train.py",
        "dangling": os.fsdecode(b"gone\xff"),
    }
    digest = keep(home, files, executable=("run.sh",))
    into = tmp_path / "new" / "place"
    assert code.restore(home, digest, into) == len(files)
    for path, content in files.items():
        if isinstance(content, str):
            assert os.readlink(into / path) == content
        else:
            assert (into / path).read_bytes() == content
    assert os.stat(into / "run.sh").st_mode & stat.S_IXUSR
    assert not os.stat(into / "train.py").st_mode & stat.S_IXUSR
    assert os.access(into / "train.py", os.W_OK)


def test_a_directory_with_something_in_it_is_only_overwritten_when_told(home: Home, tmp_path: Path) -> None:
    digest = keep(home, {"a.py": b"new"})
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "a.py").write_bytes(b"mine")
    with pytest.raises(Refused, match="not empty"):
        code.restore(home, digest, tmp_path / "into")
    assert (tmp_path / "into" / "a.py").read_bytes() == b"mine"
    code.restore(home, digest, tmp_path / "into", overwrite=True)
    assert (tmp_path / "into" / "a.py").read_bytes() == b"new"


def test_restoring_writes_over_a_link_and_never_through_one(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_bytes(b"precious")
    into = tmp_path / "into"
    into.mkdir()
    (into / "a.py").symlink_to(outside / "a.py")
    code.restore(home, keep(home, {"a.py": b"new"}), into, overwrite=True)
    assert (outside / "a.py").read_bytes() == b"precious"
    assert (into / "a.py").read_bytes() == b"new"
    (into / "sub").symlink_to(outside)
    with pytest.raises(Refused, match="link is in the way"):
        code.restore(home, keep(home, {"sub/a.py": b"new"}), into, overwrite=True)
    assert (outside / "a.py").read_bytes() == b"precious"


@pytest.mark.parametrize(
    "path", ["../evil.py", "/etc/evil.py", "a/../../evil.py", "a/./b.py", "a//b.py", "", ".", "..", "a\0b", "a/.."]
)
def test_a_doctored_path_is_refused_before_anything_is_written(home: Home, tmp_path: Path, path: str) -> None:
    digest = code.put_object(home, b"evil")
    entry = {"digest": digest, "mode": "644", "size": 4}
    manifest = doctor(home, {"good.py": entry, path: entry})
    with pytest.raises(Refused, match="lead elsewhere"):
        code.restore(home, manifest, tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_doctored_raw_names_are_refused_too(home: Home, tmp_path: Path) -> None:
    entry = {"digest": code.put_object(home, b"evil"), "mode": "644", "size": 4}
    with pytest.raises(Refused):
        code.restore(home, doctor(home, {"ok.py": {**entry, "raw": b"../evil".hex()}}), tmp_path / "into")
    with pytest.raises(Damaged):
        code.restore(home, doctor(home, {"ok.py": {**entry, "raw": "zz"}}), tmp_path / "into")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../out", "k/../../out", "x/..", "../k/../..", "a\0b", ""])
def test_a_doctored_link_that_leads_out_is_refused(home: Home, tmp_path: Path, target: str) -> None:
    with pytest.raises(Refused, match="leads out"):
        code.restore(home, doctor(home, {"k": {"link": "."}, "sub/link": {"link": target}}), tmp_path / "into")


def test_a_file_below_a_link_of_the_same_snapshot_is_refused(home: Home, tmp_path: Path) -> None:
    entry = {"digest": code.put_object(home, b"evil"), "mode": "644", "size": 4}
    with pytest.raises(Refused, match="twice over"):
        code.restore(home, doctor(home, {"a": {"link": "b"}, "a/x": entry}), tmp_path / "into")


def test_a_damaged_object_stops_a_restore_before_it_begins(home: Home, tmp_path: Path) -> None:
    digest = keep(home, {"a.py": b"a", "b.py": b"b"})
    os.unlink(object_path(home, digest_of(b"b")))
    with pytest.raises(Damaged):
        code.restore(home, digest, tmp_path / "into")
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"files":[]}', b'{"files":{"a":{"digest":"x"}}}', b"\xff\xfe"])
def test_a_manifest_that_makes_no_sense_is_damaged(home: Home, content: bytes) -> None:
    digest = digest_of(content)
    (home.code / f"{digest}.json").write_bytes(content)
    with pytest.raises(Damaged):
        code.read_manifest(home, digest)


def test_a_manifest_with_a_flipped_bit_is_damaged(home: Home) -> None:
    digest = keep(home, {"a.py": b"a"})
    path = home.code / f"{digest}.json"
    data = bytearray(path.read_bytes())
    data[12] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)
    with pytest.raises(Damaged):
        code.read_manifest(home, digest)


def test_a_diff_shows_what_was_added_removed_and_changed(home: Home) -> None:
    a = keep(home, {"same.py": b"s", "old.py": b"x\n", "a.py": b"1\n2\n3\n", "run": b"r", "w.bin": b"\0a", "l": "a.py"})
    b = keep(
        home,
        {"same.py": b"s", "new.py": b"y", "a.py": b"1\ntwo\n3\n", "run": b"r", "w.bin": b"\0bb", "l": "same.py"},
        executable=("run",),
    )
    found = {item.path: item for item in code.diff(home, a, b)}
    assert {path: item.change for path, item in found.items()} == {
        "a.py": "changed",
        "l": "changed",
        "new.py": "added",
        "old.py": "removed",
        "run": "mode",
        "w.bin": "changed",
    }
    assert found["a.py"].text == "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
    assert found["new.py"].text.endswith("+y\n\\ No newline at end of file\n")
    assert found["run"].text == "mode 644 -> 755\n"
    assert "binary file differs" in found["w.bin"].text
    assert "+link to same.py" in found["l"].text
    assert code.diff(home, a, a) == []
    assert "@@ -2 +2 @@\n-2\n+two\n" in next(i for i in code.diff(home, a, b, context=0) if i.path == "a.py").text


def test_a_diff_survives_odd_encodings_damage_and_sheer_size(home: Home) -> None:
    a = keep(home, {"latin.py": b"caf\xe9\n", "big.py": b"1\n" * 30_000, "gone.py": b"was here"})
    b = keep(home, {"latin.py": b"cafe\n", "big.py": b"2\n" * 30_000, "gone.py": b"is here"})
    os.unlink(object_path(home, digest_of(b"was here")))
    found = {item.path: item.text for item in code.diff(home, a, b)}
    assert "-caf\\xe9" in found["latin.py"]
    assert "too many to compare" in found["big.py"]
    assert "has no object" in found["gone.py"]


def test_many_processes_put_the_same_objects_at_once(home: Home) -> None:
    program = """
import sys
from pathlib import Path
from paddock.record import code
from paddock.record.layout import Home
from paddock.record.manifest import file_entry
home = Home(Path(sys.argv[1]))
entries = {}
for n in range(200):
    data = b"%d" % n * 50
    entries[f"{n}.py"] = file_entry(f"{n}.py", code.put_object(home, data), len(data), False)
print(code.put_manifest(home, entries))
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(home.path)], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    digests = {process.communicate()[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0] * 6
    assert len(digests) == 1
    manifest = code.read_manifest(home, digests.pop())
    assert len(manifest) == 200
    for entry in manifest.values():
        code.get_object(home, entry["digest"])
    assert not list(home.code.rglob("*.tmp"))

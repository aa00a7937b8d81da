"""The evaluator reads the very content that was found, or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from paddock.evaluate.content import whereabouts as content
from paddock.evaluate.content.fingerprint import SMALL, fingerprint
from paddock.evaluate.ledger.entry import Finding
from paddock.evaluate.origin.look import look
from paddock.evaluate.origin.pin import pin


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


def finding(path: Path, *, pinned: bool = True) -> Finding:
    here = look(str(path))
    assert here is not None
    return Finding(
        key="k",
        evaluator="acc",
        call={},
        path=str(path),
        fingerprint=fingerprint(here),
        pin=pin(here, "k") if pinned else "",
    )


def directory(path: Path) -> Path:
    path.mkdir()
    for name in ("model.bin", "optimizer.bin"):
        (path / name).write_bytes(name.encode() * 10)
    return path


def test_it_is_read_under_its_own_name_while_it_has_one(out: Path) -> None:
    one = finding(directory(out / "checkpoint-5"))
    assert content.find(one, str(out)).path == one.path


def test_a_rotated_checkpoint_is_read_from_its_pin(out: Path) -> None:
    path = directory(out / "checkpoint-5")
    one = finding(path)
    (path / "model.bin").unlink()  # half of it is gone
    assert content.find(one, str(out)).path == one.pin
    shutil.rmtree(path)
    assert content.find(one, str(out)).path == one.pin
    assert (Path(one.pin) / "model.bin").read_bytes() == b"model.bin" * 10


def test_what_was_added_to_a_directory_changes_nothing(out: Path) -> None:
    path = directory(out / "checkpoint-5")
    one = finding(path)
    (path / "predictions.npz").write_bytes(b"of an evaluator")
    assert content.find(one, str(out)).path == one.path
    two = finding(directory(out / "checkpoint-6"), pinned=False)
    (out / "checkpoint-6" / "results.json").write_text("{}")
    assert content.find(two, str(out)).path == two.path


def test_one_that_was_written_over_in_place_has_no_content_any_more(out: Path) -> None:
    path = out / "last.bin"
    path.write_bytes(b"one")
    one = finding(path)
    path.write_bytes(b"two")  # and so has its pin, which is the same file
    found = content.find(one, str(out))
    assert (found.path, found.changed, found.away) == ("", True, False)
    assert "written over" in found.why


def test_one_that_was_replaced_is_read_from_its_pin(out: Path) -> None:
    path = out / "last.bin"
    path.write_bytes(b"one")
    one = finding(path)
    (out / "aside").write_bytes(b"two")
    (out / "aside").rename(path)
    found = content.find(one, str(out))
    assert Path(found.path).read_bytes() == b"one"


def test_one_that_was_deleted_is_missed_and_a_disk_that_is_away_is_not(out: Path) -> None:
    path = out / "a.bin"
    path.write_bytes(b"one")
    (out / "other").touch()
    one = finding(path, pinned=False)
    path.unlink()
    (out.parent / "link").symlink_to(out)
    linked = msgspec.structs.replace(one, path=str(out.parent / "link" / "run" / "last.bin"))
    for each in (one, linked):
        found = content.find(each, str(out))
        assert (found.path, found.away, "deleted" in found.why) == ("", False, True)
    (out / "other").unlink()  # as a mount point without its disk
    assert content.find(one, str(out)).away
    out.rmdir()
    assert content.find(one, str(out)).away


def test_a_large_file_is_the_same_when_it_was_copied_with_its_time_and_new_when_written_again(out: Path) -> None:
    path = out / "large.bin"
    path.write_bytes(bytes(SMALL + 100))
    one = finding(path, pinned=False)
    shutil.copy2(path, out / "best.bin")
    here = look(str(out / "best.bin"))
    assert here is not None and fingerprint(here) == one.fingerprint
    data = bytearray(path.read_bytes())
    data[SMALL // 3] = 1
    path.write_bytes(data)
    assert content.find(one, str(out)).changed


@pytest.mark.parametrize("inside", ["disk", "disk/run"])
def test_a_disk_below_the_watched_directory_that_is_not_mounted_is_away(out: Path, inside: str) -> None:
    (out / "other").mkdir()
    (out / inside).mkdir(parents=True)
    (out / inside / "last.bin").write_bytes(b"one")
    one = finding(out / inside / "last.bin")
    (out / "disk").rename(out.parent / "elsewhere")
    (out / "disk").mkdir()  # as a mount point is
    assert content.find(one, str(out)).away
    (out / "disk").rmdir()
    (out.parent / "elsewhere").rename(out / "disk")
    assert content.find(one, str(out)).path == one.path


def test_a_training_that_was_deleted_with_all_that_it_had_is_not_away(out: Path) -> None:
    (out / "other").mkdir()
    (out / "run").mkdir()
    (out / "run" / "last.bin").write_bytes(b"one")
    one = finding(out / "run" / "last.bin")
    shutil.rmtree(out / "run")
    found = content.find(one, str(out))
    assert (found.path, found.away, "deleted" in found.why) == ("", False, True)

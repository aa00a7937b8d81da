"""A checkpoint is complete when its format says so, at no byte before."""

from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.formats.choice import formats_of, judge
from paddock.evaluate.formats.judgement import LONG_QUIET
from paddock.evaluate.origin.look import Look, look


def seen(path: Path) -> Look:
    found = look(str(path))
    assert found is not None
    return found


def archive(path: Path, content: bytes = b"weights" * 100, entries: int = 3) -> Path:
    """As torch.save writes it: stored, not compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for number in range(entries):
            file.writestr(f"archive/data/{number}", content)
    return path


def safetensors(path: Path, size: int = 400) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(size))
    return path


@pytest.mark.parametrize("make", [archive, safetensors])
def test_no_beginning_of_a_file_is_complete(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / ("a.pt" if make is archive else "a.safetensors"))
    data = path.read_bytes()
    assert judge(seen(path)).complete
    for size in range(len(data)):
        path.write_bytes(data[:size])
        found = judge(seen(path))
        # Before its first four bytes nothing shows what it is going to be: then it has to rest for long.
        assert not found.complete or (size < 4 and found.quiet >= LONG_QUIET), size


def many_entries(count: int) -> bytes:
    """An archive of empty files, which zipfile would take seconds to write."""
    local = b"".join(b"PK\3\4" + struct.pack("<5H3L2H", 20, *[0] * 7, 5, 0) + b"%05d" % n for n in range(count))
    entry = struct.Struct("<6H3L5H2L")
    central = b"".join(
        b"PK\1\2" + entry.pack(20, 20, *[0] * 7, 5, *[0] * 5, 35 * n) + b"%05d" % n for n in range(count)
    )
    end = b"PK\6\6" + struct.pack("<Q2H2L4Q", 44, 45, 45, 0, 0, count, count, len(central), len(local))
    locator = b"PK\6\7" + struct.pack("<LQL", 0, len(local) + len(central), 1)
    return (
        local + central + end + locator + b"PK\5\6" + struct.pack("<4H2LH", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    )


def test_a_large_archive_has_its_own_end_record(tmp_path: Path) -> None:
    path = tmp_path / "many.pt"
    data = many_entries(70_000)  # beyond what the small end record can count
    path.write_bytes(data)
    with zipfile.ZipFile(path) as file:
        assert len(file.namelist()) == 70_000
    assert judge(seen(path)).complete
    path.write_bytes(data[:-1])
    assert not judge(seen(path)).complete


def test_a_file_that_shows_no_end_has_to_rest_for_long(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    path.write_bytes(pickle.dumps({"a": 1}))
    found = judge(seen(path))
    assert (found.complete, found.quiet) == (True, LONG_QUIET)
    path.write_bytes(b"")
    assert not judge(seen(path)).complete


def trainer(path: Path, shards: int = 2, ranks: int = 2) -> Path:
    names = [f"model-{i:05d}-of-{shards:05d}.safetensors" for i in range(1, shards + 1)]
    for name in names:
        safetensors(path / name)
    index = {"weight_map": {f"layer.{i}": name for i, name in enumerate(names)}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    for rank in range(ranks):
        archive(path / f"rng_state_{rank}.pth")
    archive(path / "optimizer.pt")
    (path / "trainer_state.json").write_text('{"global_step": 500}')
    return path


@pytest.mark.parametrize("missing", ["trainer_state.json", "rng_state_0.pth", "model-00002-of-00002.safetensors"])
def test_a_trainers_checkpoint_needs_all_its_files(tmp_path: Path, missing: str) -> None:
    path = trainer(tmp_path / "checkpoint-500")
    assert judge(seen(path)).complete
    (path / missing).unlink()
    found = judge(seen(path))
    assert not found.complete
    assert "missing" in found.why


@pytest.mark.parametrize("cut", ["trainer_state.json", "optimizer.pt", "model-00001-of-00002.safetensors"])
def test_a_trainers_checkpoint_needs_them_whole(tmp_path: Path, cut: str) -> None:
    path = trainer(tmp_path / "checkpoint-500")
    data = (path / cut).read_bytes()
    (path / cut).write_bytes(data[: len(data) // 2])
    assert not judge(seen(path)).complete


def dcp(path: Path, ranks: int = 2) -> Path:
    path.mkdir(parents=True)
    for rank in range(ranks):
        (path / f"__{rank}_0.distcp").write_bytes(b"tensor" * 10)
    names = {f"__{rank}_0.distcp" for rank in range(ranks)}
    (path / ".metadata").write_bytes(pickle.dumps({"storage": names}))
    return path


def test_a_dcp_checkpoint_needs_every_shard_that_its_metadata_names(tmp_path: Path) -> None:
    path = dcp(tmp_path / "step-10")
    assert [found.name for found in formats_of(seen(path))] == ["torch DCP"]
    assert judge(seen(path)).complete
    (path / "__1_0.distcp").unlink()
    assert not judge(seen(path)).complete
    (path / ".metadata").unlink()
    assert ".metadata is missing" in judge(seen(path)).why


def test_the_old_metadata_of_a_dcp_checkpoint_that_is_written_over_proves_nothing(tmp_path: Path) -> None:
    path = dcp(tmp_path / "step-10")
    after = os.stat(path / ".metadata").st_mtime_ns + 10**9
    os.utime(path / "__0_0.distcp", ns=(after, after))
    assert "written over" in judge(seen(path)).why


def test_an_orbax_checkpoint_has_its_final_name(tmp_path: Path) -> None:
    path = tmp_path / "100.orbax-checkpoint-tmp-17"
    (path / "state").mkdir(parents=True)
    (path / "_CHECKPOINT_METADATA").write_text("{}")
    assert not judge(seen(path)).complete
    path = path.rename(tmp_path / "100")
    assert judge(seen(path)).complete
    (path / "params.orbax-checkpoint-tmp-18").mkdir()
    (path / "params.orbax-checkpoint-tmp-18" / "x").write_text("")
    assert not judge(seen(path)).complete


def test_a_deepspeed_checkpoint_has_no_gap_in_its_ranks_and_then_has_to_rest(tmp_path: Path) -> None:
    path = tmp_path / "global_step10"
    for rank in (0, 2):
        archive(path / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    archive(path / "mp_rank_00_model_states.pt")
    assert "rank 1" in judge(seen(path)).why
    archive(path / "zero_pp_rank_1_mp_rank_00_optim_states.pt")
    found = judge(seen(path))
    assert (found.complete, found.quiet) == (True, LONG_QUIET)


def test_a_megatron_checkpoint_is_reached_by_the_tracker_file(tmp_path: Path) -> None:
    path = tmp_path / "iter_0001000"
    archive(path / "mp_rank_00" / "model_optim_rng.pt")
    tracker = tmp_path / "latest_checkpointed_iteration.txt"
    assert not judge(seen(path)).complete
    tracker.write_text("500\n")
    assert not judge(seen(path)).complete
    tracker.write_text("1000\n")
    assert judge(seen(path)).complete


def test_a_link_to_a_checkpoint_has_its_content(tmp_path: Path) -> None:
    first = archive(tmp_path / "step=1.pt")
    os.link(first, tmp_path / "hard.pt")
    os.symlink(first, tmp_path / "soft.pt")
    (tmp_path / "copy.pt").write_bytes(first.read_bytes())
    plain = tmp_path / "old.bin"
    plain.write_bytes(b"x" * 100)
    os.link(plain, tmp_path / "old2.bin")
    assert len({fingerprint(seen(tmp_path / f"{n}.pt")) for n in ("step=1", "hard", "soft", "copy")}) == 1
    assert fingerprint(seen(plain)) == fingerprint(seen(tmp_path / "old2.bin"))


def test_a_file_that_was_written_over_has_another_content(tmp_path: Path) -> None:
    path = archive(tmp_path / "last.pt", b"one" * 50)
    before = fingerprint(seen(path))
    archive(path, b"two" * 50)
    assert fingerprint(seen(path)) != before


def test_a_directory_has_the_content_of_its_files(tmp_path: Path) -> None:
    path = trainer(tmp_path / "checkpoint-500")
    before = fingerprint(seen(path))
    assert fingerprint(seen(path)) == before
    archive(path / "optimizer.pt", b"other")
    assert fingerprint(seen(path)) != before


def test_what_vanishes_while_it_is_looked_at_is_nothing(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pt")
    found = seen(path)
    path.unlink()
    assert not judge(found).complete or judge(found).quiet >= LONG_QUIET
    assert look(str(path)) is None

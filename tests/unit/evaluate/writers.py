"""Checkpoints as each trainer writes them: piece by piece, in its order, with its traps. A writer yields whenever
somebody could look."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

PIECE = 7  # bytes
EVER = 3600.0  # seconds: a writer that was killed pauses for ever
Writer = Callable[[Path, str], Iterator[None]]


def archive(content: str, entries: int = 2) -> bytes:
    """As torch.save has it: stored, not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        file.writestr("archive/data.pkl", pickle.dumps({"model": content}))
        for number in range(entries):
            file.writestr(f"archive/data/{number}", content * 3)
    return out.getvalue()


def tensors(content: str) -> bytes:
    data = content.encode() * 8
    header = json.dumps({"w": {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, len(data)]}}).encode()
    return struct.pack("<Q", len(header)) + header + data


def put(path: Path, data: bytes) -> Iterator[None]:
    """In place, from the front. Nobody can look between the last byte and what comes next, so no yield is there."""
    yield
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb", buffering=0) as file:
        for at in range(0, len(data), PIECE):
            yield
            file.write(data[at : at + PIECE])


def put_all(*files: tuple[Path, bytes]) -> Iterator[None]:
    for path, data in files:
        yield from put(path, data)


def torch_save(path: Path, content: str) -> Iterator[None]:
    yield from put(path, archive(content))


def old_torch_save(path: Path, content: str) -> Iterator[None]:
    yield from put(path, pickle.dumps({"model": content * 3}))


def safetensors(path: Path, content: str) -> Iterator[None]:
    yield from put(path, tensors(content))


def sharded(path: Path, content: str) -> Iterator[None]:
    """The index before the shards: it proves nothing."""
    names = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    index = json.dumps({"weight_map": {f"layer.{i}": name for i, name in enumerate(names)}}).encode()
    yield from put_all(
        (path / "config.json", b"{}"),
        (path / "model.safetensors.index.json", index),
        *((path / name, tensors(content + name)) for name in names),
    )


def trainer(path: Path, content: str) -> Iterator[None]:
    yield from put_all(
        (path / "config.json", b"{}"),
        (path / "model.safetensors", tensors(content)),
        (path / "training_args.bin", archive("args")),
        (path / "optimizer.pt", archive(content)),
        (path / "scheduler.pt", archive(content)),
        (path / "rng_state.pth", archive("random")),
        (path / "trainer_state.json", b'{"global_step": 500, "log_history": []}'),
    )


def trainer_of_two(path: Path, content: str) -> Iterator[None]:
    """Rank 0 is done long before rank 1."""
    yield from put_all(
        (path / "config.json", b"{}"),
        (path / "model.safetensors", tensors(content)),
        (path / "training_args.bin", archive("args")),
        (path / "optimizer.pt", archive(content)),
        (path / "rng_state_0.pth", archive("random")),
        (path / "trainer_state.json", b'{"global_step": 500}'),
        (path / "rng_state_1.pth", archive("random")),
    )


def trainer_with_fsdp(path: Path, content: str) -> Iterator[None]:
    yield from put_all(
        (path / "config.json", b"{}"),
        (path / "training_args.bin", archive("args")),
        *_shards(path / "pytorch_model_fsdp_0", content),
        *_shards(path / "optimizer_0", content),
        (path / "trainer_state.json", b'{"global_step": 500}'),
    )


def accelerate(path: Path, content: str) -> Iterator[None]:
    yield from put_all(
        (path / "model.safetensors", tensors(content)),
        (path / "optimizer.bin", archive(content)),
        (path / "random_states_0.pkl", archive("random")),
    )


def _shards(path: Path, content: str, ranks: int = 2) -> list[tuple[Path, bytes]]:
    names = [f"__{rank}_0.distcp" for rank in range(ranks)]
    shards = [(path / name, (content + name).encode()) for name in names]
    return [*shards, (path / ".metadata", pickle.dumps({"storage": names}))]


def dcp(path: Path, content: str) -> Iterator[None]:
    yield from put_all(*_shards(path, content))


def orbax(path: Path, content: str) -> Iterator[None]:
    aside = path.with_name(f"{path.name}.orbax-checkpoint-tmp-17")
    yield from put_all(
        (aside / "state" / "manifest.ocdbt", b"manifest"),
        (aside / "state" / "d" / "0a", content.encode()),
        (aside / "_CHECKPOINT_METADATA", b"{}"),
    )
    if path.exists():
        path.rename(path.with_name(".old-" + content))
    aside.rename(path)


def orbax_in_a_bucket(path: Path, content: str) -> Iterator[None]:
    """Without renames: what is being written over has lost its mark."""
    (path / "commit_success.txt").unlink(missing_ok=True)
    yield from put_all(
        (path / "_METADATA.orbax-checkpoint-tmp-3" / "x", b"x"),
        (path / "d" / "0a", content.encode()),
    )
    (path / "_METADATA.orbax-checkpoint-tmp-3" / "x").unlink()
    (path / "_METADATA.orbax-checkpoint-tmp-3").rmdir()
    (path / "commit_success.txt").write_text("Checkpoint commit was successful")


def deepspeed(path: Path, content: str) -> Iterator[None]:
    """`latest` first, and the ranks out of order."""
    yield from put_all(
        (path.parent / "latest", path.name.encode()),
        (path / "zero_pp_rank_2_mp_rank_00_optim_states.pt", archive(content)),
        (path / "mp_rank_00_model_states.pt", archive(content)),
        (path / "zero_pp_rank_0_mp_rank_00_optim_states.pt", archive(content)),
        (path / "zero_pp_rank_1_mp_rank_00_optim_states.pt", archive(content)),
    )


def megatron(path: Path, content: str) -> Iterator[None]:
    tracker = path.parent / "latest_checkpointed_iteration.txt"
    path.mkdir(parents=True, exist_ok=True)
    tracker.write_text("500")
    yield from put_all(
        (path / "mp_rank_00" / "model_optim_rng.pt", archive(content)),
        (path / "mp_rank_01" / "model_optim_rng.pt", archive(content)),
    )
    tracker.write_text("1000")


def megatron_distributed(path: Path, content: str) -> Iterator[None]:
    yield from put_all(
        *_shards(path, content), (path / "common.pt", archive(content)), (path / "metadata.json", b'{"v": 1}')
    )


def no_format(path: Path, content: str) -> Iterator[None]:
    yield from put_all((path / "part0.bin", content.encode() * 5), (path / "part1.bin", content.encode() * 5))


class Kind(NamedTuple):
    write: Writer
    name: str
    pause: float = EVER  # how long it may pause anywhere without being taken for complete
    again: float | None = None  # the same when it is written over in place; None: the same


KINDS = {
    "torch.save": Kind(torch_save, "last.pt"),
    "torch.save of old": Kind(old_torch_save, "last.pth", 9.9),
    "Lightning": Kind(torch_save, "last.ckpt"),
    "safetensors": Kind(safetensors, "last.safetensors"),
    "sharded": Kind(sharded, "best", again=1.9),
    "Trainer": Kind(trainer, "checkpoint-500", again=9.9),
    "Trainer of two ranks": Kind(trainer_of_two, "checkpoint-500", 9.9, again=9.9),
    "Trainer with FSDP": Kind(trainer_with_fsdp, "checkpoint-500", again=9.9),
    "Accelerate": Kind(accelerate, "checkpoint-500", again=9.9),
    "torch DCP": Kind(dcp, "step-500"),
    "Orbax": Kind(orbax, "500"),
    "Orbax in a bucket": Kind(orbax_in_a_bucket, "500"),
    "DeepSpeed": Kind(deepspeed, "global_step500", 9.9),
    "Megatron": Kind(megatron, "iter_0001000"),
    "Megatron, distributed": Kind(megatron_distributed, "iter_0001000", again=9.9),
    "no format": Kind(no_format, "step-5.model", 9.9),
}

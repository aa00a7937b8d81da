"""Checkpoints that many ranks write: torch DCP, DeepSpeed, Megatron, Orbax."""

from __future__ import annotations

import os
import re

from paddock import wire
from paddock.evaluate.formats.judgement import LONG_QUIET, Judgement, complete, partial
from paddock.evaluate.formats.pickles import is_whole
from paddock.evaluate.formats.shards import judge_files
from paddock.evaluate.origin.look import Look

_SHARD = re.compile(rb"__\d+_\d+\.distcp")
_ZERO = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d+)_mp_rank_(\d+)_(?:optim|model)_states\.pt")
_MODEL = re.compile(r"mp_rank_(\d+)(?:_\d+)?_model_states\.pt")
_ITERATION = re.compile(r"iter_(\d+)")
_ORBAX_TEMPORARY = re.compile(r".*\.orbax-checkpoint-tmp(-\d+)?")
_ORBAX_FILES = ("commit_success.txt", "_CHECKPOINT_METADATA", "_METADATA", "checkpoint", "_sharding")
LATEST = "latest_checkpointed_iteration.txt"


def is_dcp(look: Look) -> bool:
    return look.is_directory and any(name.endswith(".distcp") for name in look.files)


def judge_dcp(look: Look) -> Judgement:
    """One or several of them: a trainer keeps its model and its optimizer in directories of their own."""
    places = {os.path.dirname(name) for name in look.files if name.endswith(".distcp")}
    places |= {os.path.dirname(name) for name in look.files if os.path.basename(name) == ".metadata"}
    found = [_judge_dcp_in(look, place) for place in sorted(places)]
    return next((one for one in found if not one.complete), found[0])


def _judge_dcp_in(look: Look, place: str) -> Judgement:
    """`.metadata` names the shards, and is written after them. When an old checkpoint is written over, its `.metadata`
    stands there from the beginning: so it must not be older than any shard."""
    metadata = os.path.join(place, ".metadata")
    if metadata not in look.files:
        return partial(f"{metadata} is missing")
    here = {os.path.basename(name) for name in look.files if os.path.dirname(name) == place}
    raw = look.read(metadata, 0, 256 << 20)
    if not is_whole(raw):
        return partial(f"{metadata} is not whole yet")
    named = {match.decode() for match in _SHARD.findall(raw)}
    missing = sorted(named - here)
    if missing:
        return partial(f"{os.path.join(place, missing[0])} is missing ({len(missing)} of {len(named)})")
    shards = [os.path.join(place, name) for name in here if name.endswith(".distcp")]
    if not shards:
        return partial("there are no shards yet")
    if look.files[metadata].mtime < max(look.files[name].mtime for name in shards):
        return partial(f"{metadata} is older than a shard: it is being written over")
    return complete("every shard of .metadata is there")


def is_deepspeed(look: Look) -> bool:
    return look.is_directory and any(_ZERO.fullmatch(os.path.basename(name)) for name in look.files)


def judge_deepspeed(look: Look) -> Judgement:
    """`latest` proves nothing: it is written before the last barrier. Ranks without a gap, all of them whole, and at
    rest."""
    found = [match for name in look.files if (match := _ZERO.fullmatch(os.path.basename(name)))]
    data = {(int(match[1]), int(match[2])) for match in found}
    ranks, parts = max(rank for rank, _ in data) + 1, max(part for _, part in data) + 1
    missing = [(rank, part) for rank in range(ranks) for part in range(parts) if (rank, part) not in data]
    if missing:
        return partial(f"rank {missing[0][0]} of {ranks} is missing")
    models = {int(match[1]) for name in look.files if (match := _MODEL.fullmatch(os.path.basename(name)))}
    if models and models != set(range(max(models) + 1)):
        return partial("a model part is missing")
    whole = judge_files(look, [name for name in look.files if name.endswith(".pt")])
    # How many ranks there are is written nowhere: only rest tells that none is still to come.
    return whole if not whole.complete else complete(f"{ranks} ranks are there", LONG_QUIET)


def is_megatron(look: Look) -> bool:
    if not look.is_directory or not _ITERATION.fullmatch(look.name):
        return False
    if is_dcp(look) and len(look.name) >= len("iter_0000000"):  # as Megatron alone has it
        return True
    return look.read_beside(LATEST) is not None or any(
        os.path.basename(os.path.dirname(name)).startswith("mp_rank_") or name == "metadata.json" for name in look.files
    )


def judge_megatron(look: Look) -> Judgement:
    """The tracker file beside it has reached its iteration, or its own metadata.json is whole."""
    match = _ITERATION.fullmatch(look.name)
    assert match is not None
    if not look.files:
        return partial("it is empty")
    if "metadata.json" in look.files:
        try:
            wire.decode(look.read("metadata.json"))
        except (wire.DecodeError, UnicodeDecodeError):
            return partial("metadata.json is not whole yet")
        return _judge_megatron_files(look)
    tracker = (look.read_beside(LATEST) or b"").strip()
    if tracker == b"release" or (tracker.isdigit() and int(tracker) >= int(match[1])):
        return complete(f"{LATEST} says {tracker.decode()}")
    return partial(f"{LATEST} has not reached it")


def _judge_megatron_files(look: Look) -> Judgement:
    found = [judge_files(look, [name for name in look.files if name.endswith(".pt")])]
    found += [judge_dcp(look)] if is_dcp(look) else []
    if look.files["metadata.json"].mtime < look.newest:  # it was copied, or is being written over
        found.append(complete("metadata.json is older than the rest", LONG_QUIET))
    else:
        found.append(complete("metadata.json is there"))
    return next((one for one in found if not one.complete), max(found, key=lambda one: one.quiet))


def is_orbax(look: Look) -> bool:
    if not look.is_directory:
        return False
    if _ORBAX_TEMPORARY.fullmatch(look.name):
        return True
    return any(os.path.basename(name) in _ORBAX_FILES for name in look.files) or any(
        part.startswith("ocdbt.process_") or part == "manifest.ocdbt" for name in look.files for part in name.split("/")
    )


def judge_orbax(look: Look) -> Judgement:
    """Its name has no temporary ending any more, and so has nothing in it; where renames are not atomic there is a
    commit_success.txt."""
    if _ORBAX_TEMPORARY.fullmatch(look.name):
        return partial("it still has its temporary name")
    for name in look.files:
        if any(_ORBAX_TEMPORARY.fullmatch(part) for part in name.split("/")):
            return partial(f"{name.split('/')[0]} still has its temporary name")
    if "commit_success.txt" in look.files:
        return complete("commit_success.txt is there", 0.0)
    return complete("it has its final name")

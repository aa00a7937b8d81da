"""`checkpoint-N/` of the Hugging Face Trainer, and a model's directory. Rank 0 writes trainer_state.json without
waiting for the others, so that file alone proves nothing."""

from __future__ import annotations

import re

from paddock import wire
from paddock.evaluate.formats.shards import judge_files, judge_index
from paddock.evaluate.judgement import Judgement, partial
from paddock.evaluate.look import Look

_STATE = "trainer_state.json"
_WEIGHTS = re.compile(
    r"(.*/)?((model|adapter_model|pytorch_model|tf_model|flax_model)[^/]*\.(safetensors|bin|h5|msgpack))"
)
_RANDOM = re.compile(r"rng_state_(\d+)\.pth")
_OTHERS = re.compile(r"(optimizer|scheduler|scaler)\.(pt|bin)|rng_state(_\d+)?\.pth")


def fits(look: Look) -> bool:
    return look.is_directory and (
        _STATE in look.files
        or re.fullmatch(r"checkpoint-\d+", look.name) is not None
        or "config.json" in look.files
        or "adapter_config.json" in look.files
    )


def judge(look: Look) -> Judgement:
    trainer = re.fullmatch(r"checkpoint-\d+", look.name) is not None or _STATE in look.files
    if trainer:
        if _STATE not in look.files:
            return partial(f"{_STATE} is missing")
        if not _is_json(look, _STATE):
            return partial(f"{_STATE} is not whole yet")
        ranks = sorted(int(match[1]) for name in look.files if (match := _RANDOM.fullmatch(name)))
        if ranks and ranks != list(range(ranks[-1] + 1)):
            return partial(f"rng_state of rank {next(r for r in range(ranks[-1] + 1) if r not in ranks)} is missing")
    indexes = [name for name in look.files if name.endswith(".index.json")]
    for name in indexes:
        found = judge_index(look, name)
        if not found.complete:
            return found
    files = [name for name in look.files if _WEIGHTS.fullmatch(name)]
    if not files:
        return partial("there are no weights yet")
    files += [name for name in look.files if _OTHERS.fullmatch(name)]
    return judge_files(look, files)


def step(look: Look) -> int | None:
    """What the trainer itself says."""
    try:
        found = wire.decode(look.read(_STATE, 0, 64 << 20))["global_step"]
    except (wire.DecodeError, KeyError, TypeError, UnicodeDecodeError):
        return None
    return found if isinstance(found, int) else None


def _is_json(look: Look, name: str) -> bool:
    try:
        wire.decode(look.read(name, 0, 64 << 20))
    except (wire.DecodeError, UnicodeDecodeError):
        return False
    return True

"""`checkpoint-N/` of the Hugging Face Trainer, what Accelerate saves, and a model's directory. Rank 0 writes
trainer_state.json without waiting for the others, so that file alone proves nothing."""

from __future__ import annotations

import re

from paddock import wire
from paddock.evaluate.formats.judgement import LONG_QUIET, Judgement, complete, partial
from paddock.evaluate.formats.remarks import is_remark
from paddock.evaluate.formats.shards import judge_files, judge_index
from paddock.evaluate.origin.look import Look

STATE = "trainer_state.json"
_MODEL = ("config.json", "adapter_config.json")
_NAME = re.compile(r"checkpoint-\d+")
_WEIGHTS = re.compile(
    r"(.*/)?(?!training_args|optimizer|scheduler|scaler|sampler|rng_state)"
    r"[^/]+\.(safetensors|bin|pt|pth|h5|msgpack|distcp)"
)
_RANDOM = re.compile(r"rng_state_(\d+)\.pth")
_ACCELERATE = re.compile(r"random_states_(\d+)\.pkl")
_OTHERS = re.compile(
    r"(optimizer|scheduler|scaler|training_args)(_\d+)?\.(pt|bin)|rng_state(_\d+)?\.pth|random_states_\d+\.pkl"
)


def fits(look: Look) -> bool:
    return look.is_directory and (_is_trainers(look) or _is_accelerates(look) or _has(look, _MODEL))


def judge(look: Look) -> Judgement:
    rule = _judge_trainer if _is_trainers(look) else _judge_accelerate if _is_accelerates(look) else None
    state = rule(look) if rule else complete("it has weights")
    if not state.complete:
        return state
    for name in look.files:
        if name.endswith(".index.json"):
            found = judge_index(look, name)
            if not found.complete:
                return found
    files = [name for name in look.files if _WEIGHTS.fullmatch(name)]
    if not files:
        return partial("there are no weights yet")
    files = [name for name in files if not name.endswith(".distcp")]  # which have a judge of their own
    found = judge_files(look, files + [name for name in look.files if _OTHERS.fullmatch(name)])
    return found if not found.complete or found.quiet >= state.quiet else state


def _is_trainers(look: Look) -> bool:
    """By its name, once something in it is the trainer's: others call their directories so too."""
    if STATE in look.files:
        return True
    if _NAME.fullmatch(look.name) is None or _is_accelerates(look):
        return False
    return _has(look, (*_MODEL, "training_args.bin")) or any(
        re.fullmatch(r"(model|adapter_model|pytorch_model)\b.*", name) for name in look.files
    )


def _is_accelerates(look: Look) -> bool:
    return STATE not in look.files and any(_ACCELERATE.fullmatch(name) for name in look.files)


def _judge_trainer(look: Look) -> Judgement:
    if STATE not in look.files:
        return partial(f"{STATE} is missing")
    try:
        wire.decode(look.read(STATE, 0, 64 << 20))
    except (wire.DecodeError, UnicodeDecodeError):
        return partial(f"{STATE} is not whole yet")
    rest = max((entry.mtime for name, entry in look.files.items() if not is_remark(name)), default=0)
    if look.files[STATE].mtime < rest:  # it was copied, or is being written over
        return _judge_ranks(look, _RANDOM) or complete(f"{STATE} is older than the rest", LONG_QUIET)
    return _judge_ranks(look, _RANDOM) or complete(f"{STATE} is whole")


def _judge_accelerate(look: Look) -> Judgement:
    return _judge_ranks(look, _ACCELERATE) or complete("the random states are there")


def _judge_ranks(look: Look, pattern: re.Pattern[str]) -> Judgement | None:
    """How many there are is written nowhere: no gap, and then only rest tells that none is still to come."""
    ranks = {int(match[1]) for name in look.files if (match := pattern.fullmatch(name))}
    if not ranks:
        return None
    missing = sorted(set(range(max(ranks) + 1)) - ranks)
    if missing:
        return partial(f"the random state of rank {missing[0]} is missing")
    return complete(f"{len(ranks)} ranks are there", LONG_QUIET)


def _has(look: Look, names: tuple[str, ...]) -> bool:
    return any(name in look.files for name in names)

"""Which format a candidate is of, by looking, and whether it is complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paddock.evaluate.formats import distributed, huggingface
from paddock.evaluate.formats.shards import judge_file, judge_files
from paddock.evaluate.judgement import LONG_QUIET, Judgement, complete, partial
from paddock.evaluate.look import Look


class Format(NamedTuple):
    name: str
    fits: Callable[[Look], bool]
    judge: Callable[[Look], Judgement]


# The most telling first: a DCP checkpoint may lie in a Megatron directory, DeepSpeed's beside a trainer's files.
DIRECTORIES = (
    Format("orbax", distributed.is_orbax, distributed.judge_orbax),
    Format("megatron", distributed.is_megatron, distributed.judge_megatron),
    Format("torch DCP", distributed.is_dcp, distributed.judge_dcp),
    Format("Hugging Face", huggingface.fits, huggingface.judge),
    Format("DeepSpeed", distributed.is_deepspeed, distributed.judge_deepspeed),
)


def format_of(look: Look) -> Format | None:
    """Of a directory; None when it is no checkpoint that we know."""
    return next((format for format in DIRECTORIES if format.fits(look)), None)


def judge(look: Look) -> Judgement:
    if not look.is_directory:
        return judge_file(look)
    found = format_of(look)
    if found is not None:
        verdict = found.judge(look)
        if found.name == "Hugging Face" and verdict.complete and distributed.is_deepspeed(look):
            more = distributed.judge_deepspeed(look)
            return more if not more.complete or more.quiet > verdict.quiet else verdict
        return verdict
    if not look.files:
        return partial("it is empty")
    files = judge_files(look, list(look.files))
    return files if not files.complete else complete("a directory of no known format", LONG_QUIET)

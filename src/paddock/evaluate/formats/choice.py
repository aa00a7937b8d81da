"""Which format a candidate is of, by looking, and whether it is complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from paddock.evaluate.formats import distributed, huggingface
from paddock.evaluate.formats.judgement import LONG_QUIET, Judgement, complete, partial
from paddock.evaluate.formats.remarks import is_remark
from paddock.evaluate.formats.shards import judge_file, judge_files
from paddock.evaluate.origin.look import Look


class Format(NamedTuple):
    name: str
    fits: Callable[[Look], bool]
    judge: Callable[[Look], Judgement]


# One of these says it all. Below them: a trainer's directory may hold the shards of DCP or DeepSpeed, and all must be
# complete then.
ALONE = (
    Format("orbax", distributed.is_orbax, distributed.judge_orbax),
    Format("megatron", distributed.is_megatron, distributed.judge_megatron),
)
TOGETHER = (
    Format("torch DCP", distributed.is_dcp, distributed.judge_dcp),
    Format("Hugging Face", huggingface.fits, huggingface.judge),
    Format("DeepSpeed", distributed.is_deepspeed, distributed.judge_deepspeed),
)


def formats_of(look: Look) -> list[Format]:
    """Of a directory; none when it is no checkpoint that we know."""
    alone = [format for format in ALONE if format.fits(look)][:1]
    return alone or [format for format in TOGETHER if format.fits(look)]


def judge(look: Look) -> Judgement:
    if not look.is_directory:
        return judge_file(look)
    found = [format.judge(look) for format in formats_of(look)]
    if found:
        return next((one for one in found if not one.complete), max(found, key=lambda one: one.quiet))
    weights = [name for name in look.files if not is_remark(name)]
    if not weights:
        return partial("it is empty")
    files = judge_files(look, weights)
    return files if not files.complete else complete("a directory of no known format", LONG_QUIET)

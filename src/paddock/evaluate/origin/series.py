"""Which checkpoints belong together: those of one training, told by where they lie. Pure."""

from __future__ import annotations

import os
import re

_OF_A_STEP = re.compile(
    r"(?:(?:global[-_]?)?(?:steps?|iteration|iter|itr|updates?|epoch|ep|checkpoint|ckpt|chkpt)[-_=. ]?\d+[-_=. ]?)+",
    re.I,
)


# Where trainers and people put copies of those that are worth it.
_OF_COPIES = re.compile(r"(best|last|latest|top)([-_. ]?(k|\d+|models?|checkpoints?|ckpts?|weights))?", re.I)


def series_of(path: str) -> str:
    """The directory of the training: that of the checkpoint, or the one above it where each has a directory of its own
    (out/step_100/model.pt is of out)."""
    directory = os.path.dirname(path)
    while _OF_A_STEP.fullmatch(os.path.basename(directory)):
        directory = os.path.dirname(directory)
    return directory


def home_of(series: str) -> str:
    """The directory of the training itself: a directory of copies in it, as out/best, is no training of its own."""
    while _OF_COPIES.fullmatch(os.path.basename(series)):
        series = os.path.dirname(series)
    return series

"""Which checkpoints belong together: those of one training, told by where they lie. Pure."""

from __future__ import annotations

import os
import re

_OF_A_STEP = re.compile(
    r"(?:(?:global[-_]?)?(?:steps?|iteration|iter|itr|updates?|epoch|ep|checkpoint|ckpt|chkpt)[-_=. ]?\d+[-_=. ]?)+",
    re.I,
)


def series_of(path: str) -> str:
    """The directory of the training: that of the checkpoint, or the one above it where each has a directory of its own
    (out/step_100/model.pt is of out)."""
    directory = os.path.dirname(path)
    while _OF_A_STEP.fullmatch(os.path.basename(directory)):
        directory = os.path.dirname(directory)
    return directory

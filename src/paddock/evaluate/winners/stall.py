"""Whether a metric has stopped getting better. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paddock.evaluate.winners.best import Score, is_better


class Stall(NamedTuple):
    best: Score
    last: Score
    evaluations: int  # since the best


def stalled(scores: Sequence[Score], goal: str, patience: int, min_delta: float) -> Stall | None:
    """In the order of the training, however late each score came: `patience` checkpoints in a row that were not better
    by more than `min_delta` than the best before them."""
    order = sorted(scores, key=lambda score: score.at.order)
    if not order:
        return None
    top, since = order[0], 0
    for score in order[1:]:
        if is_better(score.value, top.value, goal, min_delta):
            top, since = score, 0
        else:
            since += 1
    return Stall(top, order[-1], since) if since >= patience else None

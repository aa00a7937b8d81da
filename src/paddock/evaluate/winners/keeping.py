"""Which checkpoints may be deleted because others are better. Pure, and careful: what is not certain is kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from paddock.evaluate.policy.standing import Standing
from paddock.evaluate.winners.best import Score, ranked


def superfluous(
    everyone: Sequence[Standing], scores: Sequence[Score], goal: str, keep: int, unfinished: Collection[str]
) -> list[Score]:
    """Those beyond the `keep` best, the worst last. `everyone`: all checkpoints of the series that are known, evaluated
    or not. Never the last one, by step and by when it was found: a training goes on from it. Never one that has no
    score, and none whose path is in `unfinished`, because an evaluator has still to read it. The same content or path
    under a better score stays."""
    order = ranked(scores, goal)
    stays = {score.at.path for score in order[:keep]} | set(unfinished)
    if everyone:
        stays.add(max(everyone, key=lambda one: one.order).path)
        stays.add(max(everyone, key=lambda one: (one.found, one.order)).path)
    return [score for score in order[keep:] if score.at.path not in stays]

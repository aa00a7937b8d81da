"""The checkpoints of a series in the order of the training, as decisions see them. Pure."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """Checkpoints of one training under one evaluator: what is counted and ordered together."""

    series: str
    evaluator: str


class Standing(NamedTuple):
    """One checkpoint among the others of its group."""

    key: str
    step: int | None
    path: str
    found: float = 0.0

    @property
    def order(self) -> tuple[int, float, str]:
        """By step; what has none comes before, by when it was found."""
        return (-1 if self.step is None else self.step, self.found, self.path)

"""Which of the checkpoints that have just come are evaluated, and which that wait give way to them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paddock.evaluate.policy.standing import Standing

EVERY, COALESCED = "every", "coalesced"  # how the reasons begin


class Admission(NamedTuple):
    submit: list[Standing]  # in the order of their steps
    skip: dict[str, str]  # key -> why it is passed over
    withdraw: dict[str, str]  # of those that wait: key -> why


def admit(arrived: Sequence[Standing], known: int, waiting: Sequence[Standing], every: int, most: int) -> Admission:
    """All of one group. `known`: how many of it the ledger has already. They are numbered in the order in which they
    are found, several at once in the order of their steps; so a number never changes. `most` may wait, the newest;
    0 for any number."""
    skip: dict[str, str] = {}
    chosen: list[Standing] = []
    for number, one in enumerate(sorted(arrived, key=_order), start=known + 1):
        if number % every:
            skip[one.key] = f"{EVERY}: it is number {number}, and only each {every}. is evaluated"
        else:
            chosen.append(one)
    if not most:
        return Admission(chosen, skip, {})
    everyone = sorted([*waiting, *chosen], key=_order)
    old, newest = everyone[:-most], everyone[-1] if everyone else None
    passed = {one.key: f"{COALESCED}: {_name(newest)} came before its turn" for one in old if newest}
    coming = {one.key for one in chosen}
    return Admission(
        [one for one in chosen if one.key not in passed],
        skip | {key: why for key, why in passed.items() if key in coming},
        {key: why for key, why in passed.items() if key not in coming},
    )


def left_out(group: Sequence[tuple[Standing, str]]) -> Standing | None:
    """The last checkpoint of a training that is over, if it was only passed over for its number; each with the reason
    why it was skipped, if it was."""
    last = max(group, key=lambda one: one[0].order, default=None)
    return last[0] if last is not None and last[1].startswith(EVERY) else None


def _order(one: Standing) -> tuple[int, float, str]:
    return one.order


def _name(one: Standing) -> str:
    return one.path if one.step is None else f"step {one.step}"

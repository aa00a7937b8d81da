"""What differs between runs: nested configs, packages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paddock.compare.fields import MISSING, flatten

_SEED_LIKE = frozenset({"seed", "random_seed", "rng_seed", "manual_seed", "seed_everything", "fold", "trial", "repeat"})


class DiffRow(NamedTuple):
    """One key over all runs. A value is MISSING where a run lacks the key, None where it is null."""

    key: str
    values: tuple[Any, ...]
    equal: bool


def diff(configs: Sequence[Mapping[str, Any]], *, every: bool = False) -> list[DiffRow]:
    """The keys that differ (with `every` all keys), dotted, in the order of the first config that has them."""
    flat = [dict(flatten(config)) for config in configs]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    rows = []
    for key in keys:
        values = tuple(one.get(key, MISSING) for one in flat)
        equal = all(same(values[0], value) for value in values[1:])
        if every or not equal:
            rows.append(DiffRow(key, values, equal))
    return rows


def diff_packages(environments: Sequence[Mapping[str, str]], *, every: bool = False) -> list[DiffRow]:
    """Like `diff`, for {package: version}; names sorted, no dots taken apart."""
    rows = []
    for key in sorted({name for one in environments for name in one}, key=str.lower):
        values = tuple(one.get(key, MISSING) for one in environments)
        equal = all(same(values[0], value) for value in values[1:])
        if every or not equal:
            rows.append(DiffRow(key, values, equal))
    return rows


def same(left: Any, right: Any) -> bool:
    """Equal as configs mean it: 1 and 1.0 are, true and 1 are not, NaN is itself."""
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right):
        return True
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def differing_keys(configs: Sequence[Mapping[str, Any]], *, seeds: bool = True) -> list[str]:
    """The config keys that tell these runs apart; without `seeds` those that only number repetitions are left out.
    A run without any config says nothing about it."""
    known = [config for config in configs if config]
    first: dict[str, Any] = {}
    having: dict[str, int] = {}  # in how many runs each key is
    differing: set[str] = set()
    for config in known:  # each value is looked at once: one run of 200,000 keys must not cost that for every other
        for key, value in dict(flatten(config)).items():
            having[key] = having.get(key, 0) + 1
            if having[key] == 1:
                first[key] = value
            elif key not in differing and not same(first[key], value):
                differing.add(key)
    keys = [key for key in first if key in differing or having[key] < len(known)]
    return keys if seeds else [key for key in keys if not is_seed(key)]


def is_seed(key: str) -> bool:
    """Does this key only tell repetitions of the same experiment apart?"""
    last = key.rpartition(".")[2].lower().replace("-", "_")
    return last in _SEED_LIKE or last.endswith("_seed")

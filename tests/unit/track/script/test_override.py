"""key=value on the command line of `paddock run`."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.track.script.override import apply

CONFIG = {
    "lr": 0.1,
    "steps": 10,
    "name": "a",
    "on": True,
    "sizes": [1, 2],
    "shape": (1, 2),
    "nothing": None,
    "model": {"depth": 2, "kind": "mlp"},
    "dotted.key": 1,
}


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("lr=0.5", "lr", 0.5),
        ("lr=1e-3", "lr", 0.001),
        ("steps=20", "steps", 20),
        ("steps=2.5", "steps", 2.5),
        ("name=5", "name", "5"),
        ("name=a=b", "name", "a=b"),
        ("name=", "name", ""),
        ("on=false", "on", False),
        ("sizes=[3,4]", "sizes", [3, 4]),
        ("shape=[3,4]", "shape", (3, 4)),
        ("nothing=3", "nothing", 3),
        ("nothing=x y", "nothing", "x y"),
        ("lr=none", "lr", None),
        ("dotted.key=2", "dotted.key", 2),
        ("+fresh=true", "fresh", True),
        ("+new.inner=1", "new", {"inner": 1}),
    ],
)
def test_a_value_takes_the_type_of_the_default_it_replaces(override: str, key: str, value: Any) -> None:
    found = apply(CONFIG, [override])
    assert found[key] == value
    assert type(found[key]) is type(value)


def test_nested_keys_and_the_defaults_stay_untouched() -> None:
    assert apply(CONFIG, ["model.depth=5"])["model"] == {"depth": 5, "kind": "mlp"}
    assert CONFIG["model"] == {"depth": 2, "kind": "mlp"}


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("lrr=1", "Did you mean 'lr'"),
        ("model.dept=1", "Did you mean 'depth'"),
        ("model.x.y=1", "no 'model.x'"),
        ("lr", "key=value"),
        ("=1", "key=value"),
        ("lr=fast", "no float"),
        ("on=maybe", "no bool"),
        ("sizes=3", "no list"),
        ("zzz=1", r"\+zzz=1"),
    ],
)
def test_a_wrong_override_says_what_is_wrong(override: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        apply(CONFIG, [override])

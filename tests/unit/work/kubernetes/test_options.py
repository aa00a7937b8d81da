"""What Kubernetes is told: every wrong word is a sentence that says what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import UsageError
from paddock.work.kubernetes.options import merge


def test_the_later_layer_wins() -> None:
    found = merge({"image": "a", "ttl": "1h"}, {"image": "b"}, {})
    assert (found.image, found.ttl) == ("b", 3600)


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'imgae'") as error:
        merge({"imgae": "x"})
    assert "Did you mean 'image'?" in error.value.hint
    assert "tolerate" in error.value.hint


def test_lists_and_tables_of_toml_are_taken_too() -> None:
    told = {"select": {"disk": "ssd"}, "volumes": ["a:/a", "b:/b:ro"], "env": {"A": "1"}, "pull-secret": "x"}
    found = merge(told)
    assert (found.select, found.env, found.pull_secret) == ((("disk", "ssd"),), (("A", "1"),), "x")
    assert [(one.source, one.path, one.read_only) for one in found.volumes] == [("a", "/a", False), ("b", "/b", True)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("image", ""),
        ("image", "two words"),
        ("image", 3),
        ("pull", "Sometimes"),
        ("home", "claim"),
        ("home", "claim:relative"),
        ("home", "claim:/"),
        ("home", "Claim_1:/x"),
        ("volumes", "a:/a:rx"),
        ("scratch", "50Gi"),
        ("scratch", "/x:big"),
        ("scratch", "/x:1Gi:fast"),
        ("claim", "/x"),
        ("select", "disk"),
        ("select", "di sk=x"),
        ("tolerate", "x:Never"),
        ("secrets", "A=secret"),
        ("secrets", "9A=secret/key"),
        ("secrets", "secret/key"),
        ("token", "secret"),
        ("env", "A B=1"),
        ("env", "A"),
        ("accelerator", "a/b/c d"),
        ("user", "root"),
        ("host_network", "perhaps"),
        ("time", "soon"),
        ("ttl", True),
        ("namespace", "UPPER"),
        ("account", "a b"),
        ("server", "a\nb"),
    ],
)
def test_a_wrong_value_says_what_it_takes(key: str, value: Any) -> None:
    with pytest.raises(UsageError) as error:
        merge({key: value})
    assert error.value.hint


def test_a_volume_without_a_path_is_told_how_volumes_are_written() -> None:
    with pytest.raises(UsageError) as caught:
        merge({"volumes": "data"})
    assert "CLAIM:/PATH" in caught.value.hint

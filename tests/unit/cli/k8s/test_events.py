"""What the cluster says, in the order in which it happened."""

from __future__ import annotations

from paddock.cli.k8s.events import order


def test_an_event_with_microseconds_comes_after_one_of_the_same_second_that_has_none() -> None:
    made = {"lastTimestamp": "2026-11-18T21:20:22Z"}
    tried = {"eventTime": "2026-11-18T21:20:22.565266Z"}
    later = {"metadata": {"creationTimestamp": "2026-11-18T21:20:23Z"}}
    assert sorted([later, tried, made], key=order) == [made, tried, later]

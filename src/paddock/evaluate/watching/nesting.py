"""Which of the directories to be watched lie inside of others, and are watched with them already. Pure."""

from __future__ import annotations

from collections.abc import Mapping


def inner(roots: Mapping[str, str]) -> dict[str, str]:
    """The names of those that lie inside of another, each with the name of that one; `roots`: by the place that each
    really is. What is hidden is not looked into from outside, so it counts by itself."""
    found = {}
    for place, name in roots.items():
        ends = (at for at, letter in enumerate(place) if letter == "/" and at)
        for outer in ("/", *(place[:at] for at in ends)):  # the outermost first, which is in none itself
            below = place[len(outer.rstrip("/")) + 1 :]
            if outer in roots and outer != place and not any(part.startswith(".") for part in below.split("/")):
                found[name] = roots[outer]
                break
    return found

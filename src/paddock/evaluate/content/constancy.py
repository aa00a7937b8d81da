"""A checkpoint stays what was seen: by being kept, or by being looked at again, for it may change under our eyes."""

from __future__ import annotations

import os
from collections.abc import Callable

from paddock.evaluate.completeness.settling import mark_of
from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.origin.look import Look
from paddock.evaluate.origin.place import Origin


def has_content(origin: Origin, here: Look, pinned: str, content: str) -> bool:
    """Whether what we have kept, or else what is there, is what we have seen."""
    if pinned:
        kept = origin.look(pinned)
        return kept is not None and fingerprint(kept) == content
    again = origin.look(here.path)
    return again is not None and mark_of(again) == mark_of(here)


def kept(origin: Origin, here: Look, name: str, say: Callable[[str], None]) -> str:
    """Where its content stays; "" when it does not."""
    try:
        return origin.pin(here, name)
    except FileNotFoundError:
        return ""  # it was deleted just now
    except OSError as error:
        say(
            f"{os.path.dirname(here.path)}: what is deleted there before it is evaluated will be missed,"
            f" because hard links cannot be made ({error.strerror})"
        )
        return ""

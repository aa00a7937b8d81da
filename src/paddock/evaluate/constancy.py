"""Whether a checkpoint is still what was seen: it may change under our eyes."""

from __future__ import annotations

from paddock.evaluate.fingerprint import fingerprint
from paddock.evaluate.look import Look
from paddock.evaluate.origin import Origin
from paddock.evaluate.settling import mark_of


def has_content(origin: Origin, here: Look, pinned: str, content: str) -> bool:
    """Whether what we have kept, or else what is there, is what we have seen."""
    if pinned:
        kept = origin.look(pinned)
        return kept is not None and fingerprint(kept) == content
    again = origin.look(here.path)
    return again is not None and mark_of(again) == mark_of(here)

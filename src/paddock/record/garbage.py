"""What no run refers to any more: found with a grace period, removed without a lock."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from paddock import files
from paddock.errors import Damaged
from paddock.record.layout import Home
from paddock.record.manifest import manifest_path, referenced_objects
from paddock.record.objects import (
    DIGEST,
    GRACE_SECONDS,
    all_objects,
    is_older,
    object_path,
    put_back_leftovers,
    stale_asides,
    take_away,
)


class Garbage(msgspec.Struct, frozen=True):
    """What no run refers to, and what stood in the way of knowing."""

    manifests: list[str]  # digests
    objects: list[str]  # digests
    asides: list[str]  # paths of what killed writers left
    bytes: int
    damaged: list[str]  # snapshots in use that cannot be read: no object is garbage while their lists are unknown
    grace: float


def unreferenced(home: Home, used: Iterable[str], *, grace: float = GRACE_SECONDS) -> Garbage:
    """What could be removed when `used` are all the digests (of snapshots and of diffs) that runs refer to.

    Nothing younger than `grace` seconds counts: a run that is starting now may be about to refer to it
    (and does not make what it finds look fresh more often than once an hour, so `grace` should be longer than that).
    """
    keep = set(used)
    manifests, size, damaged = [], 0, []
    put_back_leftovers(str(home.code))
    for entry in list(files.entries(home.code)):
        digest = entry.name.removesuffix(".json")
        if not entry.name.endswith(".json") or not DIGEST.fullmatch(digest):
            continue
        if digest not in keep and is_older(entry.path, grace):
            manifests.append(digest)
            size += entry.stat().st_size
            continue
        try:
            keep |= referenced_objects(home, digest)
        except Damaged:
            damaged.append(digest)
    objects = []
    for digest, entry in all_objects(home) if not damaged else ():
        if digest not in keep and is_older(entry.path, grace):
            objects.append(digest)
            size += entry.stat().st_size
    asides = stale_asides(home, grace)
    return Garbage(sorted(manifests), sorted(objects), asides, size, sorted(damaged), grace)


def remove(home: Home, garbage: Garbage) -> int:
    """Remove it, except what was put again meanwhile; returns the bytes that came free."""
    # Manifests first: an object must not go while a manifest that lists it could still come back into use.
    freed = sum(take_away(manifest_path(home, digest), garbage.grace) for digest in garbage.manifests)
    freed += sum(take_away(object_path(home, digest), garbage.grace) for digest in garbage.objects)
    return freed + sum(take_away(path, garbage.grace) for path in garbage.asides)

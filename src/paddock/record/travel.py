"""A code snapshot that is elsewhere: brought into this home, whole or not at all.

Who brings the bytes (a server, a bucket) is not believed: every object and the manifest are checked against their
names. The manifest comes last, so that one that is there is whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from paddock import files, wire
from paddock.errors import Damaged
from paddock.record.layout import Home
from paddock.record.manifest import manifest_path, read_manifest
from paddock.record.objects import digest_of, has_object, object_path, place, sync_all, sync_path

Bring = Callable[[list[str]], Iterable[tuple[str, bytes]]]  # digests of objects -> each with its bytes, in any order


def has_snapshot(home: Home, digest: str) -> bool:
    return os.path.isfile(manifest_path(home, digest))


def receive(home: Home, digest: str, manifest: Callable[[], bytes], bring: Bring) -> None:
    """Have the snapshot here. Damaged, with a sentence, when what came is not what was asked for."""
    if has_snapshot(home, digest):
        return
    data = manifest()
    if digest_of(data) != digest:
        raise Damaged(f"The code snapshot {digest[:12]} came damaged.", hint="Submit the task anew.")
    missing = [one for one in _objects(data, digest) if not has_object(home, one)]
    for name, content in bring(missing):
        if digest_of(content) != name:
            raise Damaged(f"A file of the code snapshot {digest[:12]} came damaged ({name[:12]}).")
        place(object_path(home, name), content)
    lacking = [one for one in missing if not has_object(home, one)]
    if lacking:
        raise Damaged(f"{len(lacking)} files of the code snapshot {digest[:12]} are not there.", hint="Submit anew.")
    sync_all(home, missing)
    path = manifest_path(home, digest)
    place(path, data)
    sync_path(path)
    files.sync_directory(home.code)


def contents(home: Home, digest: str) -> Iterator[str]:
    """The objects of a snapshot that is here, by digest."""
    listed = read_manifest(home, digest)
    yield from sorted({entry["digest"] for entry in listed.values() if "digest" in entry})


def _objects(data: bytes, digest: str) -> list[str]:
    try:
        listed = wire.loads(data)["files"]
        return sorted({entry["digest"] for entry in listed.values() if "digest" in entry})
    except (wire.DecodeError, KeyError, TypeError, AttributeError):
        raise Damaged(f"The code snapshot {digest[:12]} cannot be read.") from None

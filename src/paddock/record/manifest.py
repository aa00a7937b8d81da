"""Code snapshots: a manifest names each file of a snapshot and the object that holds its content.

    {"files":{"train.py":{"digest":"9f..","mode":"644","size":812},"latest":{"link":"train.py"}},"v":1}

The manifest's digest is the SHA-256 of its bytes, its keys are sorted: equal code has an equal digest, so runs of the
same code share everything. A name that is not UTF-8 is kept as readable text, with its true bytes in `raw` (hex).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from paddock import files, wire
from paddock.errors import Damaged
from paddock.record.layout import Home
from paddock.record.objects import DIGEST, digest_of, is_kept, object_path, place, sync_path

FORMAT = 1
Entry = dict[str, Any]
Files = dict[str, Entry]


def text_path(path: str) -> str:
    """A path as text that JSON and a terminal can hold, whatever bytes its name is made of."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # text that never was a name: a surrogate that stands for no byte
        return wire.text(path)


def file_entry(path: str, digest: str, size: int, executable: bool) -> Entry:
    return {"digest": digest, "mode": "755" if executable else "644", "size": size, **_raw("raw", path)}


def link_entry(path: str, target: str) -> Entry:
    return {"link": text_path(target), **_raw("raw", path), **_raw("link_raw", target)}


def _raw(key: str, path: str) -> dict[str, str]:
    return {} if text_path(path) == path else {key: os.fsencode(path).hex()}


def real_path(text: str, entry: Entry, *, link: bool = False) -> str:
    """The path (or the link's target) as the filesystem knows it."""
    raw = entry.get("link_raw" if link else "raw")
    return os.fsdecode(bytes.fromhex(raw)) if raw else text


def stays_inside(path: str, target: str) -> bool:
    """Whether a link at `path` (below a root) with this target leads to a place below that root.

    Steps upwards count at the target's beginning only, where they leave real directories: behind a name that is itself
    a link, `..` leads who knows where.
    """
    if not target or "\0" in target or target.startswith("/"):
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    down = [index for index, part in enumerate(parts) if part != ".."]
    up = parts.count("..")
    return up <= path.count("/") and ".." not in parts[down[0] if down else len(parts) :]


def put_manifest(home: Home, entries: Mapping[str, Entry]) -> str:
    """Keep the list of a snapshot's files, keyed by their paths, and return its digest."""
    found: Files = {}
    for path in sorted(entries, key=lambda path: (text_path(path) != path, path)):
        name = text_path(path)
        while name in found:  # a name of odd bytes that reads like another file's: `raw` says what it really is
            name += "~"
        found[name] = entries[path]
    ordered = {name: dict(sorted(found[name].items())) for name in sorted(found)}
    data = wire.dumps({"files": ordered, "v": FORMAT})
    digest = digest_of(data)
    path = manifest_path(home, digest)
    if not is_kept(path, len(data)):
        place(path, data)
        sync_path(path)
        files.sync_directory(home.code)
    return digest


def manifest_path(home: Home, digest: str) -> str:
    object_path(home, digest)  # refuses what is no digest
    return f"{home.code}/{digest}.json"


def read_manifest(home: Home, digest: str) -> Files:
    """The files of a snapshot: {path: {"digest", "mode", "size"} or {"link"}}."""
    try:
        data = files.read_from(manifest_path(home, digest), 0)
    except FileNotFoundError:
        raise Damaged(
            f"The code snapshot {digest[:12]} is not in {home.code}.",
            hint="It was removed, or not copied with the run; copy code/ from where the run was made.",
        ) from None
    except OSError as error:
        raise Damaged(f"The code snapshot {digest[:12]} cannot be read ({error.strerror or error}).") from None
    broken = Damaged(
        f"The code snapshot {digest[:12]} in {home.code} is damaged.", hint="Restore it from a copy of the home."
    )
    if digest_of(data) != digest:
        raise broken
    try:
        found = wire.loads(data)["files"]
    except (wire.DecodeError, KeyError, TypeError):
        raise broken from None
    if not isinstance(found, dict) or not all(_is_entry(entry) for entry in found.values()):
        raise broken
    return found


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(k, ""), str) for k in ("raw", "link_raw", "mode")):
        return False
    if "link" in entry:
        return isinstance(entry["link"], str)
    return isinstance(entry.get("digest"), str) and DIGEST.fullmatch(entry["digest"]) is not None


def referenced_objects(home: Home, digest: str) -> set[str]:
    """The objects that a snapshot is made of."""
    return {entry["digest"] for entry in read_manifest(home, digest).values() if "digest" in entry}

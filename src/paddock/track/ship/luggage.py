"""Code that a run refers to: the snapshot's objects, then its manifest, so that a manifest that is there is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from paddock import wire
from paddock.errors import PaddockError
from paddock.record.layout import Home
from paddock.record.manifest import manifest_path, read_manifest
from paddock.record.objects import DIGEST, object_path
from paddock.track.ship.source import Found

_CODE = b'{"k":"code"'


def of_facts(facts: Any) -> list[str]:
    """The digests in run.json, or in a `code` record."""
    code = facts.get("code") if isinstance(facts, dict) else None
    if not isinstance(code, dict):
        return []
    git = code.get("git")
    found = [code.get("snapshot"), git.get("diff") if isinstance(git, dict) else None]
    return [digest for digest in found if isinstance(digest, str) and DIGEST.fullmatch(digest)]


def of_lines(data: bytes) -> list[str]:
    """The digests in a stretch of a journal; hardly any has one."""
    if _CODE not in data:
        return []
    records = (wire.read_line(line) for line in data.split(b"\n") if line.startswith(_CODE))
    return [digest for record in records for digest in of_facts(record)]


def object_of(home: Home, digest: str) -> Found | None:
    """The object, or the manifest, of this digest; None when it is not there."""
    for path, name in (
        (object_path(home, digest), f"code/objects/{digest[:2]}/{digest[2:]}"),
        (manifest_path(home, digest), f"code/{digest}.json"),
    ):
        try:
            return Found(name, path, os.stat(path).st_size)
        except OSError:
            continue
    return None


def objects_of(home: Home, manifest: Found) -> Iterator[Found]:
    try:
        listed = read_manifest(home, os.path.basename(manifest.path).removesuffix(".json"))
    except PaddockError:
        return
    for digest in sorted({entry["digest"] for entry in listed.values() if "digest" in entry}):
        found = object_of(home, digest)
        if found is not None:
            yield found


def digest_of(found: Found) -> str:
    return found.path.removeprefix("code/objects/").replace("/", "")

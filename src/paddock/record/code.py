"""The code store of a home: objects by content, snapshots that list them, and what is done with both.

code/objects/<2 hex>/<62 hex>   one file's content, named by its SHA-256      objects.py
code/<digest>.json              one snapshot: paths, modes, links             manifest.py
"""

from __future__ import annotations

from paddock.record.codediff import FileDiff, diff
from paddock.record.garbage import Garbage, remove, unreferenced
from paddock.record.manifest import put_manifest, read_manifest, referenced_objects
from paddock.record.objects import get_object, has_object, put_object
from paddock.record.restore import restore

__all__ = [
    "FileDiff",
    "Garbage",
    "diff",
    "get_object",
    "has_object",
    "put_manifest",
    "put_object",
    "read_manifest",
    "referenced_objects",
    "remove",
    "restore",
    "unreferenced",
]

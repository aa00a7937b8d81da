"""What tells one content of a checkpoint from another, without reading gigabytes.

An archive lists a checksum of each of its entries: the list tells the content, wherever the file is and whatever it is
called. For all else the file itself is the content: its inode, size and time of change. So a hard or soft link to a
known checkpoint is known, and a file that was written over is new.
"""

from __future__ import annotations

from hashlib import blake2b

from paddock.evaluate.formats import archive
from paddock.evaluate.look import Look


def fingerprint(look: Look) -> str:
    """The same text for the same content. Only for what is complete: a half-written file has another one."""
    if not look.is_directory:
        return _of_file(look, "")
    digest = blake2b(digest_size=16)
    for name in sorted(look.files):
        digest.update(f"{name}\0{_of_file(look, name)}\n".encode("utf-8", "surrogateescape"))
    return f"tree:{digest.hexdigest()}"


def _of_file(look: Look, name: str) -> str:
    entry = look.files[name]
    if archive.is_archive(look, name):
        found = archive.digest(look, name)
        if found:
            return f"zip:{entry.size}:{found}"
    return f"file:{entry.size}:{entry.inode}:{entry.mtime}"

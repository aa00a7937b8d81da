"""What tells one content of a checkpoint from another, without reading gigabytes.

An archive lists a checksum of each of its entries, an object store says itself what an object contains, and a small
file is read: these tell the content, wherever it is and whatever it is called. Of a large file its size, its time of
change and samples of its bytes are taken. So a link to a known checkpoint is known, and so is a copy that kept the time
of change; a file that was written over is new.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b

from paddock.evaluate.formats import archive
from paddock.evaluate.formats.remarks import is_remark
from paddock.evaluate.origin.look import Look

SMALL = 4 << 20  # bytes that are read in a few milliseconds
_SAMPLES, _SAMPLE_BYTES = 8, 4096


def fingerprint(look: Look, names: Collection[str] | None = None) -> str:
    """The same text for the same content. Only for what is complete: a half-written file has another one. `names`: of
    a directory only these count."""
    if not look.is_directory:
        return _of_file(look, "")
    counting = [name for name in look.files if names is None or name in names]
    weights = [name for name in counting if not is_remark(name)]
    digest = blake2b(digest_size=16)
    for name in sorted(weights or counting):
        digest.update(f"{name}\0{_of_file(look, name)}\n".encode("utf-8", "surrogateescape"))
    return f"tree:{digest.hexdigest()}"


def _of_file(look: Look, name: str) -> str:
    entry = look.files[name]
    if identity := look.identity(name):
        return f"object:{entry.size}:{identity}"
    if archive.is_archive(look, name) and (found := archive.digest(look, name)):
        return f"zip:{found}"  # with the size of each entry; that of the whole depends on its name
    if entry.size <= SMALL:
        return f"bytes:{entry.size}:{_digest(look.read(name, 0, SMALL + 1))}"
    steps = range(0, entry.size - _SAMPLE_BYTES + 1, (entry.size - _SAMPLE_BYTES) // (_SAMPLES - 1))
    samples = b"".join(look.read(name, at, _SAMPLE_BYTES) for at in steps)
    return f"file:{entry.size}:{entry.mtime}:{_digest(samples)}"


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()

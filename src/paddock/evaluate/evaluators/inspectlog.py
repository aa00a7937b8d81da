"""The log of inspect as it writes it by default: a zip archive, whose entries newer versions compress with zstd. Python
reads that itself from 3.14 on; before, `zstandard` does, which inspect has installed where it runs."""

from __future__ import annotations

import importlib
import io
import struct
import zipfile
from pathlib import Path

from paddock.errors import UsageError

ENDING = ".eval"
_HEADER = "header.json"  # what has no samples in it, written last
_ZSTD = 93
_LOCAL = 30  # bytes before the name, the extra field and the data of an entry


def header(path: Path) -> bytes:
    """KeyError or BadZipFile while it is written, and of one whose writer was killed."""
    with zipfile.ZipFile(path) as log:
        about = log.getinfo(_HEADER)
        return _unpacked(path, about) if about.compress_type == _ZSTD else log.read(about)


def _unpacked(path: Path, about: zipfile.ZipInfo) -> bytes:
    with open(path, "rb") as file:
        file.seek(about.header_offset)
        name, extra = struct.unpack("<26xHH", file.read(_LOCAL))
        file.seek(name + extra, io.SEEK_CUR)
        raw = file.read(about.compress_size)
    try:
        return bytes(importlib.import_module("compression.zstd").decompress(raw))
    except ModuleNotFoundError:
        pass
    try:
        library = importlib.import_module("zstandard")
    except ModuleNotFoundError:
        raise UsageError(
            f"{path} cannot be read: its log is compressed with zstd.",
            hint="pip install zstandard, beside paddock, or have inspect write JSON: --log-format json.",
        ) from None
    with library.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True) as stream:
        return bytes(stream.read())

"""safetensors: eight bytes say how long the header is, and the header says where the last tensor ends."""

from __future__ import annotations

from paddock import wire
from paddock.evaluate.formats.judgement import Judgement, complete, partial
from paddock.evaluate.origin.look import Look

_MOST_HEADER = 100 << 20  # bytes, as in the format's own library


def judge(look: Look, name: str = "") -> Judgement:
    shown, size = name or look.name, look.files[name].size
    head = look.read(name, 0, 8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or not 2 <= length <= _MOST_HEADER:
        return partial(f"{shown} has no header yet")
    try:
        header = wire.decode(look.read(name, 8, length))
        ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
        expected = 8 + length + max(ends, default=0)
    except (wire.DecodeError, TypeError, KeyError, AttributeError, IndexError, UnicodeDecodeError):
        return partial(f"the header of {shown} is not whole yet")
    if size != expected:
        return partial(f"{shown} has {size:,} of {expected:,} bytes")
    return complete("every tensor of the header is there")

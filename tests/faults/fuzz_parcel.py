"""python -m tests.faults.fuzz_parcel -runs=N: atheris looks for bytes that a server's decoders do not expect."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports():
    from paddock.track.ship import names, parcel

from paddock.errors import UsageError


def once(data: bytes) -> None:
    try:
        header, pieces = parcel.decode(data)
        assert [part.size for part in header.parts] == [len(piece) for piece in pieces]
        assert all(names.place(part.path) is not None for part in header.parts)
    except UsageError:
        pass
    try:
        parcel.inflated(data)
    except UsageError:
        pass
    found = names.place(data.decode("latin-1"))
    if found is not None:
        assert ".." not in found.parts and "" not in found.parts and found.parts[0] in ("runs", "code", "artifacts")


if __name__ == "__main__":
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()

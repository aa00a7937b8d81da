"""Putting into the run's directory what people said of it at the server. Nothing that is there is changed, but for the
wish to stop, of which the last one holds."""

from __future__ import annotations

import os
import re

from paddock import files, wire
from paddock.record.layout import RunDirectory
from paddock.record.stop import NAME as STOP
from paddock.track.ship.parcel import Brought

_ANNOTATION = re.compile(r"journal/([A-Za-z0-9][\w.~@+=,-]{0,199}\.jsonl)", re.ASCII)


def put(directory: RunDirectory, found: list[Brought]) -> None:
    for one in found:
        data = one.text.encode("utf-8")
        if one.path == STOP:
            _put_stop(directory, data)
        elif match := _ANNOTATION.fullmatch(one.path):
            first = wire.read_line(data.partition(b"\n")[0])
            if isinstance(first, dict) and first.get("k") == "open" and first.get("role") == "annotation":
                path = directory.journals / match[1]
                if not path.exists():
                    _write(path, data, one.private)


def _put_stop(directory: RunDirectory, data: bytes) -> None:
    path = directory.path / STOP
    try:
        if isinstance(wire.loads(data), dict) and (not path.exists() or path.read_bytes() != data):
            files.replace(path, data)
    except (wire.DecodeError, OSError):
        return


def _write(path: os.PathLike[str], data: bytes, private: bool) -> None:
    """Whole or absent: who waits for an answer reads each file once."""
    directory, name = os.path.split(path)
    aside = f"{directory}/.{name}.{os.urandom(6).hex()}.tmp"
    descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600 if private else 0o644)
    try:
        files.write_all(descriptor, data)
    finally:
        os.close(descriptor)
    os.rename(aside, path)

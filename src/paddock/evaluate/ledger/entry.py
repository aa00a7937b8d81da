"""An entry of the ledger: a checkpoint that was found, and what became of it, as values and as bytes."""

from __future__ import annotations

import os
from typing import Any, TypeVar
from urllib.parse import quote, unquote_to_bytes

import msgspec

from paddock import wire

T = TypeVar("T")
BEFORE = "it was there before"  # why a checkpoint was passed over
DONE, FAILED, MISSED, VOID, SKIPPED = "done", "failed", "missed", "void", "skipped"
_BYTES = "bytes:"  # how a path begins here that is not UTF-8


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that is to be evaluated."""

    key: str
    evaluator: str  # its name
    call: dict[str, Any]  # how it is called: {"function": "file.py:fn"} or {"command": "..."}
    path: str
    fingerprint: str
    step: int | None = None
    place: int | None = None  # the step at which its scores go when it has none
    run: str = ""  # the training run
    pin: str = ""  # a link to its content
    download: bool = True  # from an object store, so that the evaluator has a file
    by: str = ""  # who found it: a process
    queue: str = ""  # where its task is
    found: float = 0.0

    @property
    def task(self) -> str:
        return self.task_of(self.key)

    @staticmethod
    def task_of(key: str) -> str:
        return f"eval-{key}"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    state: str
    reason: str = ""
    values: dict[str, Any] = {}
    started: float = 0.0  # when the evaluator was called
    ended: float = 0.0


def encode(finding: Finding) -> bytes:
    try:
        return wire.encode(finding)
    except UnicodeEncodeError:
        return wire.encode(msgspec.structs.replace(finding, path=_text(finding.path), pin=_text(finding.pin)))


def decode_finding(raw: bytes) -> Finding | None:
    """None when somebody has edited it."""
    found = _decoded(raw, Finding)
    if found is None or not found.path.startswith(_BYTES):
        return found
    return msgspec.structs.replace(found, path=_path(found.path), pin=_path(found.pin))


def decode_result(raw: bytes) -> Result | None:
    return _decoded(raw, Result)


def _text(path: str) -> str:
    """Of a path whose bytes are no UTF-8, from which they can be had again."""
    return _BYTES + quote(os.fsencode(path))


def _path(text: str) -> str:
    return os.fsdecode(unquote_to_bytes(text.removeprefix(_BYTES)))


def _decoded(raw: bytes, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(wire.loads(raw), kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # somebody has edited it
        return None

"""Which files of a home can be sent, and how each travels. Pure: a path in, a place or nothing out.

A path is relative to the home, its odd bytes percent-encoded (once, and decoded once). Whatever does not have one of
these shapes does not exist for a server: no dots, no links upwards, no names that begin with one of ours for files that
are being written.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

from paddock.record.layout import ID_PATTERN

FACTS = "facts"  # run.json: written once
STREAM = "stream"  # grows at its end, byte for byte
WHOLE = "whole"  # replaced as one piece
OBJECT = "object"  # named by its content
ENTRY = "entry"  # of an artifact's shelf, numbered by each home for itself

LONGEST_PATH = 4096  # bytes
_DEEPEST = 64  # directories
_JOURNAL = re.compile(r"[A-Za-z0-9][\w.~@+=,-]{0,199}\.jsonl", re.ASCII)
_OUTPUT = re.compile(r"[A-Za-z0-9][\w.~@+=,-]{0,199}\.log", re.ASCII)
_MANIFEST = re.compile(r"[0-9a-f]{64}\.json")
_HALF, _REST = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{62}")
_ARTIFACT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VERSION = re.compile(r"(v|again)\d{1,9}\.json", re.ASCII)
_ASIDE = re.compile(r"\..+\.([0-9a-f]{8}|[0-9a-f]{12})\.tmp", re.DOTALL)
_SAFE = "/~@+=,"


class Place(NamedTuple):
    kind: str
    parts: tuple[str, ...]  # below the home
    run: str = ""
    digest: str = ""  # of an object, which its name says

    @property
    def path(self) -> str:
        return "/".join(self.parts)


def encoded(path: str) -> str:
    """A path for the wire, whatever bytes its name is made of."""
    return quote_from_bytes(os.fsencode(path), _SAFE)


def place(text: str) -> Place | None:
    """What a path from the wire means; None when it is none of ours."""
    if not text or len(text) > 3 * LONGEST_PATH or not text.isascii():
        return None
    if "%" in text:
        text = os.fsdecode(unquote_to_bytes(text))
    if "\0" in text or len(text) > LONGEST_PATH:
        return None
    parts = tuple(text.split("/"))
    if any(part in ("", ".", "..") for part in parts) or any(len(os.fsencode(part)) > 255 for part in parts):
        return None
    if parts[0] == "runs" and len(parts) > 2 and ID_PATTERN.fullmatch(parts[1]):
        kind = _of_run(parts[2:])
        return Place(kind, parts, parts[1]) if kind else None
    if parts[0] == "code":
        digest = _digest(parts[1:])
        return Place(OBJECT, parts, digest=digest) if digest else None
    if parts[0] == "artifacts" and len(parts) == 3 and _ARTIFACT.fullmatch(parts[1]) and _VERSION.fullmatch(parts[2]):
        return Place(ENTRY, parts)
    return None


def _of_run(parts: tuple[str, ...]) -> str:
    match parts:
        case ("run.json",):
            return FACTS
        case ("journal" | "logs", name) if _JOURNAL.fullmatch(name):
            return STREAM
        case ("output", name) if _OUTPUT.fullmatch(name):
            return STREAM
        case ("files", *below) if 0 < len(below) <= _DEEPEST and not _ASIDE.fullmatch(below[-1]):
            return WHOLE
    return ""


def _digest(parts: tuple[str, ...]) -> str:
    match parts:
        case (name,) if _MANIFEST.fullmatch(name):
            return name.removesuffix(".json")
        case ("objects", half, rest) if _HALF.fullmatch(half) and _REST.fullmatch(rest):
            return half + rest
    return ""


def numbered(path: str, number: int) -> str:
    """The name under which a stream is kept whose own is taken by other bytes: journal/w.jsonl -> journal/w~1.jsonl"""
    if not number:
        return path
    stem, dot, suffix = path.rpartition(".")
    return f"{stem}~{number}{dot}{suffix}"

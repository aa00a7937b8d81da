"""kubectl's configuration, read without kubectl, which takes longer to start than all the rest. Pure.

Only what kubectl and those who write for it produce is understood: mappings and lists by indentation, and plain or
quoted texts of one line; or JSON. Of anything else `Unread` says so, and kubectl itself is asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from paddock import wire

_ENTRY = re.compile(r"""(?P<key>[A-Za-z0-9_][A-Za-z0-9_./@:-]*?|"[^"\\]*"|'[^']*')[ ]*:(?:[ ]+(?P<value>\S.*))?""")
_PLAIN = re.compile(r"(?:[A-Za-z0-9_./+=~]|-(?=\S))(?:[^#:\n]|:(?=\S)|(?<=\S)#)*")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "{}": {}, "[]": [], '""': "", "''": ""}
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


class Unread(Exception):
    """It may well be right, but we do not know how to read it."""


def read(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return wire.loads(text)
        except wire.DecodeError:
            raise Unread from None
    if "\t" in text:
        raise Unread
    lines = [_split(line) for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if lines and lines[0] == (0, "---"):
        del lines[0]
    found, at = _block(lines, 0, lines[0][0]) if lines else ({}, 0)
    if at != len(lines):
        raise Unread
    return found


def chosen(config: Any, context: str, directory: str) -> dict[str, Any]:
    """What it says of one context, or of its own choice, in the form of `kubectl config view --minify`. Files that it
    names lie beside it."""
    if not isinstance(config, Mapping):
        raise Unread
    about = _named(config, "contexts", context or config.get("current-context"))
    inner = about.get("context") or {}
    cluster = _named(config, "clusters", inner.get("cluster"))
    user = _named(config, "users", inner.get("user")) if inner.get("user") else {"user": {}}
    for kind, one in (("cluster", cluster), ("user", user)):
        found = one.get(kind)
        if not isinstance(found, Mapping):
            raise Unread
        placed = {key: os.path.join(directory, found[key]) for key in _FILES if found.get(key)}
        one[kind] = {**found, **placed}
    return {"contexts": [about], "clusters": [cluster], "users": [user]}


def _named(config: Mapping[str, Any], kind: str, name: Any) -> dict[str, Any]:
    try:
        found = [one for one in config[kind] if one["name"] == name]
        return dict(found[0])
    except (KeyError, TypeError, IndexError, ValueError):
        raise Unread from None


def _split(line: str) -> tuple[int, str]:
    content = line.lstrip(" ")
    return len(line) - len(content), content.rstrip()


def _block(lines: list[tuple[int, str]], at: int, indent: int) -> tuple[Any, int]:
    """The mapping or list that begins there, and where it ends."""
    return _list(lines, at, indent) if _is_item(lines[at][1]) else _mapping(lines, at, indent)


def _is_item(content: str) -> bool:
    return content == "-" or content.startswith("- ")


def _mapping(lines: list[tuple[int, str]], at: int, indent: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(lines) and lines[at][0] == indent and not _is_item(lines[at][1]):
        entry = _ENTRY.fullmatch(lines[at][1])
        if entry is None:
            raise Unread
        key = entry["key"].strip("\"'")
        if key in found:
            raise Unread
        at += 1
        if entry["value"] is not None:
            found[key] = _scalar(entry["value"])
        elif at < len(lines) and (lines[at][0] > indent or (lines[at][0] == indent and _is_item(lines[at][1]))):
            found[key], at = _block(lines, at, lines[at][0])
        else:
            found[key] = None
    if at < len(lines) and lines[at][0] > indent:
        raise Unread  # a text that goes on
    return found, at


def _list(lines: list[tuple[int, str]], at: int, indent: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while at < len(lines) and lines[at][0] == indent and _is_item(lines[at][1]):
        content = lines[at][1][1:].lstrip(" ")
        if not content:
            raise Unread
        if _ENTRY.fullmatch(content) or _is_item(content):
            lines[at] = (indent + len(lines[at][1]) - len(content), content)
            one, at = _block(lines, at, lines[at][0])
        else:
            one, at = _scalar(content), at + 1
        found.append(one)
    if at < len(lines) and lines[at][0] > indent:
        raise Unread
    return found, at


def _scalar(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[0] == '"':
        try:
            return str(wire.loads(text))
        except wire.DecodeError:
            raise Unread from None
    if re.fullmatch(r"'(?:[^']|'')*'", text):
        return text[1:-1].replace("''", "'")
    if not _PLAIN.fullmatch(text):
        raise Unread
    return text.rstrip()

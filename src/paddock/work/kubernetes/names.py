"""Names and labels that Kubernetes takes, for ids that people chose. Pure."""

from __future__ import annotations

import re
from hashlib import blake2b

_LONGEST_NAME = 52  # of a Job: its pods' names add eleven characters to it, and 63 are allowed
_LONGEST_LABEL = 63
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


def name(*parts: str) -> str:
    """An RFC 1123 label. What had to be changed for it is told from its like by a few digits at the end."""
    text = "-".join(part for part in parts if part)
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if slug == text and len(slug) <= _LONGEST_NAME:
        return slug
    mark = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{slug[: _LONGEST_NAME - 9].strip('-') or 'task'}-{mark}"


def label(text: str) -> str:
    """A value of a label: the text itself where that can be."""
    if len(text) <= _LONGEST_LABEL and _LABEL.fullmatch(text):
        return text
    mark = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", text)[: _LONGEST_LABEL - 9].strip("-._")
    return f"{slug}-{mark}" if slug else mark


def is_name(text: str, longest: int = 253) -> bool:
    """Of an object: labels with dots between them."""
    return 0 < len(text) <= longest and all(_NAME.fullmatch(part) for part in text.split("."))


def is_label(text: str) -> bool:
    return text == "" or (len(text) <= _LONGEST_LABEL and _LABEL.fullmatch(text) is not None)


def is_key(text: str) -> bool:
    """Of a label or a resource: name, or domain/name."""
    domain, slash, last = text.rpartition("/")
    return (is_name(domain) if slash else True) and len(last) <= _LONGEST_LABEL and _LABEL.fullmatch(last) is not None

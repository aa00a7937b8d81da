"""The files of the built board, read once, with their compressed twins; nothing beside them is served."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

STATIC = Path(__file__).with_name("static")
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class File:
    kind: str
    body: bytes
    gzipped: bytes | None
    tag: str


@dataclass(frozen=True)
class Bundle:
    """`page` is None when the board was never built; `assets` are named by a digest of what is in them."""

    page: File | None
    assets: dict[str, File]


def read(directory: Path = STATIC) -> Bundle:
    """By names that are there: a name in a request is looked up, never opened."""
    assets = directory / "assets"
    found = {path.name: _file(path) for path in sorted(assets.glob("*")) if path.suffix in KINDS}
    page = directory / "index.html"
    return Bundle(_file(page) if page.is_file() else None, found)


def _file(path: Path) -> File:
    twin = path.with_name(path.name + ".gz")
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    return File(KINDS[path.suffix], body, twin.read_bytes() if twin.is_file() else None, tag)

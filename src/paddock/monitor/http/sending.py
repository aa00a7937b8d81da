"""A file as an answer: whole or a range of it, read as fast as it is taken."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import quote

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from paddock.monitor.http import failure

PIECE = 256 << 10
_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")
# What a browser may show by itself; anything else could be a program, and is only ever saved.
SHOWN = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".txt": "text/plain; charset=utf-8",
    ".log": "text/plain; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
}


class Span(NamedTuple):
    start: int
    end: int  # behind the last byte


def asked_range(header: str, size: int) -> Span | str | None:
    """A part, None for the whole, "" for what is not there. Several ranges at once are answered with the whole."""
    found = _RANGE.fullmatch(header.strip())
    if not found or (not found[1] and not found[2]):
        return None
    if not found[1]:
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(size, int(found[2]) + 1) if found[2] else size
    if found[1] and found[2] and int(found[2]) < int(found[1]):
        return None
    return Span(start, end) if start < end else ""


class Opened:
    """A descriptor that is closed when nobody needs it any more: an answer may never be begun."""

    def __init__(self, descriptor: int) -> None:
        self.fd = descriptor

    def __del__(self) -> None:
        os.close(self.fd)


def file_response(request: Request, opened: Opened, name: str) -> Response:
    status = os.fstat(opened.fd)
    size = status.st_size
    tag = f'"{status.st_ino:x}-{status.st_mtime_ns:x}-{size:x}"'
    kind = SHOWN.get(os.path.splitext(name)[1].lower(), "application/octet-stream")
    how = "inline" if kind != "application/octet-stream" else "attachment"
    headers = {
        "etag": tag,
        "last-modified": formatdate(status.st_mtime, usegmt=True),
        "accept-ranges": "bytes",
        "content-disposition": f"{how}; filename*=UTF-8''{quote(name, safe='')}",
        "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    }
    said = request.headers.get("if-none-match", "")
    if tag in (one.strip().removeprefix("W/") for one in said.split(",")):
        return Response(status_code=304, headers=headers)
    whole = Span(0, size)
    conditional = request.headers.get("if-range", tag) == tag
    part = asked_range(request.headers.get("range", ""), size) if conditional else None
    if part == "":
        body = failure.envelope("The file is shorter than that.", f"It has {size} bytes.", "NotFound")
        return Response(body, 416, {"content-range": f"bytes */{size}"}, "application/json")
    span = part if isinstance(part, Span) else whole
    headers["content-length"] = str(span.end - span.start)
    if isinstance(part, Span):
        headers["content-range"] = f"bytes {span.start}-{span.end - 1}/{size}"
    if request.method == "HEAD":
        return Response(status_code=206 if part else 200, headers=headers, media_type=kind)
    pieces = _pieces(opened, span)
    return StreamingResponse(pieces, 206 if part else 200, headers, kind)


async def _pieces(opened: Opened, span: Span) -> AsyncIterator[bytes]:
    at = span.start
    while at < span.end:
        data = await to_thread.run_sync(os.pread, opened.fd, min(PIECE, span.end - at), at)
        if not data:
            return  # it was cut off under us: the client sees that it got less than it was promised
        at += len(data)
        yield data

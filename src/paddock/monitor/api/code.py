"""The code that a run was made with: its commit, what was not committed, and the files of its snapshot."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from paddock.errors import Damaged, NotFound
from paddock.monitor.house import Found
from paddock.monitor.http.route import Call, Route
from paddock.record.code import get_object, read_manifest

MOST_FILES = 10_000
MOST_BYTES = 2 << 20  # of one text


class CodeFile(Struct, frozen=True):
    """A file of the snapshot; a link has no size."""

    path: str
    size: int | None
    executable: bool
    link: str | None


class Code(Struct, frozen=True):
    """`commit` and the others are empty where there was no git. `diff`: something was not committed, and is kept.
    `more`: the snapshot has other files, which are not listed. `trouble`: why it has none here."""

    commit: str
    branch: str
    remote: str
    dirty: bool
    diff: bool
    untracked: list[str]
    root: str
    script: str
    snapshot: str
    files: list[CodeFile]
    more: bool
    trouble: str


class CodeText(Struct, frozen=True):
    """`text` is null of what is no text; `cut`: there is more of it."""

    path: str
    size: int
    text: str | None
    cut: bool


class FileParams(Struct, frozen=True):
    path: Annotated[str, Meta(description="As the list of the files has it.", max_length=10_000)]


def code(call: Call) -> Code:
    found, about = _about(call)
    git = _mapping(about.get("git"))
    snapshot = found.entry.row.code or _text(about.get("snapshot"))
    entries: dict[str, Any] = {}
    trouble = "" if snapshot else "No code was kept with this run."
    if snapshot:
        try:
            entries = read_manifest(found.home, snapshot)
        except Damaged as error:
            trouble = error.message
    untracked = git.get("untracked")
    return Code(
        found.entry.row.commit or _text(git.get("commit")),
        _text(git.get("branch")),
        _text(git.get("remote")),
        bool(git.get("dirty")),
        bool(git.get("diff")),
        [str(path) for path in untracked] if isinstance(untracked, list) else [],
        _text(about.get("root")),
        _text(about.get("script")),
        snapshot,
        [_file(path, entries[path]) for path in sorted(entries)[:MOST_FILES]],
        len(entries) > MOST_FILES,
        trouble,
    )


def diff(call: Call) -> CodeText:
    found, about = _about(call)
    digest = _text(_mapping(about.get("git")).get("diff"))
    if not digest:
        raise NotFound("Nothing that was not committed is kept with this run.")
    return _told("diff", get_object(found.home, digest))


def file(call: Call) -> CodeText:
    found, about = _about(call)
    snapshot = found.entry.row.code or _text(about.get("snapshot"))
    entry = read_manifest(found.home, snapshot).get(call.params.path) if snapshot else None
    if entry is None:
        raise NotFound("The code of this run has no such file.", hint="The list of its files has their paths.")
    if "link" in entry:
        return CodeText(call.params.path, 0, f"a link to {entry['link']}\n", False)
    return _told(call.params.path, get_object(found.home, entry["digest"]))


def _about(call: Call) -> tuple[Found, dict[str, Any]]:
    """The run, and the last that was said of its code: it may have been captured after run.json was written."""
    call.house.fresh()
    found = call.house.find(call.path["run"])
    catalog, run_id = call.house.catalog(found.home), found.entry.row.id
    later = [_mapping(record.get("code")) for record in catalog.records(run_id, ("code",))]
    return found, later[-1] if later and later[-1] else _mapping(catalog.facts(run_id).get("code"))


def _file(path: str, entry: dict[str, Any]) -> CodeFile:
    size = entry.get("size")
    return CodeFile(path, size if isinstance(size, int) else None, entry.get("mode") == "755", entry.get("link"))


def _told(path: str, data: bytes) -> CodeText:
    if b"\0" in data[:8192]:
        return CodeText(path, len(data), None, False)
    return CodeText(path, len(data), data[:MOST_BYTES].decode("utf-8", "replace"), len(data) > MOST_BYTES)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


ROUTES = [
    Route("GET", "/api/v1/runs/{run}/code", code, "The code of a run: commit and files.", answer=Code),
    Route("GET", "/api/v1/runs/{run}/code/diff", diff, "What was not committed.", answer=CodeText),
    Route("GET", "/api/v1/runs/{run}/code/file", file, "A file of a run's code.", FileParams, answer=CodeText),
]

"""What a run said: what it printed, by offset, and what its processes logged, by place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from paddock.compare.patterns import Pattern, check_pattern
from paddock.compare.view import output_file, output_files
from paddock.errors import NotFound, UsageError
from paddock.model import LogLine
from paddock.monitor.house import Found
from paddock.monitor.http.route import Call, Route
from paddock.record import lines as lines_
from paddock.record import printed

PAGE_BYTES = 64 << 10
MOST_BYTES = 4 << 20
SEARCHED_BYTES = 64 << 20  # at a time
LONGEST = 500  # letters of a line that was found
_MATCH = "A regular expression. With two of * and + it looks at the first 1,000 letters of a text, with three at 177."
Offset = Annotated[int, Meta(ge=0, le=2**62)]


class Output(Struct, frozen=True):
    """One output file of a run."""

    attempt: int
    rank: int
    size: int


class Outputs(Struct, frozen=True):
    outputs: list[Output]


class OutputParams(Struct, frozen=True):
    attempt: Annotated[Offset | None, Meta(description="Of this attempt instead of the last.")] = None
    rank: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    after: Annotated[Offset | None, Meta(description="From this offset on.")] = None
    before: Annotated[Offset | None, Meta(description="What ends at this offset.")] = None
    lines: Annotated[int, Meta(description="Else the last so many lines.", ge=1, le=100_000)] = 200
    limit: Annotated[int, Meta(description="Bytes, at most.", ge=1, le=MOST_BYTES)] = PAGE_BYTES
    raw: Annotated[bool, Meta(description="With control sequences, and lines that were drawn over.")] = False


class Printed(Struct, frozen=True):
    """What was printed from `start` to `end` of a file of `size` bytes."""

    attempt: int
    rank: int
    size: int
    start: int
    end: int
    lines: list[str]


class SearchParams(Struct, frozen=True):
    text: Annotated[str, Meta(description="What to look for; large and small letters are the same.", min_length=1)]
    attempt: Annotated[Offset | None, Meta(description="Of this attempt instead of the last.")] = None
    rank: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    after: Annotated[Offset, Meta(description="From this offset on.")] = 0
    limit: Annotated[int, Meta(description="Lines, at most.", ge=1, le=10_000)] = 1000


class Hit(Struct, frozen=True):
    """A line, and the offset at which it begins."""

    start: int
    line: str


class Searched(Struct, frozen=True):
    """`next` is the `after` of the next page; null when the end of the file was reached."""

    attempt: int
    rank: int
    hits: list[Hit]
    next: int | None


class LinesParams(Struct, frozen=True):
    after: Annotated[str | None, Meta(description="An `end` of an earlier page: what came since.")] = None
    before: Annotated[str | None, Meta(description="A `start` of an earlier page: what came before.")] = None
    since: Annotated[float | None, Meta(description="From this time on, in seconds since 1970.")] = None
    level: Annotated[str, Meta(description="This level and above: a number, or INFO, WARNING, ...")] = "0"
    logger: Annotated[str, Meta(description="This logger and those below it.")] = ""
    host: str = ""
    writer: Annotated[str, Meta(description="This process.")] = ""
    match: Annotated[str, Meta(description=_MATCH, max_length=500)] = ""
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 200


class Lines(Struct, frozen=True):
    """Log lines of all processes of a run in the order of time. `start` and `end` are places, for `before` and
    `after`; `more`: there is more in the direction that was read."""

    lines: list[LogLine]
    start: str
    end: str
    more: bool
    damaged: int


def _run(call: Call) -> Found:
    call.house.fresh()
    return call.house.find(call.path["run"])


def outputs(call: Call) -> Outputs:
    found = output_files(_run(call).directory.path)
    return Outputs([Output(attempt, rank, _size(path)) for (attempt, rank), path in found.items()])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def output(call: Call) -> Printed:
    params = call.params
    if params.after is not None and params.before is not None:
        raise UsageError("A page is either before a place or after one.", hint="Give one of after and before.")
    path, attempt = _output(call, params.attempt, params.rank)
    if params.after is not None:
        page = printed.after(path, params.after, params.limit)
    elif params.before is not None:
        page = printed.before(path, params.before, params.limit)
    else:
        page = printed.last(path, params.lines, params.limit)
    text = page.data.decode("utf-8", "replace")
    lines = text.removesuffix("\n").split("\n") if text else []
    shown = lines if params.raw else [printed.clean_line(line, False) for line in lines]
    return Printed(attempt, params.rank, page.size, page.start, page.end, shown)


def _output(call: Call, attempt: int | None, rank: int) -> tuple[Path, int]:
    """An output file, and of which attempt it is."""
    directory = _run(call).directory.path
    path = output_file(directory, attempt, rank)
    if path is None:
        known = ", ".join(f"attempt {attempt} rank {rank}" for attempt, rank in output_files(directory))
        raise NotFound("The run has no output of this attempt and rank.", hint=f"There is: {known or 'none'}.")
    return path, next(key[0] for key, value in output_files(directory).items() if value == path)


def search(call: Call) -> Searched:
    params = call.params
    path, attempt = _output(call, params.attempt, params.rank)
    hits, further = printed.search(path, params.text.encode(), params.after, params.limit, SEARCHED_BYTES)
    shown = [Hit(hit.start, printed.clean_line(hit.line.decode("utf-8", "replace"), False)[:LONGEST]) for hit in hits]
    return Searched(attempt, params.rank, shown, further)


def lines(call: Call) -> Lines:
    params = call.params
    given = [name for name in ("after", "before", "since") if getattr(params, name) is not None]
    if len(given) > 1:
        raise UsageError(
            f"{given[0]} and {given[1]} say different things.", hint="Give one of after, before and since."
        )
    directory = _run(call).directory.logs
    pattern = _pattern(params.match)
    match = lines_.Match(
        lines_.level_number(params.level),
        params.logger,
        params.host,
        params.writer,
        pattern and pattern.regex,
        pattern and pattern.reach,
    )
    if params.since is not None:
        page = lines_.after(directory, lines_.at(directory, params.since), params.limit, match)
    elif params.after is not None:
        page = lines_.after(directory, lines_.cursor_of(params.after), params.limit, match)
    elif params.before is not None:
        page = lines_.before(directory, lines_.cursor_of(params.before), params.limit, match)
    else:
        page = lines_.tail(directory, params.limit, match)
    start, end = lines_.cursor_text(page.start), lines_.cursor_text(page.end)
    return Lines(page.lines, start, end, page.more, page.damaged)


def _pattern(text: str) -> Pattern | None:
    if not text:
        return None
    try:
        return check_pattern(text)
    except ValueError as error:
        raise UsageError(f"{text!r} cannot be used: what is wanted is {error}.") from None


ROUTES = [
    Route("GET", "/api/v1/runs/{run}/outputs", outputs, "The output files of a run.", answer=Outputs),
    Route(
        "GET", "/api/v1/runs/{run}/output", output, "What a run printed, page by page.", OutputParams, answer=Printed
    ),
    Route(
        "GET",
        "/api/v1/runs/{run}/output/search",
        search,
        "Lines that a run printed and that have a text.",
        SearchParams,
        answer=Searched,
    ),
    Route("GET", "/api/v1/runs/{run}/lines", lines, "What the processes of a run logged.", LinesParams, answer=Lines),
]

"""Log lines, page by page."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from paddock import wire
from paddock.errors import UsageError
from paddock.record import lines
from paddock.record.lines import Match


def write(path: Path, times: list[float], **more: object) -> None:
    path.parent.mkdir(exist_ok=True)
    opened = {"k": "open", "v": 1, "t": 0.0, "host": f"host-{path.stem}", "pid": 7, "rank": 2}
    records = [
        {"k": "line", "t": t, "level": 10 * (1 + i % 5), "logger": "a.b", "text": f"{path.stem}-{i}", **more}
        for i, t in enumerate(times)
    ]
    path.write_bytes(b"".join(map(wire.record_line, [opened, *records])))


@pytest.fixture
def three(tmp_path: Path) -> tuple[Path, list[tuple[float, str]]]:
    logs, expected = tmp_path / "logs", []
    noise = random.Random(3)
    for name, count in (("x", 5000), ("y", 300), ("z", 1)):
        times = sorted(noise.uniform(0, 1000) for _ in range(count))
        write(logs / f"{name}.jsonl", times)
        expected += [(t, f"{name}-{i}") for i, t in enumerate(times)]
    return logs, sorted(expected)


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_pages_in_both_directions_are_all_lines_in_the_order_of_time(three, size: int) -> None:
    logs, expected = three
    count = 50 if size == 1 else len(expected)
    back: list[str] = []
    page = lines.tail(logs, size)
    while page.lines and len(back) < count:
        back = [line.text for line in page.lines] + back
        page = lines.before(logs, page.start, size)
    assert back == [text for _, text in expected][-count:]
    forth: list[str] = []
    page = lines.after(logs, {}, size)
    while page.lines and len(forth) < count:
        forth += [line.text for line in page.lines]
        page = lines.after(logs, page.end, size)
    assert forth == [text for _, text in expected][:count]


def test_one_can_turn_round_at_any_page(three) -> None:
    logs, expected = three
    page = lines.before(logs, lines.tail(logs, 1000).start, 10)
    again = lines.after(logs, page.start, 10)
    assert [line.text for line in again.lines] == [line.text for line in page.lines]
    assert [line.text for line in page.lines] == [text for _, text in expected][-1010:-1000]


def test_any_time_can_be_gone_to(three) -> None:
    logs, expected = three
    for t in (-1.0, 0.0, 333.3, 999.0, 2000.0):
        found = lines.after(logs, lines.at(logs, t), 5).lines
        assert [line.text for line in found] == [text for when, text in expected if when >= t][:5]


def test_lines_know_where_they_come_from(three) -> None:
    line = lines.after(three[0], {}, 1).lines[0]
    assert (line.host, line.pid, line.rank, line.writer) == (f"host-{line.writer}", 7, 2, line.writer)
    (again,) = lines.after(three[0], {"x": 1 << 40, "y": 1 << 40, "z": 1 << 40} | {line.writer: line.offset}, 1).lines
    assert again == line


@pytest.mark.parametrize(
    ("match", "wanted"),
    [
        (Match(level=50), lambda i, name: i % 5 == 4),
        (Match(host="host-y"), lambda i, name: name == "y"),
        (Match(pattern=re.compile(r"-29\d$")), lambda i, name: 290 <= i <= 299),
        (Match(logger="a"), lambda i, name: True),
        (Match(logger="b"), lambda i, name: False),
    ],
)
def test_only_what_is_wanted(three, match: Match, wanted) -> None:
    logs, expected = three
    found = [line.text for line in lines.tail(logs, 100_000, match).lines]
    every = [text for _, text in expected]
    assert found == [text for text in every if wanted(int(text[2:]), text[0])]


def test_a_search_that_finds_little_stops_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    write(logs / "w.jsonl", [float(i) for i in range(2000)])
    monkeypatch.setattr(lines, "SCAN_BYTES", 10_000)
    match, found, calls = Match(pattern=re.compile("w-3$")), [], 0
    page = lines.tail(logs, 10, match)
    while True:
        calls, found = calls + 1, [line.text for line in page.lines] + found
        if not page.more:
            break
        page = lines.before(logs, page.start, 10, match)
    assert found == ["w-3"] and calls > 5


def test_damage_costs_the_damaged_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "w.jsonl"
    write(path, [float(i) for i in range(10)])
    whole = path.read_bytes().split(b"\n")
    whole[3] = whole[3].replace(b"w-2", b"w-X")
    whole[5] = b"\0" * 40
    path.write_bytes(b"\n".join(whole[:-1]) + b'\n{"k":"line","t":1')
    page = lines.tail(tmp_path / "logs", 100)
    assert [line.text for line in page.lines] == [f"w-{i}" for i in (0, 1, 3, 5, 6, 7, 8, 9)]
    assert page.damaged == 2 and not page.more
    with open(path, "ab") as file:
        file.write(b"...")
    assert lines.after(tmp_path / "logs", page.end, 5).lines == []


def test_lines_of_any_length(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "w.jsonl"
    write(path, [1.0, 2.0], trace="t" * 3_000_000)
    page = lines.tail(tmp_path / "logs", 1)
    assert page.lines[0].text == "w-1" and len(page.lines[0].trace) == 3_000_000
    assert [line.text for line in lines.before(tmp_path / "logs", page.start, 5).lines] == ["w-0"]
    assert [line.text for line in lines.after(tmp_path / "logs", {}, 5).lines] == ["w-0", "w-1"]


def test_what_is_written_meanwhile_comes_next_also_in_new_files(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    assert lines.tail(logs, 5) == lines.Page([], {}, {}, False)
    write(logs / "a.jsonl", [1.0])
    end = lines.tail(logs, 5).end
    with open(logs / "a.jsonl", "ab") as file:
        file.write(wire.record_line({"k": "line", "t": 3.0, "level": 20, "logger": "", "text": "later"}))
    write(logs / "b.jsonl", [2.0])
    assert [line.text for line in lines.after(logs, end, 5).lines] == ["b-0", "later"]


def test_a_place_is_a_word_and_nonsense_is_refused() -> None:
    place = {"node-1-ab": 12, "node-2-cd": 0}
    assert lines.cursor_of(lines.cursor_text(place)) == place
    assert lines.cursor_of("") == {}
    for text in ("x", ":1", "a:b", "a:-1", "a:1,b", "a:" + "9" * 30):
        with pytest.raises(UsageError):
            lines.cursor_of(text)
    assert lines.level_number("warn") == 30 and lines.level_number("15") == 15
    with pytest.raises(UsageError, match="no level"):
        lines.level_number("loud")

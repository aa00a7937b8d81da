"""Usage of many processes: on one axis, stacked, drawn; whatever the journals hold."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import wire
from paddock.compare.text import width
from paddock.compare.usage.axis import elapsed, time_ticks, value_ticks
from paddock.compare.usage.grid import Grid
from paddock.compare.usage.metrics import METRICS, chosen, shown
from paddock.compare.usage.now import latest
from paddock.compare.usage.page import page
from paddock.compare.usage.report import Report, layers, read
from paddock.compare.usage.sketch import Frame, axis, checkpoints, legend, sketch
from paddock.compare.usage.svg import svg
from paddock.errors import UsageError

T0 = 1_794_900_000.0
CPU_MEMORY = [metric for metric in METRICS if metric.name in ("cpu", "memory")]


def journal(run: Path, pid: int, *records: dict[str, Any], writer: str = "", **about: Any) -> Path:
    (run / "journal").mkdir(parents=True, exist_ok=True)
    opened = {
        "k": "open",
        "v": 1,
        "t": T0,
        "host": "node1",
        "pid": pid,
        "start": str(pid),
        "role": "main",
        "attempt": 1,
    }
    path = run / "journal" / f"{writer or pid}.jsonl"
    path.write_bytes(b"".join(wire.record_line(record) for record in [{**opened, **about}, *records]))
    return path


def batch(end: float, values: list[tuple[float, float]], every: float = 1.0, **more: Any) -> dict[str, Any]:
    """A record of samples (cpu, rss), the last of them at T0 + end."""
    rows = [[round(-1000 * every * (len(values) - 1 - i)), *value] for i, value in enumerate(values)]
    return {"k": "usage", "t": T0 + end, "every": every, "columns": ["ms", "cpu", "rss"], "rows": rows, **more}


def mark(at: float, *words: Any) -> dict[str, Any]:
    return {"k": "usage_mark", "t": T0 + at, "msg": list(words)}


def draw_all(report: Report) -> None:
    metrics = chosen((), report.has)
    bands = layers(report, metrics)
    ElementTree.fromstring(svg(report, metrics, bands))
    assert page(report, metrics, bands).endswith("</html>\n")
    for colour in (False, True):
        frame = Frame(80, 8, colour)
        lines = [line for metric in metrics for line in sketch(report, metric, bands[metric.name], frame)]
        lines += axis(report, frame) + legend(bands[metrics[0].name], 80)
        assert max(sum(width(text) for text, _ in line) for line in lines) <= 80
        checkpoints(report, frame)


def test_processes_are_put_on_one_axis_and_stacked(tmp_path: Path) -> None:
    journal(tmp_path, 1, batch(10, [(100.0, 50)] * 10), rank=0)
    journal(tmp_path, 2, batch(10, [(50.0, 100)] * 5), rank=1)  # it came later
    report = read(tmp_path)
    assert [process.label for process in report.processes] == ["rank 0 1", "rank 1 2"]
    total = report.total("cpu")
    assert total[0] == pytest.approx(100) and total[-1] == pytest.approx(150)
    assert report.processes[1].began == T0 + 5 and report.processes[1].ended == T0 + 10
    assert report.processes[0].means["cpu"] == pytest.approx(100) and report.processes[1].peaks["memory"] == 100
    draw_all(report)


@given(
    st.lists(
        st.tuples(st.integers(0, 20_000), st.lists(st.floats(0, 400), min_size=1, max_size=20)), min_size=1, max_size=20
    ),
    st.integers(2, 50),
)
def test_whatever_the_width_of_the_bins_nothing_is_lost_and_nothing_counted_twice(
    batches: list[tuple[int, list[float]]], limit: int
) -> None:
    grid, expected, seconds = Grid(["cpu"], limit), 0.0, set[int]()
    for key, (start, values) in enumerate(batches):  # each of a process of its own
        grid.add(key, [T0 + start + i + 1 for i in range(len(values))], 1.0, [values])
        expected += sum(values)
        seconds.update(range(start, start + len(values)))
    assert grid.end - grid.begin <= limit
    drawn = 0.0
    for key in grid.lines:
        means = grid.means(key, 0)
        drawn += sum(mean * grid._covered(at) for mean, at in zip(means, range(grid.begin, grid.end), strict=True))
    assert drawn == pytest.approx(expected)
    assert sum(line.integrals[0] for line in grid.lines.values()) == pytest.approx(expected)


def test_samples_of_one_process_in_two_journals_all_count_and_an_overlap_counts_once(tmp_path: Path) -> None:
    journal(tmp_path, 1, batch(20, [(10.0, 5)] * 10), writer="a")
    journal(tmp_path, 1, batch(10, [(30.0, 5)] * 10), batch(10.5, [(30.0, 5)]), writer="b")
    (process,) = read(tmp_path).processes
    assert (process.began, process.ended) == (T0, T0 + 20)
    assert process.means["cpu"] == pytest.approx((10 * 10 + 30 * 10.5) / 20.5)


def test_coarse_samples_fill_the_time_that_they_tell_of(tmp_path: Path) -> None:
    journal(tmp_path, 1, batch(120, [(10.0, 5)] * 2, every=60.0), batch(130, [(20.0, 5)] * 10))
    series = read(tmp_path).processes[0].series["cpu"]
    assert min(series) == pytest.approx(10) and max(series) == pytest.approx(20)


def test_a_sample_that_came_late_leaves_no_hole_and_a_long_silence_does() -> None:
    grid = Grid(["memory"])
    grid.add("a", [T0 + 1, T0 + 2.4, T0 + 3.9, T0 + 20], 1.0, [[5.0] * 4])
    means = grid.means("a", 0)
    seconds = [means[round(at / grid.width)] for at in (0.5, 1.2, 2.7, 3.8, 10, 18, 19.5)]
    assert seconds == pytest.approx([5, 5, 5, 5, 0, 0, 5])


def test_a_value_that_nobody_knew_for_a_moment_has_stayed_what_it_was() -> None:
    grid = Grid(["gpu_memory"])
    known = [512.0, None, None, 512.0, None, None, None, None, 512.0]
    grid.add("p", [T0 + at for at in range(1, 10)], 1.0, [known])
    grid.add("q", [T0 + at for at in range(1, 10)], 1.0, [[None] * 9])
    means = grid.means("p", 0)
    seconds = [round(sum(means[8 * at : 8 * at + 8]) / 8) for at in range(9)]
    assert seconds == [512] * 7 + [0, 512]
    assert not any(grid.means("q", 0))


def test_the_same_checkpoint_of_many_ranks_is_one(tmp_path: Path) -> None:
    for rank in range(3):
        marks = [mark(epoch * 10 + rank / 10, "epoch", epoch) for epoch in range(2)] + [
            mark(15, "same"),
            mark(16, "same"),
        ]
        journal(tmp_path, rank + 1, batch(20, [(1.0, 1)] * 20), *marks, rank=rank)
    found = read(tmp_path).checkpoints
    assert [(one.text, one.times, one.time - T0) for one in found] == [
        *[("epoch 0", 3, 0.0), ("epoch 1", 3, 10.0), ("same", 3, 15.0), ("same", 3, 16.0)],
    ]


def test_the_same_checkpoint_of_processes_that_come_after_each_other_is_not(tmp_path: Path) -> None:
    for number in range(6):  # two at a time, as a pool has them
        at = 30 * (number // 2) + number / 10
        journal(tmp_path, number + 1, batch(at + 10, [(1.0, 1)] * 10), mark(at, "begin"), role="child")
    found = read(tmp_path).checkpoints
    assert [(one.times, round(one.time - T0)) for one in found] == [(2, 0), (2, 30), (2, 60)]


def test_the_same_checkpoint_of_another_attempt_is_not(tmp_path: Path) -> None:
    for attempt in (1, 2):
        for rank in range(2):
            at = 100 * attempt + rank
            about = {"rank": rank, "attempt": attempt}
            journal(tmp_path, 10 * attempt + rank, batch(at + 5, [(1.0, 1)] * 5), mark(at, "epoch 0"), **about)
    journal(tmp_path, 5, batch(300, [(1.0, 1)] * 200), mark(150, "loop"), mark(150.5, "loop"), role="child")
    found = read(tmp_path).checkpoints
    assert [(one.text, one.times, one.time - T0) for one in found] == [
        *[("epoch 0", 2, 100.0), ("loop", 1, 150.0), ("loop", 1, 150.5), ("epoch 0", 2, 200.0)],
    ]


def test_what_the_worker_saw_counts_only_where_the_processes_did_not_tell(tmp_path: Path) -> None:
    journal(tmp_path, 9, batch(10, [(200.0, 9)], every=10.0, tree=True), role="supervisor")
    assert [process.label for process in read(tmp_path).processes] == ["all processes"]
    journal(tmp_path, 1, batch(10, [(100.0, 5)] * 10))
    assert [process.label for process in read(tmp_path).processes] == ["main 1"]
    journal(tmp_path, 8, batch(30, [(200.0, 9)], every=10.0, tree=True), role="supervisor", attempt=2)
    assert [process.label for process in read(tmp_path).processes] == [
        "main 1 (attempt 1)",
        "all processes (attempt 2)",
    ]


def test_of_many_processes_the_largest_are_shown_and_the_others_together(tmp_path: Path) -> None:
    for number in range(30):
        journal(tmp_path, 100 + number, batch(10, [(float(number), 10)] * 10), host=f"node{number % 2}")
    report = read(tmp_path)
    bands = layers(report, CPU_MEMORY)["cpu"]
    assert len(bands) == 12 and bands[-1].label == "19 others" and bands[0].label.startswith("main node")
    assert sum(band.values[0] for band in bands) == pytest.approx(report.total("cpu")[0])
    draw_all(report)


@pytest.mark.parametrize(
    "record",
    [
        {"k": "usage", "t": T0, "every": 1.0, "columns": ["ms", "cpu"], "rows": [[0, 1.0, 2.0]]},
        {"k": "usage", "t": T0, "every": 1.0, "columns": ["cpu"], "rows": [[1.0]]},
        {"k": "usage", "t": T0, "every": "x", "columns": ["ms"], "rows": [[0]]},
        {"k": "usage", "t": T0, "every": 1.0, "columns": ["ms", "cpu"], "rows": [[0, 1], [-5, 1]]},
        {"k": "usage", "t": T0, "every": 1.0, "columns": ["ms", "cpu"], "rows": [[1e300, 1]]},
        {"k": "usage", "t": T0, "every": 1.0, "columns": [["ms"], "cpu"], "rows": [[1, 1]]},
        {"k": "usage", "t": T0, "every": 1.0, "columns": "ms", "rows": []},
        {"k": "usage", "t": None, "every": 1.0, "columns": ["ms", "cpu"], "rows": [[0, 1]]},
        {"k": "usage_mark", "t": "now", "msg": ["x"]},
    ],
)
def test_a_record_that_cannot_be_is_counted_and_the_others_are_read(tmp_path: Path, record: dict[str, Any]) -> None:
    journal(tmp_path, 1, record, batch(10, [(1.0, 5)] * 10), mark(1, "here"))
    report = read(tmp_path)
    assert (report.damaged, len(report.processes), len(report.checkpoints)) == (1, 1, 1)


def test_values_that_cannot_be_are_unknown_and_times_far_apart_end_the_program_not(tmp_path: Path) -> None:
    odd = [[-3000, -5, "x"], [-2000, 10**30, None], [-1000, True, {}], [0, 7.0, 3]]
    journal(
        tmp_path, 1, batch(10, [(1.0, 5)]) | {"rows": odd}, batch(1e10, [(1.0, 5)], every=1e300), mark(-1e8, {"a": 1})
    )
    report = read(tmp_path)
    assert report.processes[0].peaks == {"cpu": 7.0, "memory": 5}
    draw_all(report)


def test_foreign_text_is_text(tmp_path: Path) -> None:
    nasty = "</title><script>alert(1)</script> [bold] \x1b]0;x\x07 & 100%"
    journal(tmp_path, 1, batch(10, [(1.0, 5)] * 10), mark(5, nasty), host="<b>&")
    journal(tmp_path, 2, batch(10, [(1.0, 5)] * 10), host=nasty)
    report = read(tmp_path, title=nasty)
    metrics = chosen((), report.has)
    for text in (svg(report, metrics, layers(report, metrics)), page(report, metrics, layers(report, metrics))):
        assert "<script>" not in text and "\x1b" not in text and "<b>" not in text
    draw_all(report)


def test_a_long_run_of_many_samples_needs_few_bins(tmp_path: Path) -> None:
    noise = random.Random(1)
    batches = [batch(10 + 10 * n, [(noise.uniform(0, 100), 1 << 30)] * 10) for n in range(2000)]
    batches[1000]["rows"][5][1] = 399.0
    journal(tmp_path, 1, *batches)
    report = read(tmp_path, points=200)
    assert 100 <= report.bins <= 200
    assert report.processes[0].peaks["cpu"] == 399.0  # a peak is told, however short


def test_the_last_sample_is_read_from_the_end_of_the_journal(tmp_path: Path) -> None:
    path = journal(tmp_path, 1, *(batch(10 * n, [(float(n % 400), n)] * 10) for n in range(1, 3001)))
    assert path.stat().st_size > 1 << 19
    (now,) = latest(tmp_path)
    assert (now.time, now.values) == (T0 + 30_000, {"cpu": 200.0, "rss": 3000})


def test_axes_have_round_numbers() -> None:
    assert value_ticks(261 << 20, "B").values == tuple(n * 100 * 2**20 for n in range(4))
    assert value_ticks(0, "%").top == 100 and value_ticks(3, "").values == (0, 1, 2, 3)
    assert value_ticks(1023.9, "B").top >= 1023.9
    assert time_ticks(3600) == tuple(600.0 * n for n in range(7)) and time_ticks(0.0)[0] == 0
    assert [elapsed(s) for s in (5, 65, 3605, 90_000)] == ["0:05", "1:05", "1:00:05", "1d 01:00"]
    assert (shown(1536, "B"), shown(99.6, "%"), shown(3 << 30, "B/s")) == ("1.5 KiB", "100 %", "3.0 GiB/s")


def test_a_metric_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'disk'") as caught:
        chosen(["disk"], lambda name: True)
    assert "gpu-memory" in caught.value.hint

"""What shares of progress come to, and how the index keeps them."""

from __future__ import annotations

import pytest

from paddock.catalog.progress import Share, by_info, by_now, gather, main_one, over, pace, take
from paddock.model import Progress


def share(writer: str = "w1", id: str = "w1.p1", **members: object) -> Share:
    return Share(id=id, writer=writer, **{"started": 1.0, "seen": 2.0, "total": 10, **members})  # type: ignore[arg-type]


def test_the_rate_is_that_of_recent_work_and_a_pause_does_not_count() -> None:
    steady = [(float(t), 10.0 * t) for t in range(10)]
    assert pace([steady]) == pytest.approx(10)
    paused = [*steady, *((t + 3600, done) for t, done in ((10.0, 100.0), (11.0, 110.0), (12.0, 120.0)))]
    assert pace([paused]) == pytest.approx(10)
    assert pace([steady, steady]) == pytest.approx(20)
    assert pace([[(0.0, 0.0)]]) is None and pace([]) is None
    assert pace([[(0.0, 0.0), (0.001, 1000.0)]]) is None  # too short to tell


def test_of_a_bar_that_stands_still_nobody_knows_when_it_is_done() -> None:
    (bar,) = gather([share(seen=100.0, done=5, samples=[(0.0, 0.0), (100.0, 5.0)])], {"w1"})
    assert bar.rate == pytest.approx(0.05) and bar.eta == pytest.approx(100)
    assert by_now(bar, 450.0) == bar  # it needs 20 s for one
    still = by_now(bar, 550.0)
    assert still.eta is None and still.rate is None and still.state == "running" and still.done == 5
    quick = by_now(gather([share(seen=1.0, done=5, samples=[(0.0, 0.0), (1.0, 5.0)])], {"w1"})[0], 30.0)
    assert quick.eta is not None, "a pause of half a minute is none"


def test_records_leave_few_samples_however_many_they_are() -> None:
    found = None
    for i in range(10_000):
        found = take(found, {"id": "w1.p1", "t": 1000 + i * 0.1, "done": i, "total": 10_000, "state": "running"}, "w1")
    assert found is not None and len(found.samples) <= 16 and found.done == 9999
    assert pace([found.samples]) == pytest.approx(10, rel=0.01)
    again = take(found, {"id": "w1.p1", "t": 3000.0, "done": 0, "state": "running"}, "w1")
    assert again is not None and again.samples == [(3000.0, 0.0)]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"id": 3, "done": 1},
        {"id": "a"},
        {"id": "a", "done": "x"},
        {"id": "a", "done": 2**80},
        {"id": "", "done": 1},
    ],
)
def test_nonsense_is_passed_over(record: dict[str, object]) -> None:
    assert take(None, record, "w1") is None


@pytest.mark.parametrize(
    ("shares", "living", "state"),
    [
        ([share()], {"w1"}, "running"),
        ([share()], set(), "lost"),
        ([share(state="done")], set(), "done"),
        ([share(state="failed")], {"w1"}, "failed"),
        ([share(state="done"), share("w2")], {"w2"}, "done"),  # who did a part does not say when it is over
        ([share(), share("w2")], {"w2"}, "lost"),
        ([share("w1", "shared.1.a", state="done"), share("w2", "shared.1.a")], {"w2"}, "running"),
        ([share("w1", "shared.1.a", state="done"), share("w2", "shared.1.a")], set(), "lost"),
        ([share("w1", "shared.1.a", state="done"), share("w2", "shared.1.a", state="failed")], set(), "failed"),
    ],
)
def test_the_state_is_that_of_those_who_began_it(shares: list[Share], living: set[str], state: str) -> None:
    (bar,) = gather(shares, living)
    assert bar.state == state


def test_what_is_lost_or_failed_is_never_whole() -> None:
    (bar,) = gather([share(done=10)], set())
    assert bar.fraction == 0.99
    (bar,) = gather([share(done=12, state="done")], set())
    assert bar.fraction == 1.0
    (bar,) = gather([share(done=0, total=0, state="done")], set())
    assert bar.fraction == 1.0


def test_a_bar_that_was_renamed_takes_its_parts_along() -> None:
    found = gather(
        [
            share("w1", "w1.p1", into="shared.1.a"),
            share("w3", "w1.p1", done=2),
            share("w1", "shared.1.a", done=3),
            share("w2", "shared.1.a", done=4),
        ],
        {"w1"},
    )
    assert [(bar.id, bar.done) for bar in found] == [("shared.1.a", 9)]


def test_a_listing_shows_the_outermost_that_runs_else_the_last() -> None:
    bars = gather([share(), share("w1", "w1.p2", started=3.0, seen=9.0, state="done")], {"w1"})
    assert main_one(bars) is bars[0]
    ended = [over(bar, "finished") for bar in bars]
    assert [bar.state for bar in ended] == ["lost", "done"] and main_one(ended) is ended[1]
    assert main_one([]) is None


def test_info_as_progress_ends_as_its_run() -> None:
    bar = by_info(0.5, 100.0, 150.0, ["w1"])
    assert isinstance(bar, Progress) and bar.rate == 0.01 and bar.eta == pytest.approx(50)
    assert over(bar, "finished").state == "done" and over(bar, "killed").state == "failed"
    assert by_info("much", 1.0, 2.0, []) is None and by_info(-1, 1.0, 2.0, []) is None
    percents = by_info(40, None, 2.0, [])
    assert percents is not None and percents.fraction == 0.4


def say(author, id: str, done: float, state: str = "running", **more: object) -> None:
    author.say(k="progress", id=id, total=100, done=done, msg=["m"], unit=None, state=state, parts=False, **more)


def test_an_index_that_grew_equals_one_that_was_rebuilt(field, catalog, opened) -> None:
    first, second = field.author("r1", "w1"), field.author("r1", "w2", role="child")
    for done in range(0, 100, 10):
        say(first, "w1.p1", done)
        catalog.refresh()
        say(second, "w1.p1", done / 10)
        catalog.refresh()
    say(first, "w1.p2", 5, "failed")
    say(first, "w1.p1", 91, "done")
    say(second, "w1.p1", 9)
    catalog.refresh()
    grown, row = catalog.progress("r1"), catalog.run("r1")
    catalog.close()
    assert catalog.path is not None
    for path in catalog.path.parent.glob(catalog.path.name + "*"):
        path.unlink()
    again = opened()
    again.refresh()
    assert again.progress("r1") == grown and again.run("r1").progress == row.progress
    assert [(bar.id, bar.done, bar.state) for bar in grown] == [("w1.p1", 100, "done"), ("w1.p2", 5, "failed")]


def test_a_run_that_is_removed_takes_its_bars_along(field, catalog, home) -> None:
    import shutil

    say(field.author("r1"), "w1.p1", 3)
    catalog.refresh()
    assert len(catalog.progress("r1")) == 1
    shutil.rmtree(home.runs / "r1")
    catalog.refresh()
    assert catalog.progress("r1") == []
    assert catalog._store.db.execute("SELECT count(*) FROM progress").fetchone() == (0,)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paddock.track.usage.ring import Ring


def test_a_short_wait_keeps_every_sample() -> None:
    ring = Ring(1.0, (True, False), fine=10, coarse=10)
    for second in range(10):
        ring.add([float(second), second, second])
    (stretch,) = ring.take()
    assert stretch.every == 1.0 and [row[0] for row in stretch.rows] == [*map(float, range(10))]
    assert ring.take() == []


@given(st.integers(0, 700), st.integers(1, 20), st.integers(2, 20))
def test_however_long_the_wait_memory_is_bounded_the_newest_are_whole_and_the_oldest_is_there(
    count: int, fine: int, coarse: int
) -> None:
    ring = Ring(1.0, (True, False), fine=fine, coarse=coarse)
    for second in range(count):
        ring.add([float(second), 10.0, second % 7])
        assert len(ring) <= fine + coarse
    stretches = ring.take()
    rows = [row for stretch in stretches for row in stretch.rows]
    times = [row[0] for row in rows]
    assert times == sorted(set(times)) and all(row[1] == 10.0 for row in rows)
    if count:
        assert times[-fine:] == [*map(float, range(count))][-fine:]
        assert times[0] - stretches[0].every < 0 <= times[0]
        assert max(row[2] for row in rows) == max(second % 7 for second in range(count))  # a peak is never averaged


def test_what_is_not_known_does_not_count_in_a_mean() -> None:
    ring = Ring(1.0, (True,), fine=1, coarse=2)
    for second, value in enumerate([None, 4.0, None, 8.0, None, None, None, None]):
        ring.add([float(second), value])
    values = [row[1] for stretch in ring.take() for row in stretch.rows]
    assert values[0] in (4.0, 6.0) and None in values

from __future__ import annotations

import multiprocessing

from paddock.gauge.host import ProcessorMeter


def test_the_first_look_at_the_processors_has_an_answer_and_so_has_one_right_after_it() -> None:
    meter = ProcessorMeter()
    first, second = meter.read(), meter.read()
    assert first is not None and 0 <= first <= 100 and second == first


def _spin() -> None:
    while True:
        pass


def test_a_processor_at_work_is_seen() -> None:
    process = multiprocessing.get_context("fork").Process(target=_spin, daemon=True)
    process.start()
    try:
        found = ProcessorMeter().read()
        assert found is not None and found > 0
    finally:
        process.kill()
        process.join()

from __future__ import annotations

import os
import threading
import time

from paddock.gauge.own import OwnMeter, transferred


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def test_a_process_sees_what_it_uses_itself() -> None:
    meter = OwnMeter()
    assert meter.columns[:4] == ("cpu", "rss", "shared", "threads")
    began = time.monotonic()  # not after: what the machine does in between is a part of what the meter sees
    before = dict(zip(meter.columns, meter.read(), strict=True))
    held = bytearray(b"x") * (64 << 20)
    burn(0.2)
    stop = threading.Event()
    threading.Thread(target=stop.wait).start()
    after = dict(zip(meter.columns, meter.read(), strict=True))
    took = time.monotonic() - began
    stop.set()
    meter.close()
    assert after["cpu"] is not None and 20 / took * 0.8 < after["cpu"] < 150
    assert after["rss"] - before["rss"] > 48 << 20  # type: ignore[operator]
    assert after["threads"] == before["threads"] + 1  # type: ignore[operator]
    assert len(held) == 64 << 20


def test_a_child_that_makes_its_own_meter_sees_itself_and_not_its_parent() -> None:
    held = bytearray(b"x") * (64 << 20)
    meter = OwnMeter()
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        meter.close()
        own = OwnMeter()
        burn(0.05)
        os.write(writing, b"%d" % (own.read()[0] or 0))
        os._exit(0)
    os.waitpid(pid, 0)
    assert int(os.read(reading, 100)) > 0
    os.close(reading)
    os.close(writing)
    meter.close()
    assert held


def test_disk_traffic_is_read_from_the_systems_words() -> None:
    text = b"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n"
    assert transferred(text) == (4096, 8192)
    assert transferred(b"") is None

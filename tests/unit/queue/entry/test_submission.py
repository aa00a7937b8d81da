"""What submission gives a task."""

from __future__ import annotations

import time

import pytest

from paddock.queue.entry.submission import new_task_id


def test_ids_sort_by_time_whatever_the_time_zone_of_who_submits(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles", "XYZ-13", "XYZ+11"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        ids.append(new_task_id())
    monkeypatch.undo()
    time.tzset()
    assert ids == sorted(ids)

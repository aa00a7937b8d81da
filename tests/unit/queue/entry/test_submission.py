"""What submission gives a task."""

from __future__ import annotations

import time

import pytest

from paddock.errors import UsageError
from paddock.queue.entry.submission import new_task_id, submit
from paddock.record.layout import Home


def test_ids_sort_by_time_whatever_the_time_zone_of_who_submits(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles", "XYZ-13", "XYZ+11"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        ids.append(new_task_id())
    monkeypatch.undo()
    time.tzset()
    assert ids == sorted(ids)


def test_a_list_of_words_is_refused_by_what_it_is(home: Home) -> None:
    with pytest.raises(UsageError, match=r"The command is a list\. It is a text: submit\(shlex\.join\(words\)\)\."):
        submit(["python", "train.py"], home=home)  # type: ignore[arg-type]

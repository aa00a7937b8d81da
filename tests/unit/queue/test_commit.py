from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.queue import commit


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[int]]:
    found = [os.open(tmp_path / str(n), os.O_CREAT | os.O_WRONLY) for n in range(20)]
    for descriptor in found:
        os.write(descriptor, b"x" * 600)
    yield found
    for descriptor in found:
        os.close(descriptor)


@pytest.mark.parametrize("count", [1, 3, 10, 20])
def test_any_number_of_files_is_brought_to_the_disk(count: int, files: list[int]) -> None:
    commit.sync(files[:count])


def test_what_cannot_be_synced_is_an_error_and_not_passed_over(files: list[int]) -> None:
    reader, writer = os.pipe()
    for some in ([writer], [*files, writer]):
        with pytest.raises(OSError):
            commit.sync(some)
    os.close(reader)
    os.close(writer)


def test_few_files_and_strange_filesystems_are_not_worth_all_that_is_on_a_disk(files: list[int]) -> None:
    assert not commit.sync_together(files[:2], 2)
    with open("/proc/self/status") as strange:
        assert not commit.sync_together([*files, strange.fileno()], 21)


def test_where_much_waits_for_the_disk_nobody_waits_for_all_of_it(
    files: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "_DIRTY_KB", -1)
    assert not commit.sync_together(files, 20)
    commit.sync(files)

"""An annotation is a journal of its own: nothing that was there before is touched."""

from __future__ import annotations

import pytest

from paddock.errors import HomeError, RunNotFound
from paddock.record.annotation import annotate
from paddock.record.layout import RunDirectory
from paddock.record.scan import journal_files, parse, read_journal


def test_each_annotation_is_one_journal_that_says_who_and_when(home):
    directory = RunDirectory(home.runs / "r1")
    directory.path.mkdir()
    names = {annotate(directory, {"k": "tag", "add": ["x"], "remove": []}) for _ in range(3)}
    files = journal_files(directory.journals)
    assert {file.writer for file in files} == names and len(names) == 3
    opened, tag, end = parse(read_journal(files[0])).records
    assert (opened["role"], opened["run"], end["k"]) == ("annotation", "r1", "end")
    assert tag["add"] == ["x"] and tag["t"] > 0


def test_a_run_that_is_not_there_is_not_made(home):
    with pytest.raises(RunNotFound):
        annotate(RunDirectory(home.runs / "never"), {"k": "star", "on": True})
    assert not (home.runs / "never").exists()


def test_a_directory_that_cannot_be_written_is_told(home):
    directory = RunDirectory(home.runs / "r1")
    directory.path.mkdir()
    directory.journals.write_text("a file in the way")
    with pytest.raises(HomeError, match="Nothing was written"):
        annotate(directory, {"k": "star", "on": True})

"""defaults < paddock.toml < environment < arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock import settings
from paddock.errors import UsageError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work" / "deep"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    return work


def test_later_sources_win_and_are_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.parent / "paddock.toml").write_text(
        'project = "file"\nbeat_seconds = 7\nlost_seconds = 40\n[[watch]]\ndir = "x"\n'
    )
    monkeypatch.setenv("PADDOCK_BEAT_SECONDS", "3")
    monkeypatch.setenv("PADDOCK_LOST_SECONDS", "30")
    found = settings.load(lost_seconds=25, mode=None)
    assert (found.project, found.beat_seconds, found.lost_seconds, found.mode) == ("file", 3.0, 25.0, "online")
    assert found.sources["project"].endswith("paddock.toml")
    assert [found.sources[n] for n in ("beat_seconds", "lost_seconds", "mode")] == [
        "environment",
        "argument",
        "default",
    ]


@pytest.mark.parametrize(("text", "value"), [("1", True), ("TRUE", True), ("off", False), ("", False)])
def test_truth_is_written_in_many_ways(place: Path, monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", text)
    assert settings.load().capture_code is value


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("beat_secs = 3", "Did you mean 'beat_seconds'"),
        ("zzz = 3", "doctor --settings"),
        ("beat_seconds = 'often'", "200ms, 90s, 1.5h"),
        ("beat_seconds = -1", "200ms, 90s, 1.5h"),
        ("capture_code = 'perhaps'", "true or false"),
        ("code_files = true", "a whole number"),
        ("beat_seconds = ", "not valid TOML"),
    ],
)
def test_a_wrong_setting_says_where_and_what(place: Path, toml: str, words: str) -> None:
    (place / "paddock.toml").write_text(toml)
    with pytest.raises(UsageError, match=words) as caught:
        settings.load()
    assert "paddock.toml" in str(caught.value)


def test_times_and_sizes_may_have_units(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "paddock.toml").write_text('lease_beat_seconds = "200ms"\npending_bytes = "64M"\n')
    monkeypatch.setenv("PADDOCK_LEASE_FENCE_SECONDS", "1h30m")
    found = settings.load(lost_seconds="1:30")
    assert (found.lease_beat_seconds, found.lease_fence_seconds, found.lost_seconds) == (0.2, 5400.0, 90.0)
    assert found.pending_bytes == 64 << 20


def test_windows_line_ends_are_fine(place: Path) -> None:
    (place / "paddock.toml").write_bytes(b'project = "x"\r\nmode = "disabled"\r\n')
    assert settings.load().mode == "disabled"

"""A dead process is shown as lost, a living one as running."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from paddock.catalog import writer
from paddock.catalog.catalog import Catalog
from paddock.catalog.liveness import Here, alive, final, note_gone, note_size
from paddock.catalog.packing import pack
from paddock.catalog.writer import Seen
from paddock.record import shipped
from paddock.record.process import oom_kills, start_ticks

NOW = Here(host="here", boot="b1", clock=1000.0, wall=50_000.0, lost_seconds=20.0, oom=3)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def of(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    return {"pid": process.pid, "start": start_ticks(process.pid)}


def test_a_living_process_runs_and_a_killed_one_is_lost_at_once(
    field: Any, catalog: Catalog, sleeper: subprocess.Popen[bytes]
) -> None:
    field.author("a1", **of(sleeper)).rows(("loss",), [[0, 0.5]])
    catalog.refresh()
    assert catalog.run("a1").state == "running"
    sleeper.send_signal(signal.SIGKILL)
    sleeper.wait()
    assert catalog.run("a1").state == "lost"  # judged when asked
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.state, catalog.writers("a1")[0].state) == ("lost", "lost")
    assert "no sign of life" in row.reason
    assert row.ended == row.seen


def test_a_zombie_is_dead(field: Any, catalog: Catalog, sleeper: subprocess.Popen[bytes]) -> None:
    field.author("a1", **of(sleeper))
    sleeper.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    catalog.refresh()
    assert catalog.run("a1").state == "lost"


def test_another_process_with_the_same_pid_does_not_count(field: Any, catalog: Catalog) -> None:
    field.author("a1", start="1")
    catalog.refresh()
    assert catalog.run("a1").state == "lost"


def test_a_process_from_before_the_last_boot_is_lost(field: Any, catalog: Catalog) -> None:
    field.author("a1", boot="another boot")
    catalog.refresh()
    assert catalog.run("a1").state == "lost"


def test_a_process_that_ended_itself_needs_no_pid(field: Any, catalog: Catalog) -> None:
    field.author("a1", pid=2**22 + 5, start="1").end(
        code=1, reason="exception", exception={"type": "E", "message": "m"}
    )
    catalog.refresh()
    row = catalog.run("a1")
    assert (row.state, row.reason) == ("failed", "E: m")


def test_a_death_while_memory_ran_out_is_named(field: Any, catalog: Catalog) -> None:
    kills = oom_kills()
    if kills < 0:
        pytest.skip("this kernel does not count out-of-memory kills")
    field.author("a1", start="1", oom=kills - 1)
    catalog.refresh()
    expected = "probably out of memory" if kills >= 1 else "no sign of life"
    assert catalog.run("a1").reason.startswith(expected)


def test_a_child_that_is_gone_does_not_keep_a_run_open(field: Any, catalog: Catalog) -> None:
    field.author("a1").end()
    field.author("a1", "w2", role="child", start="1")
    catalog.refresh()
    assert catalog.run("a1").state == "finished"
    assert [writer.state for writer in catalog.writers("a1")] == ["finished", "gone"]


def test_a_recent_journal_of_another_host_is_running(field: Any, catalog: Catalog) -> None:
    field.author("a1", host="far", boot="x").say(k="beat", n=1, oom=0)
    catalog.refresh()
    assert catalog.run("a1").state == "running"


def test_an_old_journal_of_another_host_is_lost_at_first_sight(field: Any, catalog: Catalog) -> None:
    author = field.author("a1", host="far", boot="x")
    lines = author.path.read_bytes()
    author.path.write_bytes(b"")
    author.journal.append({"k": "open", "t": 5.0, "role": "main", "host": "far", "boot": "x", "pid": 1, "attempt": 1})
    assert lines
    catalog.refresh()
    assert catalog.run("a1").state == "lost"
    author.say(k="beat", n=2, oom=0)
    catalog.refresh()
    assert catalog.run("a1").state == "running"


# The rest needs hours to pass, so it asks the decision itself.


def far(**known: Any) -> Seen:
    return Seen("w", host="far", boot="x", pid=7, opened=True, lines=1, **known)


def test_watched_from_here_only_our_own_clock_counts() -> None:
    seen = far(seen=10.0, size=100, changed=990.0, clock="b1")  # its own clock is hours behind
    note_size(seen, 120, NOW)
    assert alive(seen, NOW)
    assert alive(seen, NOW._replace(clock=1020.0))
    assert not alive(seen, NOW._replace(clock=1021.0))


def test_a_clock_ahead_of_ours_does_not_keep_it_alive() -> None:
    seen = far(seen=NOW.wall + 9999)
    note_size(seen, 100, NOW)
    assert alive(seen, NOW)
    assert not alive(seen, NOW._replace(clock=1021.0))


def test_growth_after_long_unwatched_hours_is_judged_by_its_own_time() -> None:
    seen = far(seen=NOW.wall - 3600, size=100, changed=10.0, clock="b1")
    note_size(seen, 200, NOW)
    assert not alive(seen, NOW)
    later = NOW._replace(clock=1005.0)
    note_size(seen, 210, later)
    assert alive(seen, later)


def test_after_our_own_reboot_it_is_judged_as_at_first_sight() -> None:
    seen = far(seen=NOW.wall - 5, size=100, changed=99_999.0, clock="an earlier boot")
    assert alive(seen, NOW)
    assert not alive(far(seen=NOW.wall - 500, size=100, changed=99_999.0, clock="an earlier boot"), NOW)


def test_a_journal_that_grows_though_its_process_cannot_be_seen_is_alive(tmp_path: Any) -> None:
    path = tmp_path / "w.jsonl"
    path.write_bytes(b"x" * 100)
    seen = Seen("w", host="here", boot="b1", pid=2**22 + 5, start="1", opened=True, lines=1, seen=NOW.wall, size=100)
    note_size(seen, 100, NOW)
    note_gone(seen, str(path), NOW)
    assert not alive(seen, NOW)
    later = NOW._replace(clock=1005.0, wall=50_005.0)
    assert not final(seen, later)
    note_size(seen, 150, later)
    assert alive(seen, later)
    assert not alive(seen, later._replace(clock=1030.0))


def test_a_process_that_stays_gone_is_gone_for_good(tmp_path: Any) -> None:
    path = tmp_path / "w.jsonl"
    path.write_bytes(b"x" * 100)
    seen = Seen("w", host="here", boot="b1", pid=2**22 + 5, start="1", opened=True, lines=1, seen=NOW.wall)
    note_size(seen, 100, NOW)
    note_gone(seen, str(path), NOW)
    assert not final(seen, NOW)
    assert final(seen, NOW._replace(clock=1021.0))


def test_what_was_written_before_death_but_not_yet_read_keeps_it_open(tmp_path: Any) -> None:
    path = tmp_path / "w.jsonl"
    path.write_bytes(b"x" * 150)
    seen = Seen("w", host="here", boot="b1", pid=2**22 + 5, start="1", opened=True, lines=1, seen=NOW.wall)
    note_size(seen, 100, NOW)
    note_gone(seen, str(path), NOW)
    assert not final(seen, NOW._replace(clock=1021.0))
    note_size(seen, 150, NOW._replace(clock=1022.0))
    assert not seen.elsewhere
    assert final(seen, NOW._replace(clock=1022.0))


def test_a_silent_writer_elsewhere_is_noted_once_after_our_own_reboot(field: Any, catalog: Catalog) -> None:
    field.author("a1", host="far", boot="x").say(k="beat", n=1, oom=0)
    journals = field.home.runs / "a1" / "journal"
    os.utime(journals, (1.0, 1.0))
    catalog.refresh()
    db = catalog._store.db
    seen = writer.unpack(db.execute("SELECT state FROM writers").fetchone()[0])
    seen.clock = "the boot before"
    db.execute("UPDATE writers SET state = ?", (pack(seen),))
    assert [catalog.refresh().changed for _ in range(3)] == [1, 0, 0]
    assert catalog.run("a1").state == "running"


def test_a_copy_of_a_running_run_is_lost_and_says_where_it_is_from(
    field: Any, catalog: Catalog, sleeper: subprocess.Popen[bytes]
) -> None:
    field.author("a1", **of(sleeper)).rows(("loss",), [[0, 0.5]])
    shutil.copytree(field.home.runs / "a1", field.home.runs / "b1")
    catalog.refresh()
    row = catalog.run("b1")
    assert (row.state, row.reason) == ("lost", "copied from a1 before it ended")
    assert catalog.writers("b1")[0].state == "lost"
    assert catalog.run("a1").state == "running"
    os.utime(field.home.runs / "b1" / "journal", (1.0, 1.0))
    assert [catalog.refresh().changed for _ in range(3)] == [1, 0, 0]


def test_a_copy_of_an_ended_run_is_as_it_ended(field: Any, catalog: Catalog) -> None:
    field.author("a1").end(code=3, reason="exit")
    shutil.copytree(field.home.runs / "a1", field.home.runs / "b1")
    catalog.refresh()
    assert [(row.state, row.reason) for row in catalog.runs()] == [("failed", "exit code 3")] * 2


def test_a_copy_in_another_home_is_judged_by_its_growth(sleeper: subprocess.Popen[bytes]) -> None:
    there = {"boot": NOW.boot, "host": NOW.host, "opened": True, "lines": 1, "seen": NOW.wall, **of(sleeper)}
    original = Seen("w", birth=7, inode=7, **there)
    copied = Seen("w", birth=7, inode=8, **there)
    for seen in (original, copied):
        note_size(seen, 100, NOW)
    later = NOW._replace(clock=1030.0, wall=50_030.0)
    assert alive(original, later) and not alive(copied, later)
    note_size(copied, 120, later)  # somebody synchronises it
    assert alive(copied, later)


def test_a_run_that_is_sent_after_its_process_died_never_looks_alive(field: Any, catalog: Catalog) -> None:
    """It grows between two looks, as a living one does; but where it comes from its process was known to be gone."""
    author = field.author("a1", host="elsewhere", boot="another").rows(("loss",), [[0, 0.5]])
    catalog.refresh()
    assert catalog.run("a1").state == "running"
    author.rows(("loss",), [[1, 0.4]])
    shipped.note_gone(field.home.run("a1"), "another writer")
    catalog.refresh()
    assert catalog.run("a1").state == "running"
    author.rows(("loss",), [[2, 0.3]])
    shipped.note_gone(field.home.run("a1"), author.path.stem)
    catalog.refresh()
    assert catalog.run("a1").state == "lost"
    author.rows(("loss",), [[3, 0.2]])
    assert catalog.refresh().changed == 1, "what comes later is read all the same"
    assert catalog.run("a1").metrics["loss"].last_step == 3


def test_a_run_whose_directory_was_just_made_is_starting(field: Any, catalog: Catalog) -> None:
    field.run("a1", created=time.time())
    (field.home.runs / "a2" / "journal").mkdir(parents=True)
    for _ in range(2):
        catalog.refresh()
        assert [(row.state, row.reason) for row in catalog.runs()] == [("running", "starting")] * 2
    db = catalog._store.db
    assert db.execute("SELECT settled FROM runs").fetchall() == [(0,), (0,)]
    field.author("a1").rows(("loss",), [[0, 0.5]])
    catalog.refresh()
    assert (catalog.run("a1").state, catalog.run("a1").reason) == ("running", "")


def test_a_run_that_was_starting_for_too_long_never_started(field: Any, catalog: Catalog) -> None:
    field.run("a1", created=time.time() - 100)
    (field.home.runs / "a2" / "journal").mkdir(parents=True)
    catalog.refresh()
    assert {row.id: row.state for row in catalog.runs()} == {"a1": "lost", "a2": "running"}
    catalog._lost_seconds = 0.0
    assert catalog.run("a2").reason == "never started"  # judged when asked
    catalog.refresh()
    assert catalog._store.db.execute("SELECT settled FROM runs").fetchall() == [(1,), (1,)]

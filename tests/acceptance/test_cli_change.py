"""paddock tag, note, star, bug, rm, gc, reproduce: what changes something on disk"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from paddock.record.layout import Home


def journals(home: Home, run_id: str) -> set[str]:
    return {path.name for path in (home.runs / run_id / "journal").iterdir()}


def test_tags_are_added_and_removed_by_a_new_journal_each_time(program, digits):
    before = (digits.runs / "aa0" / "journal" / "box-1-aa.jsonl").read_bytes()
    facts = (digits.runs / "aa0" / "run.json").read_bytes()
    assert program("tag", "aa0", "aa2", "+good", "-base").out == "digits-0 (aa0): good\ndigits-2 (aa2): good\n"
    assert program("tag", "aa0", "--add", "more", "--remove", "good", "--json").json["runs"][0]["tags"] == ["more"]
    assert len(journals(digits, "aa0")) == 3
    assert (digits.runs / "aa0" / "journal" / "box-1-aa.jsonl").read_bytes() == before
    assert (digits.runs / "aa0" / "run.json").read_bytes() == facts
    assert program("ls", "-q", "tag:more").out == "aa0\n"


def test_notes_stars_and_bugs_last(program, digits):
    program("note", "aa0", "worth", "a look")
    program("star", "aa0", "aa1")
    program("bug", "aa2")
    program("star", "aa1", "--off")
    assert program("show", "aa0", "--json").json["run"]["notes"] == "worth a look"
    assert program("ls", "-q", "star").out == "aa0\n"
    assert program("ls", "-q", "bug").out == "aa2\n"


def test_what_a_query_fits_is_marked_after_a_yes(program, digits):
    asked = program("star", "name~^digits lr=0.01")
    assert asked.code == 9 and "[y/N]" in asked.err and "digits-2" in asked.out
    assert program("tag", "name~^digits", "+paper", "--json").code == 9
    assert program("bug", "name~^nosuch", "--yes").code == 3
    assert program("ls", "-q", "star or bug or tag:paper").out == ""
    assert program("star", "name~^digits lr=0.01", "--yes").code == 0
    assert program("tag", "name~^digits", "lr=0.01", "+paper", "--yes").code == 0
    fitting = program("ls", "-q", "name~^digits lr=0.01").out
    assert fitting and program("ls", "-q", "star").out == program("ls", "-q", "tag:paper").out == fitting


def test_a_task_that_waits_is_starred_and_noted_and_then_runs_as_if_nothing_had_been_said(program):
    task = program("submit", "--no-snapshot", "-q", "--name", "waits", "--", "echo", "hello").out.strip()
    assert program("star", task).code == 0
    assert program("note", "waits", "mind this").code == 0
    assert program("ls", "--json", "star").json["runs"][0]["state"] == "queued"
    assert program("worker", "--no-persist").code == 0
    run = program("show", task, "--json").json["run"]
    assert (run["state"], run["star"], run["notes"], run["name"]) == ("finished", True, "mind this", "waits")
    assert program("logs", task).out == "hello\n"


def test_an_annotation_does_not_change_the_state(program, digits):
    program("star", "bb1", "aa0")
    states = {run["id"]: run["state"] for run in program("ls", "--json").json["runs"]}
    assert (states["bb1"], states["aa0"], states["cc1"]) == ("failed", "finished", "running")


def test_nothing_is_written_unless_every_run_is_known(program, digits):
    assert program("tag", "aa0", "nosuch", "+x").code == 3
    assert len(journals(digits, "aa0")) == 1
    assert program("tag", "+x").code == 2
    assert program("tag", "aa0").code == 2


def test_rm_asks_and_the_answer_is_no(program, digits):
    for answer in ("", "\n", "n\n", "no\n", "yes please\n"):
        result = program("rm", "aa0", stdin=answer)
        assert result.code == 9 and "Nothing was removed" in result.err
        assert "digits-0" in result.out
    assert (digits.runs / "aa0").is_dir()
    assert program("rm", "aa0", "--json").error["type"] == "Refused"


def test_rm_removes_what_was_confirmed(program, digits):
    result = program("rm", "aa0", "digits-1", stdin="y\n")
    assert result.code == 0 and "2 runs removed" in result.out
    assert sorted(path.name for path in digits.runs.iterdir()) == ["aa2", "aa3", "bb1", "cc1"]
    assert list(digits.trash.iterdir()) == []
    assert "aa0" not in program("ls").out


def test_rm_by_query_or_pattern(program, digits):
    assert program("rm", "name~^digits", "lr=0.1", "--dry-run", "--json").json["would_remove"][0]["id"] == "aa0"
    assert program("rm", "name~^digits", "--yes", "-q").out.split() == ["aa0", "aa1", "aa2", "aa3"]
    assert program("rm", "lr=77", "--yes").code == 3
    assert program("rm", "nosuch", "--yes").code == 3


def test_rm_refuses_a_running_run(program, digits):
    result = program("rm", "now", "--yes")
    assert result.code == 9 and "still running" in result.err
    assert program("rm", "now", "--yes", "--force").code == 0
    assert not (digits.runs / "cc1").exists()


def test_gc_packs_ended_runs_without_losing_a_point(program, digits):
    before = program("export").out
    plan = program("gc", "--pack", "--dry-run", "--json").json
    assert plan["packed_journals"] == 5 and journals(digits, "aa0") == {"box-1-aa.jsonl"}
    found = program("gc", "--pack", "--json").json
    assert found["packed_journals"] == 5 and found["packed_to"] < found["packed_from"]
    assert journals(digits, "aa0") == {"box-1-aa.jsonl.gz"}
    assert journals(digits, "cc1") == {"box-1-aa.jsonl"}  # it runs
    assert program("export").out == before
    rebuilt = program("export", env={"PADDOCK_CACHE": str(program.cwd / "fresh")})
    assert sorted(rebuilt.out.splitlines()) == sorted(before.splitlines())
    assert program("gc", "--pack", "--json").json["packed_journals"] == 0


def test_gc_empties_the_trash_and_drops_unused_code(program, digits, write, keep_code):
    used, unused = keep_code({"a.py": b"used"}), keep_code({"b.py": b"unused"})
    write("ee1", code={"snapshot": used, "git": None})
    (digits.trash / "old-1").mkdir(parents=True)
    (digits.trash / "old-1" / "file").write_bytes(b"x" * 1000)
    assert program("gc", "--json").json["code_objects"] == 0  # too young: a run may be about to refer to it
    assert list(digits.trash.iterdir()) == []
    for path in digits.code.rglob("*"):
        os.utime(path, (time.time() - 200_000,) * 2)
    assert program("gc", "--json").json["code_objects"] == 2
    assert (digits.code / f"{used}.json").exists() and not (digits.code / f"{unused}.json").exists()


def test_gc_removes_the_catalogs_of_homes_that_are_gone(program, digits, tmp_path):
    program("ls")
    before = set((tmp_path / "cache" / "catalog").iterdir())
    other = tmp_path / "other"
    (other / "runs").mkdir(parents=True)
    program("ls", "--home", str(other))
    theirs = set((tmp_path / "cache" / "catalog").iterdir()) - before
    for path in theirs:
        os.utime(path, (time.time() - 60 * 86_400,) * 2)
    (other / "runs").rmdir()
    other.rmdir()
    assert program("gc", "--dry-run", "--json").json["catalog_files"] == 1
    assert "catalogs" in program("gc").out
    assert not theirs & set((tmp_path / "cache" / "catalog").iterdir())


def test_gc_leaves_what_may_still_be_written(program, digits):
    young = digits.runs / "aa0" / ".run.json.0123456789ab.tmp"
    young.write_bytes(b"half")
    found = program("gc", "--json").json
    assert (found["leftover_files"], found["leftovers"], young.exists()) == (0, 0, True)


def test_gc_keeps_all_code_while_a_run_cannot_be_read(program, digits, keep_code):
    unused = keep_code({"b.py": b"unused"})
    for path in digits.code.rglob("*"):
        os.utime(path, (time.time() - 200_000,) * 2)
    (digits.runs / "aa0" / "run.json").write_bytes(b'{"half')
    result = program("gc")
    assert result.code == 0 and "no code was removed" in result.err
    assert (digits.code / f"{unused}.json").exists()


SCRIPT = (
    b"import sys, os\nprint('ran', sys.argv[1:], open('data.txt').read(), os.path.basename(os.getcwd()))\nsys.exit(3)\n"
)


def reproducible(write, keep_code, command=("/old/project/sub/train.py", "lr=0.1", "a b")) -> None:
    snapshot = keep_code({"sub/train.py": SCRIPT, "sub/data.txt": b"hello"})
    code = {"root": "/old/project", "script": "sub/train.py", "snapshot": snapshot, "git": None, "left_out_count": 1}
    code["left_out"] = [{"path": "big.bin", "why": "too large"}]
    write("ee1", code=code, cwd="/old/project/sub", command=list(command))


def test_reproduce_restores_the_code_and_prints_the_command(program, write, keep_code):
    reproducible(write, keep_code)
    result = program("reproduce", "ee1", "--into", "again")
    into = program.cwd / "again"
    assert (into / "sub" / "train.py").read_bytes() == SCRIPT
    assert result.out == f"cd {into}/sub && {sys.executable} {into}/sub/train.py lr=0.1 'a b'\n"
    assert "python was 3.11.0" in result.err or sys.version.startswith("3.11.0 ")
    assert "torch 2.1" in result.err and "big.bin (too large)" in result.err
    assert os.system(result.out.strip() + " > /dev/null") >> 8 == 3


def test_reproduce_runs_it_there_and_passes_the_exit_code_on(program, write, keep_code):
    reproducible(write, keep_code)
    result = program("reproduce", "ee1", "--run")
    assert result.code == 3
    assert "ran ['lr=0.1', 'a b'] hello sub" in result.out
    again = program("reproduce", "ee1")
    assert again.code == 9 and "not empty" in again.err


NAMED = b"""import sys, paddock
with paddock.init(id="ee1", resume=sys.argv[1] if sys.argv[1:] else None) as run:
    run.log({"a": 1})
with paddock.init(id="ee1", resume="must") as run:
    print(run.id, run.attempt)
"""


@pytest.mark.parametrize("resume", [[], ["must"], ["allow"]])
def test_reproduce_of_a_script_that_names_its_run_is_another_run(program, home, write, keep_code, resume):
    code = {"root": "/old", "script": "train.py", "snapshot": keep_code({"train.py": NAMED}), "git": None}
    write("ee1", code=code, cwd="/old", command=["/old/train.py", *resume])
    inside = {"PADDOCK_RUN_ID": "other", "PADDOCK_RUN_OWNER": "there:1", "PADDOCK_HOME": None}
    result = program("reproduce", "ee1", "--run", "--home", str(home.path), env=inside)
    assert result.code == 0, result.err
    new, attempt = result.out.splitlines()[-1].split()
    assert new.startswith("ee1-") and attempt == "2"
    assert {path.name for path in home.runs.iterdir()} == {"ee1", new}
    assert journals(home, "ee1") == {"box-1-aa.jsonl"}


def test_a_run_that_paddock_ran_is_repeated_through_paddock(program, write, keep_code):
    reproducible(write, keep_code, ["paddock", "run", "train.py", "lr=0.1"])
    found = program("reproduce", "ee1", "--json").json
    assert found["command"] == [sys.executable, "-m", "paddock", "run", "train.py", "lr=0.1"]


def test_reproduce_without_a_snapshot_says_what_is_known(program, digits):
    result = program("reproduce", "aa0")
    assert result.code == 3 and "no code snapshot" in result.err and "train.py lr=0.1" in result.err


def test_a_damaged_snapshot_is_exit_code_7(program, digits, write, keep_code):
    snapshot = keep_code({"a.py": b"used"})
    write("ee1", code={"snapshot": snapshot, "git": None})
    for path in Path(digits.code / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"other")
    assert program("reproduce", "ee1").code == 7

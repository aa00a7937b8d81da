"""Homes in every condition: none, empty, read-only, with foreign files; and paddock doctor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOBODY = 65534
NAMELESS = 12345  # a user without an entry in the password file


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Where other users may look. Not below pytest's own directory: that is its owner's alone, and whoever starts a
    pytest on this machine makes it so again."""
    with tempfile.TemporaryDirectory(prefix="paddock-homes-") as path:
        os.chmod(path, 0o755)
        yield Path(path)


def test_an_empty_home_has_no_runs(program, tmp_path):
    result = program("ls", env={"PADDOCK_HOME": str(tmp_path / "never")})
    assert (result.code, result.out) == (0, "") and "No runs in" in result.err
    assert not (tmp_path / "never").exists()


def test_a_home_that_was_named_must_exist(program, tmp_path):
    result = program("ls", "--home", str(tmp_path / "never"))
    assert result.code == 5 and "There is no home at" in result.err
    assert program("ls", "--json", "--home", str(tmp_path / "never")).error["exit_code"] == 5


def test_the_named_home_beats_the_environment(program, digits, tmp_path):
    assert program("ls", "-q", "id=aa0", "--home", str(digits.path), env={"PADDOCK_HOME": "/nowhere"}).out == "aa0\n"


def test_foreign_files_and_half_written_runs_do_not_hide_the_others(program, digits):
    (digits.runs / "README.txt").write_text("hello")
    (digits.runs / ".hidden").mkdir()
    (digits.runs / "empty").mkdir()
    (digits.runs / "with space").mkdir()
    (digits.runs / "aa3" / "run.json").write_bytes(b'{"v":1,"id":"aa3","na')
    result = program("ls", "-q")
    assert result.code == 0
    assert {"aa0", "aa1", "aa2", "aa3", "bb1", "cc1"} <= set(result.out.split())
    assert program("show", "aa3").code == 0
    assert program("series", "aa3", "acc", "--json").json["series"][0]["steps"] == [0, 1, 2]


def test_a_home_whose_path_is_no_text_works(program, digits, tmp_path):
    home = os.fsencode(tmp_path) + b"/h\xff\xe4me"
    os.rename(digits.path, home)
    env = {"PADDOCK_HOME": os.fsdecode(home)}
    found = program("ls", "--json", env=env)
    assert found.code == 0, found.err
    assert {run["id"]: run["path"] for run in found.json["runs"]}["aa0"].endswith("/h\\udcff\\udce4me/runs/aa0")
    for arguments in ("ls", "show aa0", "show aa0 --json", "query --sql SELECT|path|FROM|runs", "series aa0 acc", "gc"):
        result = program(*(word.replace("|", " ") for word in arguments.split()), env=env)
        assert result.code == 0, (arguments, result.err)
    assert program("logs", "aa0", env=env).out == "epoch 0\nepoch 1\nseed 0\n"


def test_a_home_that_is_a_file_is_told(program, tmp_path):
    (tmp_path / "file").write_text("")
    result = program("ls", "--home", str(tmp_path / "file"))
    assert result.code == 5


def as_user(
    program, uid: int, *arguments: str, cwd: str | Path = "/", **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """The program as a user who owns nothing here (the superuser would be let through everywhere). Everything is
    imported before the change of user, because Python itself may lie where only its owner can read."""
    code = (
        "import os, sys, importlib, importlib.metadata, getpass, pwd, difflib, tomllib\n"
        "importlib.metadata.version('click')\n"
        "from paddock.cli.main import VERBS, main\n"
        "import paddock.cli.failure, paddock.cli.verbs, paddock.catalog.catalog, paddock.monitor.server.presence\n"
        "for name in VERBS: importlib.import_module(VERBS[name][0])\n"
        f"if os.getuid() == 0: os.setgroups([]); os.setgid({uid}); os.setuid({uid})\n"
        "main(sys.argv[1:])"
    )
    given = {**program.environment, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={name: value for name, value in given.items() if value is not None},
        cwd=cwd,
    )


def test_a_read_only_home_can_be_read_and_says_why_it_cannot_be_written(program, digits):
    if os.getuid() != 0:
        for folder, _, _ in os.walk(digits.path):
            os.chmod(folder, 0o555)
    try:
        cache = str(program.cwd / "cache-of-nobody")
        listed = as_user(program, NOBODY, "ls", "-q", "id=aa0", PADDOCK_CACHE=cache)
        assert (listed.returncode, listed.stdout) == (0, "aa0\n"), listed.stderr
        for arguments in (("tag", "aa0", "+x"), ("rm", "aa0", "--yes")):
            refused = as_user(program, NOBODY, *arguments, PADDOCK_CACHE=cache)
            assert refused.returncode == 5, refused.stderr
            assert refused.stderr.startswith("paddock: ") and "Traceback" not in refused.stderr
        sick = as_user(program, NOBODY, "doctor", PADDOCK_CACHE=cache)
        assert sick.returncode == 1 and "cannot be written" in sick.stdout
    finally:
        for folder, _, _ in os.walk(digits.path):
            os.chmod(folder, 0o755)
    assert (digits.runs / "aa0" / "run.json").exists()


def test_runs_that_others_keep_to_themselves_are_counted(program, digits):
    (digits.runs / "aa0").chmod(0o000)
    (digits.runs / "aa1" / "journal").chmod(0o000)
    try:
        cache = {"PADDOCK_CACHE": str(program.cwd / "cache-of-nobody")}
        listed = as_user(program, NOBODY, "ls", **cache)
        assert listed.returncode == 0 and "aa2" in listed.stdout
        assert "2 runs cannot be read: aa0, aa1 (of " in listed.stderr
        found = json.loads(as_user(program, NOBODY, "ls", "id=aa3", "--json", **cache).stdout)
        assert found["unreadable"] == ["aa0", "aa1"] and found["total"] == 1
        shown = as_user(program, NOBODY, "show", "aa0", **cache)
        assert shown.returncode == 3 and "You may not read the run 'aa0'" in shown.stderr
        sick = json.loads(as_user(program, NOBODY, "doctor", "--json", **cache).stdout)
        (runs,) = (finding for finding in sick["findings"] if finding["what"] == "runs")
        assert (runs["level"], runs["text"]) == ("poor", "5 runs, and 1 that you may not read")
    finally:
        (digits.runs / "aa0").chmod(0o755)
        (digits.runs / "aa1" / "journal").chmod(0o755)
    assert program("ls", "--json").json["unreadable"] == []


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can become a user without a home")
def test_no_home_at_all_is_a_sentence(program):
    nothing = {"HOME": None, "PADDOCK_HOME": None, "PADDOCK_CACHE": None}
    for arguments in (["ls"], ["show", "x"]):
        done = as_user(program, NAMELESS, *arguments, **nothing)
        assert done.returncode == 5, done.stderr
        assert "HOME is not set" in done.stderr and "PADDOCK_HOME" in done.stderr
    done = as_user(program, NAMELESS, "doctor", **nothing)
    assert done.returncode == 1 and "HOME is not set" in done.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can stand where others may not")
def test_who_stands_in_a_directory_that_is_closed_to_them_has_neither_settings_nor_a_home_there(program, tmp_path):
    """`sudo -u` leaves a process in the directory of the one who called it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (tmp_path / "paddock.toml").write_text("project = 'above'\n")
    (tmp_path / ".paddock").mkdir()
    nothing = {"HOME": None, "PADDOCK_HOME": None, "PADDOCK_CACHE": None}
    done = as_user(program, NAMELESS, "ls", cwd=closed, **nothing)
    assert (done.returncode, done.stdout) == (0, "") and f"No runs in {tmp_path / '.paddock'}" in done.stderr


def test_a_directory_that_was_deleted_is_a_sentence(tmp_path):
    command = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" -m paddock submit true'
    env = {**os.environ, "PADDOCK_HOME": str(tmp_path / "home")}
    done = subprocess.run(["sh", "-c", command, sys.executable], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "The directory that you are in is no longer there." in done.stderr


def test_doctor_says_what_works(program, digits):
    found = program("doctor", "--json").json
    assert found["healthy"] is True
    levels = {finding["what"]: finding["level"] for finding in found["findings"]}
    assert levels["python"] == levels["home"] == "ok"
    assert {"disk", "hard links", "cache", "git", "/proc", "cgroup v2", "clock", "pyarrow", "pandas"} <= set(levels)


def test_doctor_lists_every_setting_and_its_source(program, digits):
    found = {one["name"]: one for one in program("doctor", "--settings", "--json").json["settings"]}
    assert found["home"]["value"] == str(digits.path) and found["home"]["source"] == "environment"
    assert found["lost_seconds"]["source"] == "default"


def test_a_broken_settings_file_is_a_usage_error(program, digits):
    (program.cwd / "paddock.toml").write_text("lost_secnds = 3\n")
    result = program("ls")
    assert result.code == 2 and "Did you mean 'lost_seconds'?" in result.err
    assert program("doctor").code == 1


@pytest.mark.parametrize("where", ["/proc/paddock", "/dev/null/home", f"/tmp/{'x' * 300}"])
@pytest.mark.parametrize("words", [("submit", "--no-snapshot", "true"), ("worker", "--no-persist"), ("serve",)])
def test_a_home_that_cannot_be_made_is_a_sentence(program: Any, where: str, words: tuple[str, ...]) -> None:
    found = program(*words, env={"PADDOCK_HOME": where})
    assert (found.code, "cannot be made (" in found.err) == (5, True), found.err

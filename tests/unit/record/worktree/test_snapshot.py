"""The code snapshot: what git knows, what a walk finds, what is left out and why."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from paddock import settings, wire
from paddock.record import code as store
from paddock.record.layout import Home
from paddock.record.worktree.git import ask, head_by_hand
from paddock.record.worktree.pace import Pace
from paddock.record.worktree.snapshot import snapshot

SCRIPT = "print('training')\n"


def git(where: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def _own_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "init.defaultBranch")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "trunk")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory that is not in git."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    return folder


@pytest.fixture
def repo(project: Path) -> Path:
    (project / "model.py").write_text("layers = 3\n")
    (project / ".gitignore").write_text("*.ckpt\n/data/\n")
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    return project


def take(home: Home, script: Path | None, cwd: Path, seconds: float = 60, **arguments: Any) -> dict[str, Any]:
    found = snapshot(home, script, cwd, settings.load(cwd, **arguments), Pace(time.monotonic() + seconds))
    wire.dumps(found)  # whatever is in it, it can be written down
    return found


def kept(home: Home, found: dict[str, Any]) -> dict[str, Any]:
    return store.read_manifest(home, found["snapshot"]) if found["snapshot"] else {}


def reasons(found: dict[str, Any]) -> dict[str, str]:
    return {item["path"]: item["why"] for item in found["left_out"]}


def test_a_clean_checkout_is_kept_with_its_commit(home: Home, repo: Path) -> None:
    found = take(home, repo / "train.py", repo)
    assert found["root"] == str(repo)
    assert found["script"] == "train.py"
    assert found["git"] == {
        "commit": git(repo, "rev-parse", "HEAD"),
        "branch": "trunk",
        "remote": None,
        "dirty": False,
        "diff": None,
        "untracked": [],
    }
    assert set(kept(home, found)) == {".gitignore", "model.py", "train.py"}
    assert found["files"] == 3
    assert found["bytes"] == sum(p.stat().st_size for p in repo.iterdir() if p.is_file())
    assert (found["left_out"], found["left_out_count"], found["note"]) == ([], 0, "")


def test_uncommitted_changes_are_in_the_diff_and_in_the_snapshot(home: Home, repo: Path, tmp_path: Path) -> None:
    (repo / "train.py").write_text("print('changed')\n")
    (repo / "model.py").unlink()
    (repo / "new.py").write_text("x = 1\n")
    (repo / "big.ckpt").write_text("weights")
    found = take(home, repo / "train.py", repo)
    assert found["git"]["dirty"] is True
    assert found["git"]["untracked"] == ["new.py"]
    assert set(kept(home, found)) == {".gitignore", "new.py", "train.py"}
    assert found["left_out_count"] == 0
    diff = tmp_path / "changes.diff"
    diff.write_bytes(store.get_object(home, found["git"]["diff"]))
    fresh = tmp_path / "fresh"
    git(tmp_path, "clone", "-q", str(repo), str(fresh))
    git(fresh, "apply", str(diff))
    assert (fresh / "train.py").read_text() == "print('changed')\n"
    assert not (fresh / "model.py").exists()


def test_staged_and_binary_changes_are_in_the_diff(home: Home, repo: Path) -> None:
    (repo / "logo.png").write_bytes(bytes(range(256)))
    git(repo, "add", "logo.png")
    found = take(home, repo / "train.py", repo)
    assert b"GIT binary patch" in store.get_object(home, found["git"]["diff"])


def test_a_script_in_a_subdirectory_belongs_to_the_whole_repository(home: Home, repo: Path, tmp_path: Path) -> None:
    (repo / "jobs").mkdir()
    (repo / "jobs" / "go.py").write_text("")
    found = take(home, repo / "jobs" / "go.py", tmp_path)
    assert (found["root"], found["script"]) == (str(repo), "jobs/go.py")
    assert "model.py" in kept(home, found)


def test_a_relative_script_is_found_from_the_working_directory(home: Home, repo: Path) -> None:
    assert take(home, Path("train.py"), repo)["script"] == "train.py"


def test_without_a_script_the_working_directory_counts(home: Home, repo: Path) -> None:
    found = take(home, None, repo)
    assert (found["root"], found["script"]) == (str(repo), None)
    assert "train.py" in kept(home, found)


def test_an_installed_program_is_not_the_users_script(home: Home, repo: Path, tmp_path: Path) -> None:
    program = tmp_path / "lib" / "site-packages" / "tool" / "__main__.py"
    program.parent.mkdir(parents=True)
    program.write_text("")
    found = take(home, program, repo)
    assert (found["root"], found["script"]) == (str(repo), None)


def test_an_ignored_script_is_kept_all_the_same(home: Home, repo: Path) -> None:
    (repo / "data").mkdir()
    (repo / "data" / "make.py").write_text("make")
    (repo / "data" / "other.py").write_text("other")
    found = take(home, repo / "data" / "make.py", repo)
    assert "data/make.py" in kept(home, found)
    assert "data/other.py" not in kept(home, found)


def test_paddockignore_keeps_tracked_and_untracked_files_out(home: Home, repo: Path) -> None:
    (repo / ".paddockignore").write_text("*.txt\n!keep.txt\nsecret/\n")
    (repo / "secret").mkdir()
    (repo / "secret" / "a.py").write_text("")
    (repo / "notes.txt").write_text("")
    (repo / "keep.txt").write_text("")
    git(repo, "add", "-A")
    assert set(kept(home, take(home, repo / "train.py", repo))) == {
        ".gitignore",
        ".paddockignore",
        "keep.txt",
        "model.py",
        "train.py",
    }


def test_what_a_watch_holds_is_no_code(home: Home, repo: Path) -> None:
    """Or two runs of the same code would differ in the checkpoints that waited when they began."""
    before = take(home, repo / "train.py", repo)
    held = repo / "out" / ".paddock-pins" / "key"
    held.mkdir(parents=True)
    (held / "step=1.json").write_text("1")
    assert kept(home, take(home, repo / "train.py", repo)) == kept(home, before)


def test_the_home_is_never_part_of_the_code(repo: Path) -> None:
    home = Home(repo / "re*[c]ords")
    home.prepare()
    (home.runs / "x.py").write_text("a run's file")
    found = take(home, repo / "train.py", repo)
    assert set(kept(home, found)) == {".gitignore", "model.py", "train.py"}
    assert found["git"]["untracked"] == []
    git(repo, "add", "-f", str(home.runs / "x.py"))
    assert "re*[c]ords/runs/x.py" not in kept(home, take(home, repo / "train.py", repo))


def test_results_of_other_tools_are_named_and_not_kept_unless_tracked(home: Home, repo: Path) -> None:
    (repo / "wandb").mkdir()
    (repo / "wandb" / "log.txt").write_text("")
    (repo / "outputs").mkdir()
    (repo / "outputs" / "tracked.py").write_text("")
    git(repo, "add", "outputs")
    found = take(home, repo / "train.py", repo)
    assert "outputs/tracked.py" in kept(home, found)
    assert reasons(found) == {"wandb/": "holds results, not code"}


@pytest.mark.parametrize("tracked", [True, False])
def test_hostile_names_come_through_git_whole(home: Home, repo: Path, tmp_path: Path, tracked: bool) -> None:
    names = [b"a b.py", b"new\nline.py", b"\xff\xfe.py", "ümläut.py".encode(), b'"quoted".py', b"-rf.py", b"tab\t.py"]
    for name in names:
        Path(os.fsdecode(os.fsencode(repo) + b"/" + name)).write_bytes(name)
    if tracked:
        git(repo, "add", "-A")
    found = take(home, repo / "train.py", repo)
    into = tmp_path / "restored"
    store.restore(home, found["snapshot"], into)
    restored = {os.fsencode(path.name): path.read_bytes() for path in into.iterdir()}
    assert {name: restored.get(name) for name in names} == {name: name for name in names}
    assert len(found["git"]["untracked"]) == (0 if tracked else len(names))


def test_a_repository_in_a_directory_with_a_hostile_name_is_found(home: Home, repo: Path) -> None:
    odd = repo.rename(Path(os.fsdecode(os.fsencode(repo.parent) + b"/o d\n\xffd")))
    found = take(home, odd / "train.py", odd)
    assert found["git"]["commit"]
    assert found["root"].endswith("o d\n\\xffd")
    assert "train.py" in kept(home, found)


def test_links_are_kept_inside_and_left_out_when_they_lead_out(home: Home, repo: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("secret")
    (repo / "pkg").mkdir()
    (repo / "pkg" / "inner.py").symlink_to("../model.py")
    (repo / "absolute.py").symlink_to(repo / "model.py")
    (repo / "dangling.py").symlink_to("nothing.py")
    (repo / "out.py").symlink_to(outside / "secret.py")
    (repo / "up.py").symlink_to("../outside/secret.py")
    (repo / "hop").symlink_to(outside)
    (repo / "through.py").symlink_to("hop/secret.py")
    (repo / "self").symlink_to("self")
    git(repo, "add", "-A")
    found = take(home, repo / "train.py", repo)
    links = {path: entry["link"] for path, entry in kept(home, found).items() if "link" in entry}
    assert links.pop("self", "self") == "self"
    assert links == {"pkg/inner.py": "../model.py", "absolute.py": "model.py", "dangling.py": "nothing.py"}
    assert {path for path in reasons(found) if path != "self"} == {"out.py", "up.py", "hop", "through.py"}
    store.restore(home, found["snapshot"], tmp_path / "restored")
    assert (tmp_path / "restored" / "pkg" / "inner.py").read_text() == "layers = 3\n"


def test_files_behind_a_directory_that_became_a_link_are_not_read(home: Home, repo: Path, tmp_path: Path) -> None:
    (repo / "pkg").mkdir()
    (repo / "pkg" / "a.py").write_text("ours")
    git(repo, "add", "-A")
    outside = tmp_path / "outside"
    (repo / "pkg").rename(outside)
    (outside / "a.py").write_text("theirs")
    (repo / "pkg").symlink_to(outside)
    found = take(home, repo / "train.py", repo)
    assert "pkg/a.py" not in kept(home, found)
    assert reasons(found)["pkg/a.py"] == "behind a link"


@pytest.mark.parametrize("in_git", [True, False])
def test_fifos_and_sockets_are_never_opened(home: Home, project: Path, in_git: bool) -> None:
    if in_git:
        (project / "pipe.py").write_text("")
        git(project, "init", "-q")
        git(project, "add", "-A")
        (project / "pipe.py").unlink()
    os.mkfifo(project / "pipe.py")
    here = os.getcwd()
    os.chdir(project)  # a socket's path may not be long
    try:
        server = socket.socket(socket.AF_UNIX)
        server.bind("socket.py")
    finally:
        os.chdir(here)
    found = take(home, project / "train.py", project)
    server.close()
    assert set(kept(home, found)) == {"train.py"}
    assert reasons(found)["pipe.py"] == "not a regular file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_left_out(home: Home, repo: Path) -> None:
    (repo / "model.py").chmod(0)
    assert reasons(take(home, repo / "train.py", repo))["model.py"] == "Permission denied"


def test_limits_leave_files_out_by_name_and_the_script_comes_first(home: Home, repo: Path) -> None:
    (repo / "zz.py").write_bytes(b"x" * 1000)
    (repo / "aa.py").write_bytes(b"y" * 40)
    script = repo / "train.py"
    size = script.stat().st_size
    found = take(home, script, repo, code_file_bytes=999)
    assert reasons(found) == {"zz.py": "larger than 999 bytes"}
    found = take(home, script, repo, code_total_bytes=size)
    assert set(kept(home, found)) == {"train.py"}
    assert found["left_out_count"] == 4
    found = take(home, script, repo, code_files=1)
    assert set(kept(home, found)) == {"train.py"}
    assert set(reasons(found).values()) == {"more than 1 files"}


def test_at_most_fifty_left_out_files_are_named_and_all_are_counted(home: Home, repo: Path) -> None:
    for number in range(70):
        (repo / f"{number}.py").write_text("long enough to be too long")
    found = take(home, repo / "train.py", repo, code_file_bytes=20)
    assert len(found["left_out"]) == 50
    assert found["left_out_count"] >= 70


def test_when_time_is_up_the_rest_is_noted(home: Home, repo: Path) -> None:
    found = take(home, repo / "train.py", repo, seconds=-1)
    assert found["snapshot"] is None or found["left_out_count"]
    assert found["note"]


def test_more_than_a_thousand_untracked_files_are_cut_and_noted(home: Home, repo: Path) -> None:
    for number in range(1005):
        (repo / f"{number}.py").touch()
    found = take(home, repo / "train.py", repo)
    assert len(found["git"]["untracked"]) == 1000
    assert "1005 untracked files" in found["note"]
    assert found["files"] == 1005 + 3


def test_a_crowd_of_untracked_data_is_cut_and_source_comes_first(home: Home, repo: Path) -> None:
    (repo / "images").mkdir()
    for number in range(1010):
        (repo / "images" / f"{number}.jpg").touch()
    (repo / "zz.py").touch()
    found = take(home, repo / "train.py", repo)
    assert found["files"] == 1000 + 4
    assert found["left_out_count"] == 10
    assert "zz.py" in kept(home, found)


def test_outside_git_a_directory_of_data_is_passed_by(home: Home, project: Path) -> None:
    (project / "texts").mkdir()
    for number in range(10_001):
        (project / "texts" / f"{number}.txt").touch()
    found = take(home, project / "train.py", project)
    assert set(kept(home, found)) == {"train.py"}
    assert list(reasons(found)) == ["texts/"]


def test_submodules_are_kept_when_checked_out_and_named_when_not(home: Home, repo: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "lib.py").write_text("lib")
    git(library, "init", "-q")
    git(library, "add", "-A")
    git(library, "commit", "-qm", "lib")
    git(repo, "submodule", "add", "-q", str(library), "vendor/lib")
    git(repo, "commit", "-qm", "submodule")
    (repo / "vendor" / "lib" / "local.py").write_text("changed here")
    found = take(home, repo / "train.py", repo)
    assert {"vendor/lib/lib.py", "vendor/lib/local.py", ".gitmodules"} <= set(kept(home, found))
    git(tmp_path, "clone", "-q", str(repo), str(tmp_path / "clone"))
    found = take(home, tmp_path / "clone" / "train.py", tmp_path / "clone")
    assert reasons(found) == {"vendor/lib/": "a submodule that is not checked out"}


def test_a_repository_nested_without_being_a_submodule_is_kept(home: Home, repo: Path) -> None:
    nested = repo / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "n.py").write_text("n")
    git(nested, "add", "-A")
    git(nested, "commit", "-qm", "n")
    assert "nested/n.py" in kept(home, take(home, repo / "train.py", repo))


def test_a_linked_work_tree_is_like_any_other(home: Home, repo: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "-q", "-b", "side", str(tree))
    found = take(home, tree / "train.py", tree)
    assert (found["root"], found["git"]["branch"]) == (str(tree), "side")
    assert head_by_hand(tree) == (git(repo, "rev-parse", "HEAD"), "side")


def test_a_detached_head_has_no_branch(home: Home, repo: Path) -> None:
    git(repo, "checkout", "-q", "--detach")
    facts = take(home, repo / "train.py", repo)["git"]
    assert facts["branch"] is None
    assert facts["commit"] == head_by_hand(repo)[0]


def test_a_repository_without_a_commit_is_noted(home: Home, project: Path) -> None:
    git(project, "init", "-q")
    found = take(home, project / "train.py", project)
    assert (found["git"]["commit"], found["git"]["branch"]) == (None, "trunk")
    assert "no commit yet" in found["note"]
    assert set(kept(home, found)) == {"train.py"}


def test_a_bare_repository_is_no_work_tree(home: Home, project: Path) -> None:
    git(project, "init", "-q", "--bare", "bare.git")
    (project / "bare.git" / "job.py").write_text("")
    found = take(home, project / "bare.git" / "job.py", project)
    assert found["git"] is None
    assert "job.py" in kept(home, found)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:ghp_s3cret@example.org/a/b.git", "https://example.org/a/b.git"),
        ("https://p@ss:w@rd@example.org/a.git", "https://example.org/a.git"),
        ("ssh://git@example.org/a.git", "ssh://git@example.org/a.git"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("/srv/repos/a.git", "/srv/repos/a.git"),
    ],
)
def test_the_remote_is_kept_without_credentials(home: Home, repo: Path, url: str, shown: str) -> None:
    git(repo, "remote", "add", "origin", url)
    assert take(home, repo / "train.py", repo)["git"]["remote"] == shown


def test_the_branchs_own_remote_comes_before_origin(home: Home, repo: Path) -> None:
    git(repo, "remote", "add", "origin", "https://example.org/o.git")
    git(repo, "remote", "add", "mine", "https://example.org/m.git")
    git(repo, "config", "branch.trunk.remote", "mine")
    assert take(home, repo / "train.py", repo)["git"]["remote"] == "https://example.org/m.git"


def test_programs_from_the_repositorys_configuration_do_not_run(home: Home, repo: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.evil.textconv", "diff.evil.command"):
        git(repo, "config", key, str(trap))
    (repo / ".gitattributes").write_text("*.py diff=evil\n")
    (repo / "train.py").write_text("changed")
    found = take(home, repo / "train.py", repo)
    assert b"+changed" in store.get_object(home, found["git"]["diff"])
    assert not (tmp_path / "sprung").exists()


def test_the_users_diff_settings_do_not_change_the_diff(home: Home, repo: Path) -> None:
    (repo / "train.py").write_text("changed")
    plain = take(home, repo / "train.py", repo)["git"]["diff"]
    for key, value in (("diff.noprefix", "true"), ("color.ui", "always"), ("diff.mnemonicPrefix", "true")):
        git(repo, "config", key, value)
    assert take(home, repo / "train.py", repo)["git"]["diff"] == plain


def test_git_takes_no_lock_and_leaves_the_index_alone(home: Home, repo: Path) -> None:
    (repo / ".git" / "index.lock").touch()
    os.utime(repo / "model.py", (1, 1))
    before = (repo / ".git" / "index").read_bytes()
    found = take(home, repo / "train.py", repo)
    assert found["git"]["dirty"] is False
    assert (repo / ".git" / "index").read_bytes() == before


def test_a_git_that_hangs_is_ended_and_noted(home: Home, repo: Path, tmp_path: Path, monkeypatch: Any) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nsleep 1000 & wait\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    answer = ask(("status",), repo, time.monotonic() + 0.3)
    assert answer.error == "git took too long"


def test_where_git_is_missing_the_commit_is_read_from_its_files(home: Home, repo: Path, monkeypatch: Any) -> None:
    commit = git(repo, "rev-parse", "HEAD")
    git(repo, "pack-refs", "--all")
    (repo / "junk.ckpt").write_text("weights")
    monkeypatch.setenv("PATH", "/nonexistent")
    found = take(home, repo / "train.py", repo)
    assert (found["git"]["commit"], found["git"]["branch"], found["git"]["dirty"]) == (commit, "trunk", None)
    assert "git is not installed" in found["note"]
    assert set(kept(home, found)) == {".gitignore", "model.py", "train.py"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user_is_read_by_hand(home: Home, repo: Path) -> None:
    commit = git(repo, "rev-parse", "HEAD")
    for path in (repo, repo / ".git"):
        os.chown(path, 12345, 12345)
    found = take(home, repo / "train.py", repo)
    assert found["git"]["commit"] == commit
    assert "belongs to another user" in found["note"]
    assert "train.py" in kept(home, found)


def test_variables_that_git_sets_for_hooks_do_not_mislead(home: Home, repo: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    assert take(home, repo / "train.py", repo)["git"]["commit"]


def test_a_damaged_repository_costs_a_note_and_no_file(home: Home, repo: Path) -> None:
    (repo / ".git" / "index").write_bytes(b"rubbish")
    found = take(home, repo / "train.py", repo)
    assert found["note"]
    assert "train.py" in kept(home, found)


def test_outside_git_source_files_are_found_and_other_things_are_not(home: Home, project: Path) -> None:
    for name in ("lib/a.py", "conf/x.yaml", "Makefile", "requirements-dev.txt", "cuda/k.cu", ".hidden/x.py", "w.bin"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("x")
    for name in ("__pycache__/a.py", "node_modules/a.js", "site-packages/a.py", "mlruns/meta.yaml", "venv/v.py"):
        (project / name).parent.mkdir()
        (project / name).write_text("x")
    (project / "venv" / "pyvenv.cfg").touch()
    (project / "conda" / "conda-meta").mkdir(parents=True)
    (project / "conda" / "c.py").touch()
    found = take(home, project / "train.py", project)
    assert found["git"] is None
    assert set(kept(home, found)) == {
        "Makefile",
        "conf/x.yaml",
        "cuda/k.cu",
        "lib/a.py",
        "requirements-dev.txt",
        "train.py",
    }


def test_outside_git_ignore_files_count_in_every_directory(home: Home, project: Path) -> None:
    (project / ".gitignore").write_text("*.txt\nbuild/\n")
    (project / ".paddockignore").write_text("/private.py\n[\n")
    for name in ("a.txt", "build/b.py", "sub/keep.txt", "sub/c.py", "sub/local.py", "private.py", "sub/private.py"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("x")
    (project / "sub" / ".gitignore").write_text("!keep.txt\nlocal.py\n")
    assert set(kept(home, take(home, project / "train.py", project))) == {
        ".gitignore",
        ".paddockignore",
        "sub/.gitignore",
        "sub/c.py",
        "sub/keep.txt",
        "sub/private.py",
        "train.py",
    }


def test_in_the_users_home_directory_only_the_script_is_kept(home: Home, project: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(project))
    (project / "diary.txt").write_text("private")
    found = take(home, project / "train.py", project)
    assert set(kept(home, found)) == {"train.py"}
    assert "only the script" in found["note"]
    git(project, "init", "-q")
    git(project, "add", "-A")
    found = take(home, project / "train.py", project)
    assert (found["git"], set(kept(home, found))) == (None, {"train.py"})


def test_a_home_that_cannot_be_written_costs_a_note(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = take(Home(tmp_path / "file" / "home"), repo / "train.py", repo)
    assert found["snapshot"] is None
    assert "could not be kept" in found["note"]
    assert found["git"]["commit"]


def test_a_script_that_does_not_exist_and_a_directory_that_is_gone_cost_nothing(home: Home, tmp_path: Path) -> None:
    found = take(home, tmp_path / "no" / "script.py", tmp_path / "gone")
    assert found["script"] is None

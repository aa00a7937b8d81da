"""A run's code over HTTP: its commit, what was not committed, its files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paddock.record.code import put_manifest, put_object
from paddock.record.layout import Home
from paddock.record.manifest import file_entry, link_entry
from tests.served import Server, served
from tests.unit.monitor.conftest import author

SCRIPT = "print('<b>ü</b>')\n".encode()


@pytest.fixture
def server(home: Home) -> Iterator[Server]:
    home.prepare()
    entries = {
        "train.py": file_entry("train.py", put_object(home, SCRIPT), len(SCRIPT), True),
        "data.bin": file_entry("data.bin", put_object(home, b"\0\1"), 2, False),
        "latest": link_entry("latest", "train.py"),
    }
    diff = put_object(home, b"diff --git a/train.py b/train.py\n-1\n+2\n")
    git = {"commit": "c" * 40, "branch": "main", "dirty": True, "diff": diff, "untracked": ["new.py"]}
    code = {"root": "/src", "script": "train.py", "git": git, "snapshot": put_manifest(home, entries)}
    author(home, "coded", code=code).end()
    author(home, "bare").end()
    author(home, "gone", code={"snapshot": "0" * 64}).end()
    later = {**code, "git": {**git, "branch": "later"}}
    author(home, "late").say(k="code", t=1e9 + 1, code=later).end()
    with served(home) as found:
        yield found


def test_the_code_of_a_run_is_its_commit_and_its_files(server: Server) -> None:
    found = server.get("/api/v1/runs/coded/code")
    assert (found["commit"], found["branch"], found["dirty"], found["diff"]) == ("c" * 40, "main", True, True)
    assert found["untracked"] == ["new.py"] and found["trouble"] == "" and not found["more"]
    assert [(one["path"], one["size"], one["executable"], one["link"]) for one in found["files"]] == [
        ("data.bin", 2, False, None),
        ("latest", None, False, "train.py"),
        ("train.py", len(SCRIPT), True, None),
    ]
    assert server.get("/api/v1/runs/coded/code/diff")["text"].endswith("-1\n+2\n")
    assert server.get("/api/v1/runs/late/code")["branch"] == "later"  # it was captured after the run had begun


def test_a_file_of_the_code_is_told_as_text_and_only_from_the_snapshot(server: Server) -> None:
    def read(path: str) -> dict[str, object]:
        return dict(server.get(f"/api/v1/runs/coded/code/file?path={path}"))

    assert read("train.py") == {"path": "train.py", "size": len(SCRIPT), "text": SCRIPT.decode(), "cut": False}
    assert read("data.bin")["text"] is None and read("latest")["text"] == "a link to train.py\n"
    for path in ("../run.json", "/etc/passwd", "train.py/", ""):
        assert server.ask("GET", f"/api/v1/runs/coded/code/file?path={path}").status == 404


def test_a_run_whose_code_is_not_here_says_so(server: Server) -> None:
    assert server.get("/api/v1/runs/bare/code")["trouble"] == "No code was kept with this run."
    assert "is not in" in server.get("/api/v1/runs/gone/code")["trouble"]
    assert server.ask("GET", "/api/v1/runs/bare/code/diff").status == 404
    assert server.ask("GET", "/api/v1/runs/bare/code/file?path=train.py").status == 404
    assert server.ask("GET", "/api/v1/runs/gone/code/file?path=train.py").error == "Damaged"

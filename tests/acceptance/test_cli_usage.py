"""paddock usage, from a script that makes checkpoints to the picture of it."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.waiting import DEADLINE

EXAMPLE = Path(__file__).parents[2] / "examples" / "usage.py"


def paddock(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paddock", *arguments]
    return subprocess.run(command, cwd=cwd, env=os.environ | environ, capture_output=True, text=True, timeout=DEADLINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run that has usage (`used`) and one that has none (`plain`)."""
    path = tmp_path_factory.mktemp("usage place")
    shutil.copy(EXAMPLE, path / "script.py")
    environ = {"PADDOCK_HOME": str(path / "home"), "PADDOCK_CACHE": str(path / "cache"), "PADDOCK_QUIET": "1"}
    for arguments in (["--usage", "--id", "used", "--name", "used <&>"], ["--id", "plain"]):
        done = paddock("run", *arguments, "script.py", cwd=path, PADDOCK_USAGE_SECONDS="0.02", **environ)
        assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(autouse=True)
def _of_the_place(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_HOME", str(place / "home"))
    monkeypatch.setenv("PADDOCK_CACHE", str(place / "cache"))


def test_a_pipe_gets_a_sketch_in_80_columns_without_colours(place: Path) -> None:
    done = paddock("usage", "used", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and "█" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert re.search(r"^1 +0:00  start$", done.stdout, re.M) and "work 2 processes" in done.stdout
    assert "CPU (100 % is one core)" in done.stdout and "memory" in done.stdout and "GPU" not in done.stdout


def test_json_has_the_processes_their_series_and_the_checkpoints(place: Path) -> None:
    found = json.loads(paddock("usage", "used", "--metric", "memory", "--points", "50", "--json", cwd=place).stdout)
    assert [mark["text"] for mark in found["checkpoints"]] == ["start", "load", "work 2 processes", "tidy up"]
    assert [process["role"] for process in found["processes"]] == ["main", "child", "child"]
    for process in found["processes"]:
        assert set(process["series"]) == {"memory"} and len(process["series"]["memory"]) == found["bins"] <= 50
    assert found["processes"][0]["most"]["memory"] > 50 << 20


@pytest.mark.parametrize("ending", ["svg", "html", "csv", "png", "pdf"])
def test_it_is_drawn_into_a_file(place: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"a picture.{ending}"
    done = paddock("usage", "used", "--out", str(out), cwd=place)
    assert done.returncode == 0, done.stderr
    assert str(out) in done.stdout and [path.name for path in tmp_path.glob("*.*")] == [out.name]
    data = out.read_bytes()
    if ending == "svg":
        texts = [
            "".join(node.itertext()) for node in ElementTree.fromstring(data).iter("{http://www.w3.org/2000/svg}text")
        ]
        assert texts[0] == "used <&> (used)" and any(text.startswith("tidy up") for text in texts)
    elif ending == "html":
        assert b"used &lt;&amp;&gt;" in data and b"http" not in data.replace(b"http://www.w3.org/2000/svg", b"")
    elif ending == "csv":
        rows = list(csv.DictReader(data.decode().splitlines()))
        assert {row["role"] for row in rows} == {"main", "child"} and all(int(row["memory"]) > 0 for row in rows)
    else:
        assert data.startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[ending])


def test_a_copied_directory_is_enough(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "home" / "runs" / "used", tmp_path / "a copy")
    for journal in (tmp_path / "a copy" / "journal").iterdir():
        subprocess.run(["gzip", journal], check=True)  # as `paddock gc --pack` does
    done = paddock("usage", "a copy", cwd=tmp_path, PADDOCK_HOME=str(tmp_path / "none"))
    assert done.returncode == 0 and "used <&> (used)" in done.stdout, done.stderr


def test_all_runs_with_usage_get_a_page_and_an_index(place: Path, tmp_path: Path) -> None:
    done = paddock("usage", "--all", "--out", str(tmp_path / "reports"), "--json", cwd=place)
    assert json.loads(done.stdout)["runs"] == ["used"], done.stderr
    index = (tmp_path / "reports" / "index.html").read_text()
    assert 'href="used.html"' in index and "used &lt;&amp;&gt;" in index and "Usage of 1 run<" in index
    assert (tmp_path / "reports" / "used.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["plain"], 3, "There is no usage of"),
        (["nonsense"], 3, "no run 'nonsense'"),
        ([], 2, "Name one run"),
        (["used", "--metric", "heat"], 2, "no usage of 'heat'"),
        (["used", "--out", "x.bmp"], 2, "names no format"),
        (["used", "--out", "no/where/x.svg"], 2, "no directory"),
        (["--all"], 2, "needs a directory"),
        (["--all", "--out", "script.py"], 2, "is a file"),
        (["home/runs"], 3, "not the directory of a run"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(place: Path, arguments: list[str], code: int, said: str) -> None:
    done = paddock("usage", *arguments, "--json", cwd=place)
    assert done.returncode == code and said in json.loads(done.stderr)["error"]["message"]


def test_without_matplotlib_the_error_names_the_extra(place: Path, tmp_path: Path) -> None:
    (tmp_path / "hide.py").write_text(
        "import importlib.util as u, sys\nreal = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'matplotlib' else real(name, *more)\n"
        "from paddock.cli.main import main\nmain(sys.argv[1:])\n"
    )
    command = [sys.executable, tmp_path / "hide.py", "usage", "used", "--out", tmp_path / "x.png"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    assert done.returncode == 8 and "paddock[figures]" in done.stderr and not (tmp_path / "x.png").exists()

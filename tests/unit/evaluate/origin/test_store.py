"""Object stores: what can be said without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paddock.evaluate.origin.place import is_url, real
from paddock.evaluate.training.run import find


@pytest.mark.parametrize(("scheme", "extra"), [("s3", "s3"), ("gs", "gcs")])
def test_without_its_library_the_extra_is_named(tmp_path: Path, scheme: str, extra: str) -> None:
    (tmp_path / "fsspec.py").write_text("raise ImportError('it is not installed')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from paddock.evaluate.origin.store import Store; "
    code += f"Store('{scheme}://bucket/run')"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"pip install 'paddock[{extra}]'" in found.stderr


def test_a_url_is_called_the_same_from_anywhere(tmp_path: Path) -> None:
    assert is_url("s3://bucket/run") and not is_url("/a/b:c") and not is_url("out")
    assert real("s3://bucket/run/") == "s3://bucket/run"
    assert real(str(tmp_path / ".." / tmp_path.name)) == str(tmp_path)


def test_the_training_run_is_found_by_the_url_that_it_was_given(home: object) -> None:
    class Row:
        job_type = None
        id, state = "r1", "running"
        command = ["train.py", "--out=s3://bucket/runs/"]
        config: dict[str, object] = {}

    assert find(home, "s3://bucket/runs/seven", [Row()]) == "r1"  # type: ignore[arg-type, list-item]
    assert find(home, "s3://bucket/runsaway", [Row()]) == ""  # type: ignore[arg-type, list-item]

"""A watch sees each checkpoint that a real library writes once, complete, at its step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.formats.trainings import TRAININGS
from tests.waiting import until

ROOT = Path(__file__).parents[2]
PATTERN = r"^.*\.(pt|pth|ckpt|model|state|safetensors)$"
PACKAGES = {"torch_save": "torch", "trainer": "transformers", "pretrained": "transformers", "dcp": "torch"}
PACKAGES |= {"fsdp": "torch", "orbax": "orbax"}
TWICE = {"dcp": {"step-200"}}  # what is written over, and so may be seen before and must be seen after
EVALUATOR = """
import os

def listed(path):
    files = [path] if os.path.isfile(path) else [os.path.join(d, n) for d, _, names in os.walk(path) for n in names]
    return {"files": len(files), "bytes": sum(map(os.path.getsize, files))}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One watch for all."""
    place = tmp_path_factory.mktemp("formats")
    (place / "out").mkdir()
    (place / "metrics.py").write_text(EVALUATOR)
    environment = {**os.environ, "PADDOCK_HOME": str(place / "home"), "PADDOCK_CACHE": str(place / "cache")}
    command = [sys.executable, "-m", "paddock", "watch", "out", "--evaluator", "metrics.py:listed", "--plain"]
    with open(place / "log", "wb") as log:
        process = subprocess.Popen(
            [*command, "--regex-filter", PATTERN, "--num-eval-workers", "2"], cwd=place, env=environment, stderr=log
        )
    try:
        until(lambda: process.poll() is not None or list(place.glob("home/watches/*/begun")))
        assert process.poll() is None, (place / "log").read_text()
        yield place
    finally:
        process.terminate()
        process.wait(60)


def evaluated(place: Path, name: str) -> list[dict[str, Any]]:
    """What was found of a training, with what came of it."""
    found = []
    for path in place.glob("home/watches/*/ledger/*.json"):
        one = json.loads(path.read_bytes())
        if one["path"].startswith(f"{place}/out/{name}/"):
            result = path.with_suffix(".result")
            found.append(one | {"result": json.loads(result.read_bytes()) if result.exists() else None})
    return found


def size(path: Path) -> dict[str, int]:
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return {"files": len(files), "bytes": sum(one.stat().st_size for one in files)}


@pytest.mark.parametrize("name", TRAININGS)
def test_each_is_seen_once_complete_and_at_its_step(place: Path, name: str) -> None:
    if not find_spec(PACKAGES.get(name, name)):
        pytest.skip(f"{PACKAGES.get(name, name)} is not installed")
    alone = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    environment = {**os.environ, **(alone if name == "deepspeed" else {}), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "tests.formats.trainings", name, str(place / "out" / name)]
    # Minutes on a busy machine, but never for ever.
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    written = json.loads(run.stdout.strip().splitlines()[-1])
    wanted = {str(place / "out" / name / path): None if step < 0 else step for path, step in written.items()}
    until(lambda: {one["path"] for one in evaluated(place, name) if one["result"]} >= wanted.keys(), 60)
    found = evaluated(place, name)
    last = {one["path"]: one for one in sorted(found, key=lambda one: one["found"])}
    assert {path: one["step"] for path, one in last.items()} == wanted
    assert all(one["result"]["state"] in ("done", "void") for one in found), found
    assert {path: one["result"]["values"] for path, one in last.items()} == {path: size(Path(path)) for path in wanted}
    over = {str(place / "out" / name / path) for path in TWICE.get(name, ())}
    paths = [one["path"] for one in found]
    assert not [path for path in wanted.keys() - over if paths.count(path) != 1]

"""What `make` is told to run is there: a target whose tests have moved away runs nothing, and few people see it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILES = [ROOT / "Makefile", *sorted(ROOT.glob("tests/*/*.mk")), ROOT / "bench/bench.mk"]
NAMED = re.compile(r"(?<![\w./$-])(?:tests|bench|src|web|docs|examples)(?:/[\w.-]+)+")


@pytest.mark.parametrize("makefile", MAKEFILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_that_it_names_exists(makefile: Path) -> None:
    named = NAMED.findall(re.sub(r"web/\.node|node_modules", "", makefile.read_text()))
    assert named, "it names no path any more: this test looks for the wrong thing"
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_what_decides_runs_the_clusters_too() -> None:
    (told,) = re.findall(r"^for target in (.*); do$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    rules = "\n".join(makefile.read_text() for makefile in MAKEFILES)
    assert told.split() == ["test", "test-cluster"]
    assert [target for target in told.split() if not re.search(rf"^{target}:", rules, re.MULTILINE)] == []
    assert re.search(r"^test-cluster: test-slurm\b", rules, re.MULTILINE)
    assert re.search(r"^test-cluster: test-kubernetes\b", rules, re.MULTILINE)

"""The documentation says everything, and what it says works: names have headings, links lead, examples run."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import click
import pytest

import paddock
from paddock import errors
from paddock.cli.main import VERBS, cli
from paddock.compare.curve import Curve
from paddock.compare.fields import RUN_FIELDS, STAT_FIELDS
from paddock.compare.table import RunTable
from paddock.compare.view import RunView
from paddock.settings import SETTINGS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "bench" / "README.md", *DOCS.rglob("*.md")])
README_LINES = 120


class Block(NamedTuple):
    language: str
    text: str
    line: int
    skipped: str  # the reason of a `<!-- not run: reason -->` before it


def blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text().splitlines()
    start, language = -1, ""
    for number, line in enumerate(lines):
        if line.startswith("```") and start < 0:
            start, language = number, line[3:].strip()
        elif line.startswith("```"):
            above = re.fullmatch(r"<!-- not run: (.+) -->", lines[start - 1]) if start else None
            yield Block(language, "\n".join(lines[start + 1 : number]), start + 1, above[1] if above else "")
            start = -1


def prose(page: Path) -> list[str]:
    """The lines outside of code blocks."""
    found, inside = [], False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            found.append(line)
    return found


def headings(page: Path) -> list[str]:
    return [line.lstrip("#").strip() for line in prose(page) if line.startswith("#")]


def rows(page: Path) -> list[list[str]]:
    """The cells of every table row."""
    found = [line.strip() for line in prose(page) if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in found]


def section(page: Path, heading: str) -> str:
    text = page.read_text()
    start = re.search(rf"^(#+) {re.escape(heading)}$", text, re.M)
    assert start, f"{page.name} has no heading {heading!r}"
    end = re.compile(rf"^#{{1,{len(start[1])}}} ", re.M).search(text, start.end())
    return text[start.end() : end.start() if end else len(text)]


# Everything has its place in the reference


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_a_heading_and_its_options_have_rows(verb: str) -> None:
    found = section(REFERENCE / "cli.md", f"paddock {verb}")
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    shared = {"--json", "--quiet", "--home"}
    options = {max(option.opts, key=len) for option in command.params if isinstance(option, click.Option)} - shared
    written = {name for line in found.splitlines() if line.startswith("|") for name in re.findall(r"--[a-z-]+\w", line)}
    assert options <= written, "without a row"
    assert written - shared <= {name for option in command.params for name in option.opts}, "described but not there"
    assert "```console" in found


def test_every_public_name_has_a_heading() -> None:
    known = {name for heading in headings(REFERENCE / "python.md") for name in re.findall(r"`(\w+)`", heading)}
    assert set(paddock.__all__) - known == set()


@pytest.mark.parametrize("kind", [paddock.Run, paddock.Artifact, paddock.Store, RunTable, RunView, Curve])
def test_every_public_member_is_described(kind: type) -> None:
    text = (REFERENCE / "python.md").read_text()
    members = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    assert {name for name in members - {"index"} if not re.search(rf"`[^`\n]*\b{name}\b", text)} == set()


def test_every_setting_has_a_row_with_its_variable_and_default() -> None:
    written = {row[0].strip("`"): row for row in rows(REFERENCE / "settings.md")}
    for setting in SETTINGS:
        shown = str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default)
        assert setting.name in written, setting.name
        assert [cell.strip("`") for cell in written[setting.name][1:3]] == [setting.variable, shown]


def test_every_variable_in_the_source_has_a_row() -> None:
    source = "\n".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.py")))
    used = set(re.findall(r"\b_?PADDOCK_[A-Z_]*[A-Z]\b", source))
    assert used >= {"PADDOCK_HOME", "PADDOCK_RUN_ID"}
    written = {
        name for row in rows(REFERENCE / "settings.md") for name in re.findall(r"`(_?PADDOCK_\w+)`", "".join(row))
    }
    assert used - written == set()
    assert written - used - {setting.variable for setting in SETTINGS} == set(), "described but not used"


def test_every_error_has_a_row_with_its_exit_code() -> None:
    written = {row[0].strip("`"): row[1] for row in rows(REFERENCE / "errors.md")}
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.PaddockError)]
    assert {kind.__name__: str(kind.exit_code) for kind in kinds}.items() <= written.items()
    assert {"0", "130", "141"} <= written.keys()


def test_every_key_of_a_query_is_listed() -> None:
    keys = {word for row in rows(REFERENCE / "query-language.md") for word in re.findall(r"`([\w.]+)`", row[0])}
    assert RUN_FIELDS - keys == set()
    assert {f"{stat}.METRIC" for stat in STAT_FIELDS} - keys == set()


# The pages hang together


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", "\n".join(prose(page))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in map(_slug, headings(file)), f"{target}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page: Path) -> None:
    for name in re.findall(r"`((?:src|tests|examples|bench|docs)/[\w./-]+)`", page.read_text()):
        assert (ROOT / name).exists(), name


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text()
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in index} == set()


def test_the_readme_stays_short_and_begins_with_an_example() -> None:
    readme = ROOT / "README.md"
    assert len(readme.read_text().splitlines()) <= README_LINES
    first = next(block for block in blocks(readme) if block.language == "python")
    assert first.line < 30 and len(first.text.splitlines()) <= 12


# The examples run

PREPARE = """
import os, subprocess, sys
import paddock

os.environ["PADDOCK_QUIET"] = "1"
for number, (lr, seed) in enumerate([(0.1, 0), (0.1, 1), (0.3, 0), (0.3, 1)]):
    config = {"lr": lr, "seed": seed, "model": {"depth": 3}}
    with paddock.init("digits", f"digits-{number}", id=f"d{number}", config=config, tags=["base"]) as run:
        run.define_metric("val/acc", goal="max")
        for step in range(50):
            run.log({"train/loss": 1 / (1 + lr * step)}, step=step)
            if step % 5 == 4:
                run.log({"val/acc": 0.8 + lr / 3 + seed / 50 + step / 10000}, step=step)
try:
    with paddock.init("other", "broken", id="b0", config={"lr": 9.0}) as run:
        run.log({"train/loss": float("nan")})
        raise ValueError("loss is nan")
except ValueError:
    pass
with paddock.init("other", "tagged", id="t0") as run:
    run.log_metric("score", 0.5, tags={"split": "val"})
for rank in "01":
    os.environ |= {"RANK": rank, "WORLD_SIZE": "2"}
    with paddock.init("other", "distributed", id="dd", resume="allow") as run:
        print("rank", rank)
        run.log({"train/loss": float(rank)}, step=0)
del os.environ["RANK"], os.environ["WORLD_SIZE"]
subprocess.run([sys.executable, "train.py", "--lr", "0.3"], check=True, env=os.environ | {"NAME": "real"})
"""
# Only one run has the name, however often a page submits the script.
TRAIN = """
import os, sys
import paddock

run = paddock.init(project="real", name=os.environ.get("NAME"), config={"arguments": sys.argv[1:]})
run.log({"train/loss": 0.5})
print("trained")
"""


@dataclass(frozen=True)
class Place:
    """A directory, a home with some runs, and the programs that a reader of the page would have."""

    path: Path
    environment: dict[str, str]

    def run(self, command: list[str] | str, where: str) -> None:
        done = subprocess.run(
            command if isinstance(command, list) else ["sh", "-c", command],
            cwd=self.path / "work",
            env=self.environment,
            input="y\n",
            capture_output=True,
            text=True,
            timeout=600,  # a page is many programs, one after the other
        )
        assert done.returncode == 0, f"{where}: {command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    path = tmp_path_factory.mktemp("docs")
    for name in ("work", "bin"):
        (path / name).mkdir()
    for name, words in (("python", ""), ("paddock", " -m paddock")):
        (path / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
    for name in ("pip", "pip3", "uv"):  # an example must not change the environment that the tests run in
        (path / "bin" / name).write_text(f'#!/bin/sh\necho "{name}: not in an example that is run" >&2\nexit 1\n')
    for program in (path / "bin").iterdir():
        program.chmod(0o755)
    foreign = ("PADDOCK_", "SLURM_", "PYTHONDONTWRITEBYTECODE", "RANK", "WORLD_SIZE", "LOCAL_RANK")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    environment |= {
        "PATH": f"{path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "PADDOCK_HOME": str(path / "home"),
        "PADDOCK_CACHE": str(path / "cache"),
    }
    (path / "work" / "train.py").write_text(TRAIN)
    (path / "prepare.py").write_text(PREPARE)
    place = Place(path, environment)
    place.run([sys.executable, str(path / "prepare.py")], "prepare.py")
    return place


@pytest.fixture
def place(prepared: Place, tmp_path: Path) -> Place:
    for name in ("work", "home"):
        shutil.copytree(prepared.path / name, tmp_path / name)
    own = {"PADDOCK_HOME": str(tmp_path / "home"), "PADDOCK_CACHE": str(tmp_path / "cache")}
    return Place(tmp_path, prepared.environment | own)


def _has_examples(page: Path) -> bool:
    """Explanations and the benchmarks' page show how things are, or take an hour."""
    return any(block.language in ("python", "console") for block in blocks(page)) and not (
        page.name == "journal.md" or page.parent.name in ("explanation", "bench")
    )


@pytest.mark.parametrize(
    "page", [page for page in PAGES if _has_examples(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_examples_run(page: Path, place: Place) -> None:
    """In the order of the page. A Python block that begins with `# name.py` is a file; the commands after it run it."""
    commands = "\n".join(block.text for block in blocks(page) if block.language == "console")
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.skipped:
            continue
        if block.language == "python":
            named = re.match(r"# (\w+\.py)\n", block.text)
            file = place.path / "work" / (named[1] if named else f"block{block.line}.py")
            file.write_text(block.text + "\n")
            if named is None or named[1] not in commands:
                place.run([sys.executable, "-W", "error", file.name], where)
        elif block.language == "console":
            shown = [line for line in block.text.splitlines() if line.startswith("$ ")]
            assert shown, f"{where}: a console block without a command"
            for line in shown:
                place.run(line[2:], where)


def test_no_block_names_a_verb_that_does_not_exist() -> None:
    for page in PAGES:
        for block in blocks(page):
            for verb in re.findall(r"^(?:\$ )?paddock ([a-z][a-z0-9]*)", block.text, re.M):
                assert verb in VERBS, f"{page.name}:{block.line}: paddock {verb}"


def test_hardly_any_example_is_not_run() -> None:
    reasons = [block.skipped for page in PAGES for block in blocks(page) if block.skipped]
    assert sum("wants a cluster" not in reason for reason in reasons) <= 2


def test_the_checker_in_the_format_page_accepts_a_real_journal_and_nothing_else(tmp_path: Path) -> None:
    (source,) = [block.text for block in blocks(REFERENCE / "journal.md") if block.language == "python"]
    names: dict[str, object] = {}
    exec(compile(source, "journal.md", "exec"), names)  # noqa: S102
    check = names["check"]
    assert callable(check)
    shown = [REFERENCE / "journal.md", DOCS / "explanation" / "rows.md"]
    examples = re.findall(r"^[\[{].*\d[\]}]$", "\n".join(b.text for page in shown for b in blocks(page)), re.M)
    assert len(examples) >= 6
    assert [line for line in examples if check(line.encode()) is None] == []
    with paddock.init(config={"a": [1, {"b": float("nan")}]}) as run:
        for step in range(100):
            run.log({"loss": step / 3, "text, with {commas}": "a,b", "huge": 1e300}, step=step)
    (journal,) = run.path.glob("journal/*.jsonl")
    lines = journal.read_bytes().splitlines()
    assert all(check(line) is not None for line in lines)
    for line in lines:
        assert check(line.replace(b"1", b"2", 1)) is None
        assert check(line[:-1]) is None

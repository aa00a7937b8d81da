"""Which files are the code: as git lists them, or by a careful walk where there is no git."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from paddock.record.worktree import git
from paddock.record.worktree.ignore import Rules

_SUFFIXES = """
.py .pyi .pyx .pxd .ipynb .sh .bash .zsh .fish .slurm .sbatch .yaml .yml .toml .json .jsonnet .cfg .ini .conf .txt .md
.rst .c .cc .cpp .cxx .cu .cuh .h .hh .hpp .inl .rs .go .jl .r .rmd .m .tex .bib .sty .sql .proto .lua .java .scala .kt
.swift .js .jsx .mjs .ts .tsx .css .html .jinja .j2 .tmpl .cmake .mk .nix .gin .lock .awk .pl .rb .f90 .f .zig .hs .ml
.mli .def .service .dockerfile .patch .diff .ptx .mojo
"""
_NAMES = """
makefile gnumakefile dockerfile containerfile justfile snakefile cmakelists.txt license licence readme jenkinsfile
procfile vagrantfile singularity pipfile .gitignore .paddockignore .gitmodules .python-version .dockerignore
"""
SUFFIXES, NAMES = frozenset(_SUFFIXES.split()), frozenset(_NAMES.split())
# A home, and the links by which a watch holds the checkpoints that wait: others in each run, and no code in any.
_OURS = frozenset({".paddock", ".paddock-pins"})
_NO_CODE = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"}) | _OURS
# Where other tools put results beside the code. What git tracks in them is kept all the same.
_RESULTS = frozenset(
    {"wandb", "mlruns", "mlartifacts", "lightning_logs", "tb_logs", "multirun", "outputs", "checkpoints"}
)
_NESTED = 100  # repositories in repositories
_VISITED = 100_000  # directory entries of a walk
_CROWD = 10_000  # entries that make a directory one of data
_LOOSE = 1000  # untracked files that do not look like source

LeaveOut = Callable[[str, str], None]


class Listing(NamedTuple):
    files: list[str]  # relative to the root, the most telling first
    expected: int  # so many of them, from the start, may be missing without a remark: git tracks what was deleted
    untracked: list[str]


def is_source(name: str) -> bool:
    lower = name.lower()
    suffix = os.path.splitext(lower)[1]
    return suffix in SUFFIXES or lower in NAMES or lower.startswith(("requirements", "dockerfile.", "environment."))


def is_broad(root: Path) -> bool:
    """Whether this is no project's directory but one where everything lies: then only the script itself is kept."""
    places = {os.path.expanduser("~"), os.environ.get("TMPDIR", "/tmp"), "/", "/tmp", "/var/tmp", "/home", "/root"}
    places |= {"/usr", "/opt", "/mnt", "/media", "/data", "/scratch", "/srv", "/var"}
    broad = places | {os.path.realpath(path) for path in places}
    return str(root) in broad or root.name in _NO_CODE or str(root) == os.path.join(sys.prefix, "bin")


def is_installed(script: Path) -> bool:
    """Whether the script is an installed program (`torchrun`, `python -m package`) and not the user's own."""
    parts = script.parts
    return "site-packages" in parts or "dist-packages" in parts or script.parent == Path(sys.prefix, "bin")


def in_git(top: Path, besides: str | None, deadline: float, leave_out: LeaveOut) -> Listing:
    """What git tracks, and what it neither tracks nor ignores, also in submodules that are checked out."""
    rules = Rules().inside(str(top), "", (".paddockignore",))
    tracked: list[str] = []
    loose: list[str] = []
    queue = [""]
    for number, prefix in enumerate(queue):  # grows while it is read
        if number > _NESTED:
            leave_out(prefix, "too many repositories in repositories")
            continue
        if prefix and not _is_repository(top, prefix):
            leave_out(prefix, "a submodule that is not checked out")
            continue
        here = top / prefix
        names, modules, error = git.tracked(here, deadline)
        others, error_too = git.untracked(here, deadline, None if prefix else besides)
        for problem in (error, error_too):
            if problem:
                leave_out(prefix or ".", problem.splitlines()[0])
        tracked += [prefix + name for name in names]
        loose += [prefix + name for name in others if not name.endswith("/")]
        queue += [f"{prefix}{name.rstrip('/')}/" for name in (*modules, *(n for n in others if n.endswith("/")))]
    kept = [path for path in tracked if not _skipped(path, rules, besides)]
    loose = _without_results([path for path in loose if not _skipped(path, rules, besides)], leave_out)
    likely = [path for path in loose if is_source(os.path.basename(path))]
    known = set(likely)
    others = [path for path in loose if path not in known]
    for path in others[_LOOSE:]:
        leave_out(path, f"one of more than {_LOOSE} untracked files that are no source")
    return Listing(kept + likely + others[:_LOOSE], len(kept), loose)


def _is_repository(top: Path, prefix: str) -> bool:
    folder = top / prefix
    return os.path.lexists(folder / ".git") and os.path.realpath(folder).startswith(f"{os.path.realpath(top)}/")


def _skipped(path: str, rules: Rules, besides: str | None) -> bool:
    if besides and (path == besides or path.startswith(f"{besides}/")):
        return True
    return not _OURS.isdisjoint(path.split("/")[:-1]) or (bool(rules.specs) and rules.ignores(path))


def _without_results(paths: list[str], leave_out: LeaveOut) -> list[str]:
    kept: list[str] = []
    said: set[str] = set()
    for path in paths:
        top = path.split("/", 1)[0]
        if "/" not in path or top not in _RESULTS:
            kept.append(path)
        elif top not in said:
            said.add(top)
            leave_out(f"{top}/", "holds results, not code")
    return kept


def by_walk(root: Path, besides: str | None, deadline: float, leave_out: LeaveOut) -> Listing:
    """Source-like files below `root`, for a directory that is not in git."""
    found: list[str] = []
    queue = [("", Rules())]
    visited = 0
    for directory, above in queue:  # grows while it is read: broad before deep, so that caps cut the depths
        if visited > _VISITED or monotonic() > deadline:
            leave_out(f"{directory}/", "time ran out" if visited <= _VISITED else "too many files to look through")
            continue
        rules = above.inside(str(root), directory)
        prefix = f"{directory}/" if directory else ""
        for name, is_directory in _listed(f"{root}/{prefix}", prefix, leave_out):
            visited += 1
            path = prefix + name
            if path == besides or rules.ignores(path, directory=is_directory):
                continue
            if not is_directory:
                if is_source(name):
                    found.append(path)
            elif not _is_foreign(root / path, name):
                queue.append((path, rules))
    return Listing(found, 0, [])


def _listed(folder: str, prefix: str, leave_out: LeaveOut) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as scan:
            found = list(islice(((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan), _CROWD + 1))
    except OSError as error:
        leave_out(prefix or ".", error.strerror or str(error))
        return []
    if len(found) > _CROWD:
        leave_out(prefix or ".", f"more than {_CROWD} entries: data, not code")
        return []
    return sorted(found)


def _is_foreign(path: Path, name: str) -> bool:
    """A directory of other people's code, of caches, or of results."""
    if name.startswith(".") or name in _NO_CODE or name in _RESULTS:
        return True
    for mark in ("pyvenv.cfg", "conda-meta", ".git"):  # an environment, or a repository of its own
        try:
            mode = os.lstat(path / mark).st_mode
        except OSError:
            continue
        if mark != ".git" or stat.S_ISDIR(mode):
            return True
    return False

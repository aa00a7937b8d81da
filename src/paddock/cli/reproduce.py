"""paddock reproduce: a run's code and its command, once more."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from paddock import wire
from paddock.cli.command import Session, verb
from paddock.cli.output import Output
from paddock.cli.shape import amount, label, mapping
from paddock.compare.diff import DiffRow, diff_packages
from paddock.compare.fields import MISSING
from paddock.compare.text import many
from paddock.errors import NotFound, Refused
from paddock.model import RunRow
from paddock.record import code as code_store
from paddock.record.layout import Home, new_id
from paddock.track.identity import ATTEMPT, REPRODUCTION, RUN_HOME, RUN_ID, RUN_OWNER

_HELP = """Restore the code that a run was made with and print the command that repeats it; --run executes it there.

What differs between this machine and the run's (python, packages, files that were too large for the snapshot) is said.
"""


@dataclass(frozen=True)
class Plan:
    """What it takes to repeat a run."""

    directory: Path  # where the code is put
    cwd: Path  # where the command starts
    command: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def line(self) -> str:
        return f"cd {shlex.quote(str(self.cwd))} && {shlex.join(self.command)}"


@verb("reproduce", help=_HELP)
@click.argument("run")
@click.option("--into", type=click.Path(path_type=Path), help="Where to put the code [./<run's id>].")
@click.option("--run", "execute", is_flag=True, help="Execute the command there; its exit code is ours.")
@click.option("--force", is_flag=True, help="Into a directory that is not empty: files of the same name are replaced.")
def reproduce(session: Session, run: str, into: Path | None, execute: bool, force: bool) -> None:
    with session.catalog() as catalog:
        row = catalog.run(run)
        facts = catalog.facts(row.id)
    if not row.code:
        why = str(mapping(facts.get("code")).get("note") or "capturing it was switched off, or there was none")
        at = f" It was made at commit {row.commit}." if row.commit else ""
        raise NotFound(
            f"{label(row)} has no code snapshot ({why}).{at}", hint=f"Its command: {shlex.join(row.command)}"
        )
    directory = Path(os.path.abspath(into or row.id))
    restored = code_store.restore(session.home, row.code, directory, overwrite=force)
    plan = make_plan(row, facts, directory)
    out = session.out
    out.json(
        {
            "run": row.id,
            "directory": str(directory),
            "cwd": str(plan.cwd),
            "command": plan.command,
            "line": plan.line,
            "files": restored,
            "notes": plan.notes,
        }
    )
    _print(out, plan, restored)
    if execute:
        _execute(out, plan, session.home)


def make_plan(row: RunRow, facts: dict[str, Any], directory: Path) -> Plan:
    code = mapping(facts.get("code"))
    python = _interpreter(str(facts.get("executable") or ""))
    notes = [*_left_out(code), *_machine(facts, python)]
    root, was = str(code.get("root") or ""), str(facts.get("cwd") or "")
    inside = _below(was, root)
    if inside is None:
        notes.append(f"the run was started in {was}, outside of its code: relative paths may mean something else")
    cwd = directory / (inside or "")
    command = [_moved(word, root, directory) for word in row.command]
    if command and _is_python(command[0]):
        command[0] = python
    elif command and command[0].endswith(".py"):
        command.insert(0, python)
    elif command and command[0] == "paddock":  # `paddock run ...`, by the same python
        command[:1] = [python, "-m", "paddock"]
    return Plan(directory, cwd if cwd.is_dir() else directory, tuple(command), tuple(notes))


def _interpreter(recorded: str) -> str:
    """The run's own python where it still is; else ours."""
    return recorded if recorded and os.access(recorded, os.X_OK) and os.path.isfile(recorded) else sys.executable


def _is_python(word: str) -> bool:
    return os.path.basename(word).startswith(("python", "pypy"))


def _below(path: str, root: str) -> str | None:
    """`path` relative to `root`, None when it is not below it."""
    if not path or not root:
        return ""
    relative = os.path.relpath(path, root)
    return None if relative == ".." or relative.startswith("../") else ("" if relative == "." else relative)


def _moved(word: str, root: str, directory: Path) -> str:
    """An absolute path into the old code means the same file in the restored one."""
    if root and word.startswith(root.rstrip("/") + "/"):
        candidate = directory / word[len(root.rstrip("/")) + 1 :]
        return str(candidate) if candidate.exists() else word
    return word


def _left_out(code: dict[str, Any]) -> list[str]:
    count, items = int(amount(code.get("left_out_count"))), code.get("left_out")
    if not count:
        return []
    named = [f"{mapping(i).get('path')} ({mapping(i).get('why')})" for i in (items if isinstance(items, list) else [])]
    return [f"{count} files were not kept in the snapshot: {', '.join(named[:5])}{' ...' if count > 5 else ''}"]


def _machine(facts: dict[str, Any], python: str) -> list[str]:
    environment = mapping(facts.get("environment"))
    version, installed = _look(python)
    notes = []
    then = (str(environment.get("python") or "").split() or [""])[0]
    if then and version and then != version:
        notes.append(f"python was {then}, here it is {version}")
    recorded = mapping(environment.get("packages"))
    if recorded and installed:
        rows = diff_packages([{_canonical(k): v for k, v in one.items()} for one in (recorded, installed)])
        differing = [row for row in rows if row.values[0] is not MISSING]
        if differing:
            more = f" and {len(differing) - 10} more" if len(differing) > 10 else ""
            notes.append(f"packages differ: {', '.join(map(_package, differing[:10]))}{more}")
    return notes


def _canonical(name: str) -> str:
    """Names of packages are compared as the packaging standard says: My_Package is my-package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _package(row: DiffRow) -> str:
    then, now = row.values
    return f"{row.key} {then} (here {'missing' if now is MISSING else now})"


_LOOK = (
    "import json, platform, importlib.metadata as m\n"
    "found = {d.metadata['Name']: d.version for d in m.distributions() if d.metadata['Name']}\n"
    "print(json.dumps([platform.python_version(), found]))"
)


def _look(python: str) -> tuple[str, dict[str, str]]:
    """The version of an interpreter and its packages, asked of itself; nothing when it does not answer."""
    try:
        told = subprocess.run([python, "-c", _LOOK], capture_output=True, timeout=30, check=True)
        version, installed = wire.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, wire.DecodeError, ValueError):
        return "", {}
    return version, installed


def _print(out: Output, plan: Plan, restored: int) -> None:
    out.note(f"{many(restored, 'file')} in {plan.directory}")
    for note in plan.notes:
        out.note(f"note: {note}")
    out.line(plan.line)
    out.bare(plan.line)


def _environment(home: Home) -> dict[str, str]:
    """Whatever id the script gives its run, this is another one, and it lies beside the one that it repeats. Nor is it
    a part of the run that this command may have been started in."""
    environ = {key: value for key, value in os.environ.items() if key not in (RUN_ID, RUN_HOME, RUN_OWNER, ATTEMPT)}
    return {**environ, REPRODUCTION: new_id()[:6], "PADDOCK_HOME": str(home.path)}


def _execute(out: Output, plan: Plan, home: Home) -> None:
    if not plan.command:
        raise Refused("The run recorded no command.", hint="Start it by hand in the restored directory.")
    out.flush()
    try:
        # With --json stdout carries the JSON alone; what the command prints goes to stderr.
        stdout = None if out.human else sys.stderr.fileno()
        done = subprocess.run(plan.command, cwd=plan.cwd, env=_environment(home), stdout=stdout)
    except OSError as error:
        raise NotFound(f"{plan.command[0]} cannot be started ({error.strerror}).") from None
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)

"""paddock doctor: what works on this machine, and what to install for the rest."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import click

from paddock import settings as settings_
from paddock.catalog import place
from paddock.catalog.refresh import list_runs
from paddock.cli.command import Session, verb
from paddock.cli.output import Cell
from paddock.compare.text import many, size
from paddock.errors import HomeError, PaddockError
from paddock.record.filesystem import filesystem
from paddock.record.layout import Home
from paddock.settings import SETTINGS, Settings
from paddock.version import __version__

GOOD, POOR, BAD = "ok", "poor", "bad"  # works; works with less; the core does not work
_STYLES = {GOOD: "green", POOR: "yellow", BAD: "red"}
_MARKS = {GOOD: "ok", POOR: "--", BAD: "NO"}
_LITTLE_SPACE = 1 << 30  # bytes
_OLDEST_CLOCK = 1_767_225_600  # 2026-01-01: a clock before this was never set

# package, what it is for, what to install
EXTRAS = (
    ("pyarrow", "export to Parquet", "pip install 'paddock[parquet]'"),
    ("pandas", "data frames by pandas", "pip install 'paddock[pandas]'"),
    ("polars", "data frames by polars", "pip install 'paddock[polars]'"),
    ("pillow", "images from arrays", "pip install 'paddock[images]'"),
    ("numpy", "arrays", "pip install numpy"),
    ("nvidia-ml-py", "usage of NVIDIA GPUs", "pip install 'paddock[gpu]'"),
    ("matplotlib", "figures as PNG and PDF", "pip install 'paddock[figures]'"),
)


@dataclass(frozen=True)
class Finding:
    what: str
    level: str
    text: str
    advice: str = ""


Check = Callable[[Home, Settings], Finding]


def check_python(home: Home, settings: Settings) -> Finding:
    return Finding("python", GOOD, f"{platform.python_version()} ({sys.executable}), paddock {__version__}")


def check_home(home: Home, settings: Settings) -> Finding:
    path = home.path
    there = path if path.exists() else next(parent for parent in path.parents if parent.exists())
    advice = "Set PADDOCK_HOME to a directory that you can write."
    if not there.is_dir():
        return Finding("home", BAD, f"{path}: {there} is not a directory", advice)
    if not _can_write(there):
        return Finding("home", BAD, f"{path} cannot be written (runs in it can still be read)", advice)
    return Finding("home", GOOD, str(path) if path.exists() else f"{path} (made by the first run)")


def check_space(home: Home, settings: Settings) -> Finding:
    there = next(path for path in (home.path, *home.path.parents) if path.exists())
    kind, free = _filesystem(there), shutil.disk_usage(there).free
    text = f"{size(free)} free on {kind or 'an unknown filesystem'}"
    return Finding("disk", POOR, text, "Free some space.") if free < _LITTLE_SPACE else Finding("disk", GOOD, text)


def check_links(home: Home, settings: Settings) -> Finding:
    there = next(path for path in (home.path, *home.path.parents) if path.exists())
    if not _can_write(there):
        return Finding("hard links", POOR, "not tried: the home cannot be written")
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".paddock-doctor-") as folder:
            Path(folder, "a").write_bytes(b"")
            os.link(Path(folder, "a"), Path(folder, "b"))
    except OSError as error:
        advice = "Everything works; a reader may see a file half written for a moment."
        return Finding("hard links", POOR, f"none in the home ({error.strerror})", advice)
    return Finding("hard links", GOOD, "the home has them")


def check_cache(home: Home, settings: Settings) -> Finding:
    path = place.locate(home, settings.cache)
    advice = "Set PADDOCK_CACHE to a directory on a local disk: without one each command reads all runs anew."
    if path is None:
        return Finding("cache", POOR, "no local directory can be written; the catalog is kept in memory", advice)
    wanted = place.cache_directory(settings.cache)
    if wanted is None or wanted not in path.parents:
        where = f"{wanted} is not on a local disk or cannot be written" if wanted else "there is no cache directory"
        return Finding("cache", POOR, f"{path} ({where})", advice)
    return Finding("cache", GOOD, str(path))


def check_runs(home: Home, settings: Settings) -> Finding:
    try:
        listing = list_runs(home)
    except HomeError as error:
        return Finding("runs", BAD, error.message, error.hint)
    text = many(len(listing.runs), "run")
    if listing.unreadable:
        text += f", and {len(listing.unreadable)} that you may not read"
        return Finding("runs", POOR, text, "Their owners can share them: chmod -R go+rX <home>/runs/<id>.")
    return Finding("runs", GOOD, text)


def check_git(home: Home, settings: Settings) -> Finding:
    git = shutil.which("git")
    if git is None:
        return Finding("git", POOR, "not found", "Install git: without it runs record neither commit nor diff.")
    try:
        told = subprocess.run([git, "--version"], capture_output=True, text=True, timeout=10).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return Finding("git", POOR, f"{git} does not answer", "Install git anew.")
    return Finding("git", GOOD, told or git)


def check_proc(home: Home, settings: Settings) -> Finding:
    advice = "Liveness is judged by heartbeats alone: a dead run shows as lost after some seconds instead of at once."
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        Path("/proc/self/stat").read_bytes()
    except OSError as error:
        return Finding("/proc", POOR, f"cannot be read ({error.strerror})", advice)
    return Finding("/proc", GOOD, f"readable, boot {boot[:8]}")


def check_cgroup(home: Home, settings: Settings) -> Finding:
    from paddock.work.processes import cgroup

    where = cgroup.base()
    if where:
        return Finding("cgroup v2", GOOD, f"{where} is ours to divide: a task is ended with all that it has started")
    advice = "Processes of a task are found by descent, session and environment: one that drops all three outlives it."
    return Finding("cgroup v2", POOR, "none that we may divide", advice)


def check_clock(home: Home, settings: Settings) -> Finding:
    now = time.time()
    text = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(now))
    if now < _OLDEST_CLOCK:
        return Finding("clock", POOR, text, "Set the clock: the times of new runs will be wrong.")
    return Finding("clock", GOOD, text)


def check_server(home: Home, settings: Settings) -> Finding:
    from paddock.errors import PaddockError
    from paddock.monitor.server.presence import find
    from paddock.record.token import ensure, token_file

    found = find(home)
    if found is not None:
        return Finding("server", GOOD, f"runs on {found.host} (pid {found.pid}): {', '.join(found.urls)}")
    if token_file(home).exists():
        try:
            ensure(token_file(home))
        except PaddockError as error:
            return Finding("server", POOR, error.message, error.hint)
    return Finding("server", GOOD, "none runs on this home; `paddock serve` starts one")


CHECKS: tuple[Check, ...] = (
    check_python,
    check_home,
    check_space,
    check_links,
    check_cache,
    check_runs,
    check_git,
    check_proc,
    check_cgroup,
    check_clock,
    check_server,
)


def check_extras() -> list[Finding]:
    found = []
    for package, use, install in EXTRAS:
        try:
            found.append(Finding(package, GOOD, f"{metadata.version(package)}: {use}"))
        except metadata.PackageNotFoundError:
            found.append(Finding(package, POOR, f"not installed: no {use}", install))
    return found


@verb(
    "doctor", help="What works on this machine, and what to install for the rest. Exits 1 when the core does not work."
)
@click.option("--settings", "show_settings", is_flag=True, help="Every setting, its value, and where that came from.")
def doctor(session: Session, show_settings: bool) -> None:
    if show_settings:
        _print_settings(session)
        return
    findings = _examine(session)
    healthy = all(finding.level != BAD for finding in findings)
    session.out.json(
        {
            "healthy": healthy,
            "findings": [{"what": f.what, "level": f.level, "text": f.text, "advice": f.advice} for f in findings],
        }
    )
    if session.out.human:
        rows: list[list[Cell]] = [[(_MARKS[f.level], _STYLES[f.level]), f.what, f.text] for f in findings]
        session.out.table(["", "what", "found"], rows)
        advice = [(f.what, f.advice) for f in findings if f.advice]
        if advice:
            session.out.heading("to have more")
            session.out.fields(advice)
    session.out.flush()
    if not healthy:
        sys.exit(1)


def _examine(session: Session) -> list[Finding]:
    try:
        settings = session.source.settings
        home = session.home
    except PaddockError as error:  # no home, or a broken paddock.toml: that is a finding
        return [
            check_python(Home(Path("/")), Settings({}, {})),
            Finding("home", BAD, error.message, error.hint),
            *check_extras(),
        ]
    return [*(check(home, settings) for check in CHECKS), *check_extras()]


def _print_settings(session: Session) -> None:
    found = settings_.load(home=session.home_option)
    session.out.json(
        {
            "settings": [
                {
                    "name": one.name,
                    "value": found.values[one.name],
                    "source": found.sources[one.name],
                    "variable": one.variable,
                    "about": one.about,
                }
                for one in SETTINGS
            ]
        }
    )
    rows: list[list[Cell]] = [
        [one.name, _shown(found.values[one.name]), found.sources[one.name], one.about] for one in SETTINGS
    ]
    session.out.table(["setting", "value", "from", "about"], rows)
    file = settings_.settings_file()
    session.out.note(f"Set one in paddock.toml ({file or 'none found'}) or in the environment as PADDOCK_<SETTING>.")


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _can_write(path: Path) -> bool:
    return os.access(path, os.W_OK | os.X_OK)


def _filesystem(path: Path) -> str:
    try:
        return filesystem(os.path.realpath(path), Path("/proc/self/mountinfo").read_text(errors="replace"))
    except OSError:
        return ""

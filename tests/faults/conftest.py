from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.record.layout import Home
from tests.acceptance.conftest import new_program
from tests.conformance.backend import RedisBackend


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a Python script of its own, as a person would."""
    monkeypatch.setenv("PADDOCK_CAPTURE_CODE", "false")
    started: list[subprocess.Popen[bytes]] = []

    def start(source: str, *arguments: object, **options: object) -> subprocess.Popen[bytes]:
        path = tmp_path / f"script{len(started)}.py"  # not one file: a process may be reading it
        path.write_text(textwrap.dedent(source))
        process = subprocess.Popen([sys.executable, str(path), *map(str, arguments)], **options)  # type: ignore[call-overload]
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


@pytest.fixture
def backend(home: Home, tmp_path: Path) -> Iterator[RedisBackend]:
    """A queue in a Redis of its own, which a test may kill, fill and empty."""
    made = RedisBackend(new_program(home.path, tmp_path), home)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def hosts() -> Iterator[tuple[str, str]]:
    """Two network namespaces with a line between them: 10.231.0.1 and 10.231.0.2."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    mark = f"{os.getpid()}"
    one, two = f"pda{mark}", f"pdb{mark}"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    try:
        ip("netns", "add", one)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"network namespaces cannot be made here ({error})")
    try:
        ip("netns", "add", two)
        ip("link", "add", "pd0", "netns", one, "type", "veth", "peer", "name", "pd0", "netns", two)
        for name, address in ((one, "10.231.0.1/24"), (two, "10.231.0.2/24")):
            ip("-n", name, "address", "add", address, "dev", "pd0")
            ip("-n", name, "link", "set", "pd0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield one, two
    finally:
        for name in (one, two):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


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

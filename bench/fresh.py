"""One measurement, one process: what an earlier one imported, cached or started cannot help or hurt the next."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

TIMEOUT_SECONDS = 1800


class NotMeasured(Exception):
    """The system could not be measured; the text says why."""


def command(function: str, system: str, home: Path, answer: Path, arguments: dict[str, Any]) -> list[str]:
    asked = {"function": function, "system": system, "home": str(home), "answer": str(answer), "arguments": arguments}
    return [sys.executable, "-m", "bench.fresh", json.dumps(asked)]


def environment() -> dict[str, str]:
    """The caller's, with the repository importable from any directory, and nothing that would change a system."""
    foreign = ("PADDOCK_", "PYTHON", "WANDB_")  # PYTHONDONTWRITEBYTECODE would compile Paddock at every start
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    here = str(Path(__file__).parent.parent)
    inherited = [os.path.abspath(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return {**kept, "PYTHONPATH": os.pathsep.join([here, *inherited]), "PYTHONWARNINGS": "ignore"}


def call(function: str, system: str, home: Path, **arguments: Any) -> dict[str, Any]:
    """`bench.cases.<case>:<name>` called in a new process with the system and its home; its answer."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        answer, errors = Path(scratch, "answer.json"), Path(scratch, "stderr")
        with errors.open("wb") as stderr:
            process = subprocess.Popen(
                command(function, system, home, answer, arguments),
                cwd=home,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                code = process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                raise NotMeasured(f"not done after {TIMEOUT_SECONDS} s") from None
            finally:
                end_session(process)
        if code or not answer.exists():
            raise NotMeasured(last_line(errors.read_text(errors="replace")) or f"exit code {code}")
        return json.loads(answer.read_bytes())


def command_line(system: Any, home: Path, *arguments: str) -> float:
    """The seconds that a whole `paddock ...` takes, from starting Python to the last byte."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "paddock", *arguments],
        env=environment() | system.environment(home),
        capture_output=True,
        check=False,
    )
    taken = perf_counter() - start
    if done.returncode:
        raise NotMeasured(last_line(done.stderr.decode(errors="replace")))
    return taken


def end_session(process: subprocess.Popen[bytes]) -> None:
    """A measurement's helper processes end with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def main() -> None:
    asked = json.loads(sys.argv[1])
    module, name = asked["function"].split(":")
    home = Path(asked["home"])
    from bench.system import all_systems

    system = all_systems()[asked["system"]]
    os.environ.update(system.environment(home))
    found = getattr(importlib.import_module(module), name)(system, home, **asked["arguments"])
    Path(asked["answer"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()

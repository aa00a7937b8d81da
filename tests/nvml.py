"""A driver of two GPUs where there is none: a library that answers as NVIDIA's does, as far as Paddock asks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("nvml_stub.c")


@pytest.fixture(scope="session")
def _library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to make a driver with")
    directory = tmp_path_factory.mktemp("nvml")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", directory / "libnvidia-ml.so.1", _SOURCE], check=True)
    return directory


@pytest.fixture
def driver(_library: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a process that finds the driver when it asks for NVIDIA's library."""
    return os.environ | {"LD_LIBRARY_PATH": str(_library), "XDG_RUNTIME_DIR": str(tmp_path)}

"""A real S3 server, and an emulator of Google's storage, for as long as a test module needs them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import until

GOOGLE = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}  # else it asks Google itself, and waits
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}


def program() -> str:
    """SeaweedFS, from PyPI; "" where it is not installed."""
    beside = os.path.join(os.path.dirname(sys.executable), "weed")
    return beside if os.path.exists(beside) else shutil.which("weed") or ""


@contextmanager
def server(directory: Path, host: str = "127.0.0.1", prefix: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """The environment in which s3:// leads there. `prefix`: words before the command, such as `ip netns exec NAME`."""
    master, volume, filer, port = _free_ports(4)
    command = [*prefix, program(), f"-logdir={directory}", "server", f"-dir={directory}"]
    command += [f"-ip={host}", f"-ip.bind={host}"]
    command += [f"-master.port={master}", f"-master.port.grpc={master + 10000}", "-master.volumeSizeLimitMB=16"]
    command += [f"-volume.port={volume}", f"-volume.port.grpc={volume + 10000}", "-volume.max=50"]
    command += ["-filer", f"-filer.port={filer}", f"-filer.port.grpc={filer + 10000}"]
    command += ["-s3", f"-s3.port={port}", f"-s3.port.grpc={port + 10000}", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    with open(directory / "server.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        url = f"http://{host}:{port}"
        until(lambda: (_answers_at(prefix, url) if prefix else _answers(url)) or _died(process, directory), pause=0.1)
        yield {**KEYS, "AWS_ENDPOINT_URL": url}
    finally:
        process.kill()
        process.wait()


@contextmanager
def google(directory: Path) -> Iterator[dict[str, str]]:
    """The environment in which gs:// leads to an emulator."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gcp_storage_emulator", "start"]
    command += ["--host=127.0.0.1", f"--port={port}", "--in-memory"]
    with open(directory / "server.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: _answers(url) or _died(process, directory), pause=0.1)
        yield {"STORAGE_EMULATOR_HOST": url, **GOOGLE, "FSSPEC_GS_TOKEN": "anon"}
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def _answers_at(prefix: Sequence[str], url: str) -> bool:
    """As somebody sees it who is over there."""
    script = f"import sys; from tests.acceptance.bucket import _answers; sys.exit(not _answers({url!r}))"
    return subprocess.run([*prefix, sys.executable, "-c", script], cwd=Path(__file__).parents[2]).returncode == 0


def _died(process: subprocess.Popen[bytes], directory: Path) -> bool:
    assert process.poll() is None, (directory / "server.log").read_text()[-2000:]
    return False


def _free_ports(number: int) -> list[int]:
    """Such that the ports 10,000 above, for its parts among themselves, are free too."""
    found: list[int] = []
    sockets = []
    # Apart from those of a neighbour, and below those that the kernel gives to whoever connects.
    for port in range(10100 + os.getpid() * 16 % 10000, 22700):
        try:
            for one in (port, port + 10000):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", one))
        except OSError:
            continue
        found.append(port)
        if len(found) == number:
            break
    for one in sockets:
        one.close()
    return found

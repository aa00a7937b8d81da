"""The machine and the process, as /proc has them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from paddock import wire
from paddock.track.capture import host

linux = pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")


def test_the_host_is_described_and_can_be_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
    found = host.facts()
    assert found["name"] == socket.gethostname()
    assert found["cpus"] >= 1
    assert found["memory"] > 1 << 20
    assert isinstance(found["gpus"], list)
    assert found["cuda_visible_devices"] == "0,3"
    wire.dumps(found)


@linux
def test_a_process_is_named_by_its_start_and_the_boot() -> None:
    mine = host.process_identity()
    assert mine == host.process_identity(os.getpid())
    assert mine[0].isdigit()
    assert len(mine[1]) == 36
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        theirs = host.process_identity(child.pid)
        assert theirs[1] == mine[1]
        assert int(theirs[0]) >= int(mine[0])
    finally:
        child.communicate(b"\n")
    assert host.process_identity(child.pid)[0] == ""


@linux
def test_a_process_with_brackets_in_its_name_is_read_right(tmp_path: os.PathLike[str]) -> None:
    program = os.path.join(tmp_path, "a) b (c")
    os.symlink("/bin/cat", program)
    child = subprocess.Popen([program], stdin=subprocess.PIPE)
    try:
        assert int(host.process_identity(child.pid)[0]) >= int(host.process_identity()[0])
    finally:
        child.communicate()


@linux
def test_the_kernels_count_of_memory_kills_is_read() -> None:
    assert host.oom_kills() >= -1
    assert host.oom_kills() == host.oom_kills()

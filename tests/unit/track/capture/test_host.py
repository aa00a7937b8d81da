"""The machine, as /proc has it."""

from __future__ import annotations

import socket

import pytest

from paddock import wire
from paddock.track.capture import host


def test_the_host_is_described_and_can_be_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
    found = host.facts()
    assert found["name"] == socket.gethostname()
    assert found["cpus"] >= 1
    assert found["memory"] > 1 << 20
    assert isinstance(found["gpus"], list)
    assert found["cuda_visible_devices"] == "0,3"
    wire.dumps(found)

"""What a worker is given beside its options."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.cli.workplace import all_gpus
from paddock.errors import UsageError


def test_all_gpus_are_those_that_are_visible_else_those_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia-caps"):
        (tmp_path / name).touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,GPU-8932f937")
    assert all_gpus(tmp_path) == "4,GPU-8932f937"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert all_gpus(tmp_path) == "0,1"  # as CUDA counts them, whatever the files are called
    with pytest.raises(UsageError, match="there is none here"):
        all_gpus(tmp_path / "none")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with pytest.raises(UsageError, match="CUDA_VISIBLE_DEVICES is '-1'"):
        all_gpus(tmp_path)

"""GPUs, asked through the real nvidia-ml-py of a library that answers as NVIDIA's does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LOOK = """
import json, os, sys
from paddock.gauge.gpus import GpuMeter
os.environ["STUB_PID"] = sys.argv[2]
meter = GpuMeter(float(sys.argv[3]), sys.argv[1])
found = [meter.look() for _ in range(int(sys.argv[4]))][-1]
share = meter.share(int(sys.argv[2]))
print(json.dumps({"why": meter.why, "share": share, "devices": found and [d._asdict() for d in found.devices]}))
"""


def look(environment: dict[str, str], path: Path, *, pid: int = 4711, every: float = 60, times: int = 1) -> Any:
    command = [sys.executable, "-c", LOOK, str(path), str(pid), str(every), str(times)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_devices_and_the_share_of_a_process_are_what_the_driver_says(driver: dict[str, str], tmp_path: Path) -> None:
    found = look(driver, tmp_path / "gpus")
    assert found["why"] == ""
    assert found["share"] == [50.0, 512 << 20]  # the mean of the driver's two samples
    assert [(d["name"], d["used"], d["total"], d["busy"]) for d in found["devices"]] == [
        ("Stub 0", 1 << 30, 80 << 30, 70.0),
        ("Stub 1", 2 << 30, 80 << 30, 71.0),
    ]


def test_many_processes_ask_the_driver_once(driver: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "asked"
    environment = driver | {"STUB_LOG": str(log)}
    found = [look(environment, tmp_path / "gpus", times=5) for _ in range(3)]
    assert log.read_text().split() == ["0", "1"]
    assert [one["share"] for one in found] == [[50.0, 512 << 20]] * 3


def test_an_old_answer_is_asked_for_again(driver: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "asked"
    look(driver | {"STUB_LOG": str(log)}, tmp_path / "gpus", every=0, times=3)
    assert len(log.read_text().split()) >= 6


def test_where_the_driver_does_not_tell_processes_apart_one_that_is_alone_has_all(
    driver: dict[str, str], tmp_path: Path
) -> None:
    assert look(driver | {"STUB_OLD": "1"}, tmp_path / "gpus")["share"] == [70.0, 512 << 20]


def test_a_driver_that_fails_is_a_reason_and_no_exception(driver: dict[str, str], tmp_path: Path) -> None:
    found = look(driver | {"STUB_BROKEN": "1"}, tmp_path / "gpus")
    assert "NVMLError" in found["why"] and found["share"] is None


def test_without_a_driver_there_is_nothing_to_ask(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    found = look(environment, tmp_path / "gpus")
    if found["why"]:  # a machine with GPUs has a driver
        assert found["why"] == "no NVIDIA driver" and found["devices"] is None


def test_what_somebody_else_left_in_the_shared_place_is_not_believed(driver: dict[str, str], tmp_path: Path) -> None:
    place = tmp_path / "gpus"
    place.write_text('[1e300, "nonsense", 7]')
    assert look(driver, place)["share"] == [50.0, 512 << 20]
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert look(driver, tmp_path / "link")["share"] == [50.0, 512 << 20]  # asked, and kept to itself
    assert (tmp_path / "elsewhere").read_text() == ""

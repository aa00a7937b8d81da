"""Usage.checkpoint() in real processes: what is written, when, by whom; and that it disturbs nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Reading
from tests.waiting import DEADLINE, until

FAST = {"PADDOCK_USAGE_SECONDS": "0.02", "PADDOCK_CAPTURE_CODE": "false", "PADDOCK_QUIET": "1"}
ON = FAST | {"PADDOCK_USAGE": "1"}


def script(tmp_path: Path, text: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(text)
    environ = os.environ | more
    return subprocess.run(
        [sys.executable, "-W", "error", path], env=environ, capture_output=True, text=True, timeout=DEADLINE
    )


@pytest.fixture
def usage(tmp_path: Path, read: Callable[[Path], Reading]) -> Callable[..., Reading]:
    """What the run of a script has recorded."""

    def call(text: str, environ: dict[str, str]) -> Reading:
        done = script(tmp_path, text, **environ)
        assert done.returncode == 0, done.stderr
        (run,) = (tmp_path / "home" / "runs").iterdir()
        found = read(run)
        assert found.damaged == 0
        return found

    return call


def rows(found: Reading) -> list[dict[str, Any]]:
    records = found.records.get("usage", [])
    return [dict(zip(record["columns"], row, strict=True)) for record in records for row in record["rows"]]


PLAIN = """
import time
import paddock
from paddock.monitor.usage import Usage

paddock.init({more})
time.sleep(0.3)
{checkpoints}
"""
LOOP = "for i in range(3):\n    Usage.checkpoint('step', i)\n    time.sleep(0.1)"


def test_off_by_default_and_then_a_checkpoint_does_nothing(usage: Callable[..., Reading]) -> None:
    found = usage(PLAIN.format(more="", checkpoints=LOOP), FAST)
    assert not found.records.keys() & {"usage", "usage_mark"}


def test_nothing_is_written_without_a_checkpoint(usage: Callable[..., Reading]) -> None:
    assert "usage" not in usage(PLAIN.format(more="usage=True", checkpoints=""), FAST).records


@pytest.mark.parametrize(("more", "environ"), [("usage=True", FAST), ("", ON)])
def test_with_the_first_checkpoint_comes_what_was_before(
    usage: Callable[..., Reading], more: str, environ: dict[str, str]
) -> None:
    found = usage(PLAIN.format(more=more, checkpoints=LOOP), environ)
    assert [mark["msg"] for mark in found.records["usage_mark"]] == [["step", 0], ["step", 1], ["step", 2]]
    first = found.records["usage_mark"][0]["t"]
    times = [r["t"] + row[0] / 1000 for r in found.records["usage"] for row in r["rows"]]
    assert min(times) < first < max(times) and times == sorted(times)
    assert all(row["rss"] > 1 << 20 and row["threads"] >= 2 and row["cpu"] >= 0 for row in rows(found))


def test_an_argument_goes_before_the_environment(usage: Callable[..., Reading]) -> None:
    found = usage(PLAIN.format(more="usage=False", checkpoints=LOOP), ON)
    assert not found.records.keys() & {"usage", "usage_mark"}


def test_it_can_be_switched_on_and_off_in_the_middle(usage: Callable[..., Reading]) -> None:
    text = "Usage.checkpoint('no')\nUsage.enable(0.02)\nUsage.checkpoint('yes')\nassert Usage.enabled()\n"
    text += "time.sleep(0.1)\nUsage.disable()\nUsage.checkpoint('no more')\nassert not Usage.enabled()"
    found = usage(PLAIN.format(more="", checkpoints=text), FAST)
    assert [mark["msg"] for mark in found.records["usage_mark"]] == [["yes"]]
    assert rows(found)


def test_without_a_run_one_is_begun_and_only_once(usage: Callable[..., Reading]) -> None:
    text = "from paddock.monitor import Usage\nimport paddock\nUsage.checkpoint('a')\npaddock.finish()\n"
    found = usage(text + "Usage.checkpoint('b')", ON)
    assert [mark["msg"] for mark in found.records["usage_mark"]] == [["a"]]


def test_many_threads_may_make_the_first_checkpoint(usage: Callable[..., Reading]) -> None:
    text = """
import threading
from paddock.monitor import Usage
several = [threading.Thread(target=Usage.checkpoint, args=("thread", number)) for number in range(20)]
for one in several: one.start()
for one in several: one.join()
assert [thread.name for thread in threading.enumerate()].count("paddock-usage") == 1
"""
    found = usage(text, ON)
    assert sorted(mark["msg"][1] for mark in found.records["usage_mark"]) == [*range(20)]


def test_a_disabled_run_writes_nothing(tmp_path: Path) -> None:
    done = script(tmp_path, PLAIN.format(more="mode='disabled'", checkpoints=LOOP), **ON)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "home").exists()


def test_anything_may_be_said_and_what_is_large_is_cut(usage: Callable[..., Reading]) -> None:
    text = """
class Bad:
    def __str__(self):
        raise RuntimeError
Usage.checkpoint("100% [/x]", None, 1.5, float("nan"), 2**80, list(range(10**6)), "x" * 10**6, Bad(), *range(50))
"""
    (mark,) = usage(PLAIN.format(more="", checkpoints=text), ON).records["usage_mark"]
    message = mark["msg"]
    assert message[:3] == ["100% [/x]", None, 1.5] and message[3:5] == ["nan", str(2**80)]
    assert len(message[5]) < 100 and message[6].endswith("(1000000 characters)") and "RuntimeError" in message[7]
    assert message[-1] == "… and 26 more"


POOL = """
import multiprocessing, time
import paddock

def work(number):
    held = bytearray(b"x") * (20 << 20)
    end = time.process_time() + 0.1
    while time.process_time() < end: pass
    return number

if __name__ == "__main__":
    from paddock.monitor.usage import Usage
    paddock.init(usage=True)
    Usage.checkpoint("begin")
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        pool.map(work, range(4), chunksize=1)
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_a_pool_are_sampled_without_a_word_of_their_own(
    usage: Callable[..., Reading], method: str
) -> None:
    found = usage(POOL.format(method=method), FAST)
    writers = {(about["pid"], about["role"]) for about in found.records["open"]}
    roles = sorted(role for _, role in writers)
    assert roles == ["child", "child", "main"] or (method, roles) == ("forkserver", ["child"] * 3 + ["main"])
    assert len(found.records["usage"]) >= 3
    assert max(row["rss"] for row in rows(found)) > 20 << 20 and max(row["cpu"] for row in rows(found)) > 0


def test_a_program_that_a_tracked_one_starts_joins_and_may_still_begin_a_run_of_its_own(
    tmp_path: Path, read: Callable[[Path], Reading]
) -> None:
    (tmp_path / "other.py").write_text(
        "import time, paddock\nfrom paddock.monitor.usage import Usage\ntime.sleep(0.1)\nUsage.checkpoint('inside')\n"
        "paddock.init(project='own')\nUsage.checkpoint('own')\n"
    )
    text = "import subprocess, sys, paddock\nfrom paddock.monitor import Usage\npaddock.init(id='first')\n"
    done = script(
        tmp_path, text + f"subprocess.run([sys.executable, {str(tmp_path / 'other.py')!r}], check=True)", **ON
    )
    assert done.returncode == 0, done.stderr
    runs = {path.name: read(path) for path in (tmp_path / "home" / "runs").iterdir()}
    own = next(found for name, found in runs.items() if name != "first")
    assert [mark["msg"] for mark in runs["first"].records["usage_mark"]] == [["inside"]]
    assert [mark["msg"] for mark in own.records["usage_mark"]] == [["own"]]


def test_what_was_written_survives_kill_and_comes_in_batches(tmp_path: Path, read: Callable[[Path], Reading]) -> None:
    text = "from paddock.track.usage import sampler\nsampler.FIRST_SECONDS = sampler.BATCH_SECONDS = 0.1\n"
    text += PLAIN.format(more="", checkpoints="Usage.checkpoint('a')\nprint('up', flush=True)\ntime.sleep(60)")
    (tmp_path / "script.py").write_text(text)
    with subprocess.Popen([sys.executable, tmp_path / "script.py"], env=os.environ | ON, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stdout.readline() == b"up\n"
        (path,) = (tmp_path / "home" / "runs").iterdir()
        until(lambda: len(read(path).records.get("usage", [])) >= 4, pause=0.05)
        run.send_signal(signal.SIGKILL)
    found = read(path)
    assert len(found.records["usage"]) >= 4 and found.damaged == 0
    assert all(len(record["rows"]) < 40 for record in found.records["usage"][1:])


def test_the_thread_keeps_no_process_from_ending_and_a_signal_ends_it_with_its_record(
    tmp_path: Path, read: Callable[[Path], Reading]
) -> None:
    text = PLAIN.format(more="", checkpoints="Usage.checkpoint('a')\nprint('up', flush=True)\ntime.sleep(60)")
    (tmp_path / "script.py").write_text(text)
    environ = os.environ | ON | {"PADDOCK_USAGE_SECONDS": "30"}
    with subprocess.Popen([sys.executable, tmp_path / "script.py"], env=environ, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stdout.readline() == b"up\n"
        run.terminate()
        began = time.monotonic()
        run.wait(DEADLINE)
        assert time.monotonic() - began < 20  # not for as long as it would rest between two samples
    (path,) = (tmp_path / "home" / "runs").iterdir()
    found = read(path)
    assert rows(found) == [] or len(rows(found)) == 1  # the last one, taken at the end
    assert found.records["end"][0]["reason"] == "signal"


def test_the_end_of_a_run_is_its_journals_last_record(usage: Callable[..., Reading], tmp_path: Path) -> None:
    usage(PLAIN.format(more="", checkpoints=LOOP), ON | {"PADDOCK_USAGE_SECONDS": "0.01"})
    (journal,) = (tmp_path / "home" / "runs").glob("*/journal/*.jsonl")
    assert journal.read_bytes().splitlines()[-1].startswith(b'{"k":"end"')


def test_a_process_on_a_gpu_has_its_share_of_it(usage: Callable[..., Reading], driver: dict[str, str]) -> None:
    text = "import os\nos.environ['STUB_PID'] = str(os.getpid())\n" + PLAIN.format(more="", checkpoints=LOOP)
    found = rows(usage(text, driver | ON | {"PADDOCK_USAGE_SECONDS": "0.05"}))
    assert found[-1]["gpu"] == 50.0 and found[-1]["gpu_memory"] == 512 << 20
    assert {name for row in found for name in row} >= {"cpu", "rss", "gpu", "gpu_memory"}


def test_a_setting_that_is_wrong_is_a_remark_and_no_exception(tmp_path: Path) -> None:
    done = script(
        tmp_path, "from paddock.monitor import Usage\nUsage.checkpoint(1)\nprint('on')", PADDOCK_USAGE="maybe"
    )
    assert done.returncode == 0 and done.stdout == "on\n" and "PADDOCK_USAGE" in done.stderr


def test_where_nobody_asked_nothing_of_it_is_imported() -> None:
    code = "import paddock, sys; paddock.init(); print([m for m in sys.modules if 'usage' in m or 'gauge' in m])"
    found = subprocess.run([sys.executable, "-c", code], env=os.environ | FAST, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"

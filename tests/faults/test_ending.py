"""However a process ends, the record says how."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

START = "import paddock, sys, os, time\nrun = paddock.init(id='ends')\nrun.log({'a': 1})\n"


@pytest.mark.parametrize(
    ("last_words", "status", "code", "reason"),
    [
        ("", 0, 0, "finished"),
        ("sys.exit(3)", 3, 3, "exit"),
        ("sys.exit('no')", 1, 1, "exit"),
        ("raise ValueError('broken')", 1, 1, "exception"),
        ("raise KeyboardInterrupt", 130, 130, "interrupted"),
        ("run.finish(4)", 0, 4, "exit"),
    ],
)
def test_the_exit_is_recorded(script, read, home, last_words: str, status: int, code: int, reason: str) -> None:
    process = script(START + last_words, stderr=subprocess.DEVNULL)
    found_status = process.wait()
    assert found_status in (status, -signal.SIGINT if status == 130 else status)
    (end,) = read(home.runs / "ends").records["end"]
    assert (end["code"], end["reason"]) == (code, reason)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_recorded_and_still_ends_the_process(script, read, home, number: signal.Signals) -> None:
    process = script(START + "print('up', flush=True)\ntime.sleep(600)", stdout=-1)
    process.stdout.readline()
    process.send_signal(number)
    assert process.wait(timeout=30) == -number
    (end,) = read(home.runs / "ends").records["end"]
    assert (end["reason"], end["signal"]) == ("signal", number.name.removeprefix("SIG"))


def test_a_handler_of_the_scripts_own_stays(script, read, home) -> None:
    source = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(17))\n" + START + "print('up', flush=True)\ntime.sleep(600)"
    )
    process = script(source, stdout=-1)
    process.stdout.readline()
    process.terminate()
    assert process.wait(timeout=30) == 17
    assert read(home.runs / "ends").records["end"][0]["code"] == 17


def test_a_crash_leaves_its_traceback_in_the_output(script, home) -> None:
    process = script(START + "import ctypes\nctypes.string_at(0)")
    assert process.wait() == -signal.SIGSEGV
    assert b"Segmentation fault" in (home.runs / "ends" / "output" / "1.log").read_bytes()


def test_warnings_as_errors_do_not_reach_the_loop(tmp_path, home, read) -> None:
    path = tmp_path / "strict.py"
    path.write_text(START + "run.log({'x': object()})\nrun.log({'a': 2})\n")
    subprocess.run([sys.executable, "-W", "error", str(path)], check=True, capture_output=True)
    assert read(home.runs / "ends").values("a") == [1, 2]

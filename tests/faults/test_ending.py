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
        ("exit(6)", 6, 6, "exit"),
        ("try:\n    sys.exit(3)\nexcept SystemExit:\n    pass", 0, 0, "finished"),
        ("import threading\nt = threading.Thread(target=sys.exit, args=(3,)); t.start(); t.join()", 0, 0, "finished"),
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


HANDLER = """
    import signal, sys, time
    import paddock

    class Preempted(Exception):
        pass

    def preempt(*_):
        raise Preempted

    signal.signal(signal.SIGALRM, preempt)
    run = paddock.init(id="alarm")
    caught = step = 0
    for _ in range(200):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005)
            while True:
                run.log({"a": step, "b": 0.5}, step=step)
                step += 1
        except Preempted:
            caught += 1
            step += 1
    print(caught)
"""


def test_what_a_signal_handler_raises_inside_log_reaches_the_script(script, read, home) -> None:
    process = script(HANDLER, stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert int(out) == 200
    steps = [step for step, _ in read(home.runs / "alarm").points["a"]]
    assert len(steps) == len(set(steps)), "a row was written twice"


def test_a_full_pipe_on_stderr_does_not_stop_the_training(script, read, home) -> None:
    source = """
        import os, sys
        import paddock
        os.set_blocking(2, False)
        try:
            while True:
                os.write(2, b"x" * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(2, True)
        run = paddock.init(id="mute")
        run.log({"a": 1.0, "odd": object()})
        run.finish()
    """
    process = script(source, stderr=subprocess.PIPE)
    assert process.wait(timeout=60) == 0
    assert read(home.runs / "mute").values("a") == [1.0]

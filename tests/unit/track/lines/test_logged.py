"""The `logging` module, kept as lines of the run."""

from __future__ import annotations

import logging
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rich.table

import paddock
from paddock.model import LogLine
from paddock.record import lines
from paddock.track.lines import forward, logged


def kept(run: Any) -> list[LogLine]:
    return lines.tail(Path(run.path) / "logs", 1000).lines


@pytest.fixture(autouse=True)
def _as_before() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    if (run := paddock.run) is not None:
        run.finish()
    logged.remove()
    forward.remove()
    root.handlers[:] = handlers
    root.setLevel(level)


def begin() -> Any:
    root = logging.getLogger()
    root.handlers.clear()  # those of pytest: a training has none
    root.setLevel(logging.WARNING)
    return paddock.init(capture_logging=True)


def test_every_way_of_saying_it_is_kept_as_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    run = begin()
    logging.info("message1", "message2", "message3")
    logging.info("message1 %s", "message2")
    logging.info("title of table", rich.table.Table("col1", "col2"))
    logging.info("a", {"b": 1})
    logging.info("%(b)s", {"b": 2})
    logging.warning(ValueError("an object"))
    texts = [line.text for line in kept(run)]
    assert texts[:2] == ["message1 message2 message3", "message1 message2"]
    assert texts[2].startswith("title of table\n") and "col1" in texts[2] and "col2" in texts[2]
    assert texts[3:] == ["a {'b': 1}", "2", "an object"]
    printed = capsys.readouterr().err
    assert printed.count("message1 message2 message3") == 1 and "Logging error" not in printed
    assert "col1" in printed


def test_a_dict_is_formatted_as_the_logging_module_does_it(capsys: pytest.CaptureFixture[str]) -> None:
    run = begin()
    logging.info("config: %s", {"lr": 0.1})
    logging.info("%r and 100%%", {"lr": 0.1})
    logging.info("%s", dict.fromkeys(range(10_000)))
    logging.info("100%%", {"lr": 0.1})
    assert [line.text for line in kept(run)] == [
        "config: {'lr': 0.1}",
        "{'lr': 0.1} and 100%",
        "<dict of 10,000; too large to be written out>",
        "100%% {'lr': 0.1}",
    ]
    assert "config: {'lr': 0.1}" in capsys.readouterr().err  # what other handlers print


def test_where_handlers_are_there_already_lines_are_kept_and_they_print_what_they_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = logging.getLogger()
    root.handlers[:], root.level = [logging.StreamHandler(sys.stderr)], logging.WARNING
    run = paddock.init(capture_logging=True)
    own = logging.getLogger("a.with.own.level")
    own.setLevel(logging.INFO)
    logging.info("kept")
    logging.warning("printed")
    own.getChild("x").info("printed, too")
    root.setLevel(logging.INFO)
    logging.info("from now on printed")
    own.setLevel(logging.NOTSET)
    assert [line.text for line in kept(run)] == ["kept", "printed", "printed, too", "from now on printed"]
    printed = capsys.readouterr().err
    assert "kept" not in printed and "printed, too\nfrom now on printed\n" in printed
    run.finish()
    assert root.level == logging.INFO


@pytest.mark.parametrize(
    "said",
    [("100%",), ("100%", 5), ("[/x]",), ("[bold red]%d",), ("%s %s", 1), ("%d", "x"), ("\x1b[2J\x00",), ("\ud800",)],
)
def test_no_text_ever_raises(said: tuple[Any, ...], capsys: pytest.CaptureFixture[str]) -> None:
    run = begin()
    logging.getLogger("a.b").warning(*said)
    (line,) = kept(run)
    assert line.logger == "a.b" and line.level == 30 and line.where.startswith("test_logged.py:")
    if said != ("\ud800",):  # which Python's own stderr would take, and the one of pytest does not
        assert "Logging error" not in capsys.readouterr().err


class Awkward:
    def __str__(self) -> str:
        raise RuntimeError("no")

    def __reduce__(self) -> Any:
        raise AssertionError("pickled")


def test_large_and_awkward_objects_are_cut_with_a_note() -> None:
    run = begin()
    logging.info("big", np.zeros((1000, 1000), dtype=np.float32), Awkward(), list(range(10_000)), threading.Lock())
    logging.info("%s", np.zeros(5000))
    logging.info("x" * 1_000_000)
    first, second, third = kept(run)
    assert "(1000, 1000)" in first.text and "float32" in first.text and "RuntimeError" in first.text
    assert "<list of 10,000;" in first.text and "(5000,)" in second.text
    assert len(third.text) < 20_000 and "characters cut" in third.text


def test_an_exception_comes_with_its_traceback_and_a_thread_with_its_name() -> None:
    run = begin()

    def work() -> None:
        try:
            raise KeyError("gone")
        except KeyError:
            logging.exception("could not")

    thread = threading.Thread(target=work, name="loader")
    thread.start()
    thread.join()
    (line,) = kept(run)
    assert line.level == 40 and line.thread == "loader" and "KeyError: 'gone'" in line.trace


def test_handlers_that_are_set_up_later_work_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    run = begin()
    logging.basicConfig(level=logging.DEBUG, format="<%(message)s>", force=False)
    logging.debug("deep")
    assert [line.text for line in kept(run)] == ["deep"]
    assert "<deep>" in capsys.readouterr().err
    run.finish()
    assert logging.Logger.callHandlers.__module__ == "logging"
    logging.warning("after the end")
    assert [line.text for line in kept(run)] == ["deep"]


def test_a_logger_that_keeps_to_itself_is_heard() -> None:
    run = begin()
    quiet = logging.getLogger("quiet")
    quiet.propagate = False
    quiet.warning("still here")
    quiet.propagate = True
    assert [line.text for line in kept(run)] == ["still here"]


def say(word: str) -> None:
    logging.warning("child says %s", word)


def fail(word: str) -> None:
    raise ValueError(word)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_keep_their_lines_in_the_same_run(method: str) -> None:
    run = begin()
    context = multiprocessing.get_context(method)
    logging.warning("parent")
    for target, word in ((say, "one"), (fail, "broken")):
        child = context.Process(target=target, args=(word,), name="worker-7")
        child.start()
        child.join()
    said = {line.text: line for line in kept(run)}
    assert said.keys() == {"parent", "child says one", "ValueError: broken"}
    assert said["child says one"].pid not in (0, os.getpid())
    assert said["ValueError: broken"].thread == "worker-7" and "in fail" in said["ValueError: broken"].trace


def test_a_program_that_imports_paddock_joins(tmp_path: Path) -> None:
    run = begin()
    script = tmp_path / "other.py"
    script.write_text("import logging, paddock\nlogging.warning('from afar')\nraise LookupError('lost')\n")
    subprocess.run([sys.executable, str(script)], stderr=subprocess.DEVNULL, check=False)
    assert [line.text for line in kept(run)] == ["from afar", "LookupError: lost"]


def test_an_exception_in_a_thread_is_kept_and_still_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run = begin()
    before, threading.excepthook = forward._before["thread"], threading.excepthook
    forward._before["thread"] = threading.__excepthook__
    thread = threading.Thread(target=fail, args=("in a thread",), name="t-1")
    thread.start()
    thread.join()
    forward._before["thread"] = before
    (line,) = kept(run)
    assert (line.text, line.level, line.logger, line.thread) == ("ValueError: in a thread", 50, forward.LOGGER, "t-1")
    assert "in a thread" in capsys.readouterr().err


@pytest.mark.parametrize("on", [True, False])
def test_the_end_of_the_main_process_is_a_line_too_unless_switched_off(home: Any, tmp_path: Path, on: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text("import paddock.monitor\npaddock.monitor.install(id='r1')\nraise LookupError('lost')\n")
    environ = os.environ | {"PADDOCK_FORWARD_EXCEPTION": str(on), "PADDOCK_CAPTURE_CODE": "false"}
    done = subprocess.run([sys.executable, str(script)], env=environ, capture_output=True, text=True, check=False)
    assert done.stderr.count("LookupError: lost") == 1 and done.returncode == 1
    found = lines.tail(home.run("r1").logs, 10).lines
    assert [line.text for line in found] == (["LookupError: lost"] if on else [])


def test_a_disk_that_refuses_costs_a_remark_and_a_counter(read, capsys: pytest.CaptureFixture[str]) -> None:
    run = begin()
    (Path(run.path) / "logs").write_text("in the way")
    for _ in range(3):
        logging.warning("x")
    run.finish()
    assert read(run.path).records["dropped"][-1]["counts"] == {"log lines": 3}
    assert "log lines cannot be kept" in capsys.readouterr().err


def test_install_begins_a_run_or_joins_it() -> None:
    from paddock import monitor

    run = monitor.install(project="here")
    assert monitor.install() is run and paddock.run is run
    logging.warning("kept")
    assert [line.text for line in kept(run)] == ["kept"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_exceptions_are_forwarded_or_left_to_the_terminal_as_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    from paddock.monitor import forward_exception

    def fail(word: str) -> None:
        thread = threading.Thread(target=lambda: {}[word])
        thread.start()
        thread.join()

    monkeypatch.setattr(threading, "excepthook", lambda given: None)
    run = paddock.init(capture_logging=True)
    forward_exception(False)
    fail("left")
    forward_exception()
    fail("forwarded")
    said = [repr(line) for line in kept(run)]
    assert any("forwarded" in text for text in said) and not any("left" in text for text in said)

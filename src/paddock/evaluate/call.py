"""One evaluation, as the task that it is: `python -m paddock.evaluate.call WATCH KEY`.

The evaluator gets the checkpoint's own path, or that of the pinned content when its name is gone. What it returns and
logs goes to its own run, and to the training run at the checkpoint's step. A checkpoint that was changed meanwhile has
no score: its new content is found and evaluated by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from paddock import wire
from paddock.errors import HomeError, PaddockError, UsageError
from paddock.evaluate.content import whereabouts as content
from paddock.evaluate.evaluators import code, results
from paddock.evaluate.evaluators.evaluator import load
from paddock.evaluate.evaluators.template import fill, written_to
from paddock.evaluate.evaluators.values import number_of, values_of
from paddock.evaluate.ledger.book import Ledger
from paddock.evaluate.ledger.entry import DONE, FAILED, MISSED, VOID, Finding, Result
from paddock.evaluate.ledger.repeated import is_stored
from paddock.evaluate.origin.pin import unpin
from paddock.evaluate.training import run as training
from paddock.record.layout import Home

MODULE = "paddock.evaluate.call"
_OURS = ("<frozen ", os.path.dirname(os.path.dirname(__file__)) + os.sep)


class CommandFailed(Exception):
    """What it printed says more than a traceback of ours would."""

    def __init__(self, code: int) -> None:
        how = f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name.removeprefix('SIG')}"
        super().__init__(f"the command ended with {how}")
        self.code = code if code > 0 else 128 - code


def run(arguments: list[str]) -> int:
    """A mistake of the user's is told in a sentence; all else is the evaluator's, with its traceback."""
    try:
        return main(arguments)
    except PaddockError as error:
        sys.stderr.write(f"paddock: {error}\n")
        return 2


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--check"]:
        os.environ["PADDOCK_MODE"] = "disabled"  # it is no evaluation, and nobody's run
        return _check(arguments[1])
    ledger, key = Ledger(Path(arguments[0])), arguments[1]
    finding = ledger.finding(key)
    if finding is None:
        sys.stderr.write(f"The ledger {ledger.path} has no checkpoint {key}.\n")
        return 2
    if is_stored(ledger, finding):
        sys.stderr.write(f"{finding.path} was evaluated already, and its score is stored.\n")
        unpin(finding.pin)
        return 0
    found = content.find(finding, ledger.watched)
    if found.away:
        ledger.put_result(key, Result(state=FAILED, reason=found.why, ended=time.time()))
        raise HomeError(found.why, hint="`paddock watch rescan --failed` evaluates it once it is back.")
    if not found.path:
        sys.stderr.write(f"{finding.path}: {found.why}\n")
        ledger.put_result(key, Result(state=MISSED, reason=found.why, ended=time.time()))
        unpin(finding.pin)
        return 0
    return _evaluate(ledger, finding, found.path)


def _check(spec: str) -> int:
    try:
        load(spec)
    except SystemExit as error:  # also with 0, which would pass for good
        said = "" if error.code in (None, 0) else f" ({error.code})"
        where = spec.rpartition(":" if ".py:" in spec else ".")[0]
        raise UsageError(
            f"{where} calls sys.exit() when it is imported{said}.",
            hint='What is meant for a script alone belongs under `if __name__ == "__main__":`.',
        ) from None
    return 0


def _evaluate(ledger: Ledger, finding: Finding, path: str) -> int:
    from paddock.track.start import init

    code.declare(finding.call.get("function", ""))
    config = {"checkpoint": finding.path, "step": finding.step, "evaluator": finding.evaluator}
    run = init(job_type="eval", config=config, parent=finding.run or None, settings=code.for_init())
    code.tell(run)
    _shorten_tracebacks()
    started = time.time()
    try:
        found = _call_on_content(ledger, finding, path, run.path)
        if content.find(finding, ledger.watched).changed:
            why = "it was changed while it was evaluated"
            sys.stderr.write(f"{finding.path}: {why}\n")
            ledger.put_result(finding.key, Result(state=VOID, reason=why, started=started, ended=time.time()))
        else:
            _record(ledger, finding, found, run, started)
    except CommandFailed as error:
        ledger.put_result(finding.key, Result(state=FAILED, reason=str(error), started=started, ended=time.time()))
        sys.exit(error.code)
    except BaseException as error:
        kind = "SystemExit" if isinstance(error, SystemExit) else type(error).__name__  # sys.exit() raises one of ours
        why = wire.text(" ".join(f"{kind}: {error}".split())[:300])
        ledger.put_result(finding.key, Result(state=FAILED, reason=why, started=started, ended=time.time()))
        raise
    unpin(finding.pin)
    run.finish()
    return 0


def _shorten_tracebacks() -> None:
    """They begin where the evaluator does: how it came to be called is nobody's concern."""
    before = sys.excepthook

    def shorter(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        theirs = trace
        while theirs is not None and theirs.tb_frame.f_code.co_filename.startswith(_OURS):
            theirs = theirs.tb_next
        theirs = theirs or trace
        before(kind, value.with_traceback(theirs), theirs)

    sys.excepthook = shorter


def _call_on_content(ledger: Ledger, finding: Finding, path: str, run: Path) -> Any:
    """Once more on the pinned content when the checkpoint was taken away under the evaluator's hands, or something
    else has taken its name: whatever was read then was not, or not only, what was found."""
    try:
        with content.local(finding, path) as readable:
            found = _call(finding, readable, run)
        if not content.is_replaced(finding, path):
            return found
    except Exception:
        if not content.is_only_pinned(finding, path):
            raise
        traceback.print_exc()
    if not content.is_only_pinned(finding, path):
        return found  # and it is void
    sys.stderr.write(f"{path} was taken away while it was evaluated: once more, on its content in {finding.pin}\n")
    return _call(finding, finding.pin, run)


def _call(finding: Finding, path: str, run: Path) -> Any:
    if "function" in finding.call:
        return load(finding.call["function"])(path)
    out = run / "files" / "evaluation"
    out.mkdir(parents=True, exist_ok=True)
    command = finding.call["command"]
    into = out / "printed.json" if "out" in written_to(command) else out
    words = {"path": path, "out": str(into), "step": "" if finding.step is None else str(finding.step)}
    code = subprocess.run(["/bin/sh", "-c", fill(command, words)], check=False).returncode
    if code:
        raise CommandFailed(code)
    return results.read(out)


def _record(ledger: Ledger, finding: Finding, found: Any, run: Any, started: float) -> None:
    """To the run of the evaluation, to the training run, and to the ledger: in this order, so that a result in the
    ledger is one that was stored."""
    values = values_of(found)
    step = next((step for step in (finding.step, finding.place) if step is not None), 0)
    logged = {name: number for name, value in run.summary.items() if (number := number_of(value)) is not None}
    numbers = {wire.text(name): value for name, value in {**logged, **values.numbers}.items()}
    if values.numbers:
        run.log(dict(values.numbers), step=step)
    for name, value in values.others.items():
        run.summary[name] = value
    if finding.run and numbers:
        scores = {f"eval/{finding.evaluator}/{name}": value for name, value in numbers.items()}
        note = {
            "checkpoint": wire.text(finding.path),
            "run": run.id,
            "evaluator": finding.evaluator,
            "key": finding.key,
        }
        training.write_points(Home(Path(os.environ["PADDOCK_RUN_HOME"])), finding.run, scores, step, note)
    why = "" if numbers else _why_nothing(finding, found)
    ledger.put_result(
        finding.key,
        Result(state=DONE, reason=why, values=wire.plain(numbers).value, started=started, ended=time.time()),
    )


def _why_nothing(finding: Finding, found: Any) -> str:
    """It may have been meant so; if not, this tells why there are no scores."""
    if "function" not in finding.call:
        return "no numbers were found in {out}" if "{out}" in finding.call["command"] else ""
    if found is None:
        return ""
    return f"what it returned, of type {type(found).__name__}, has no numbers"


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

"""What a watch says while it goes on: lines for people, one JSON object a line, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from paddock.cli.output import JSON, QUIET, Output
from paddock.cli.watch.keeping.follow import Row, View
from paddock.cli.watch.shown import near, shortened
from paddock.compare.text import number, span
from paddock.evaluate.ledger.account import CANCELLED, Evaluation
from paddock.evaluate.ledger.entry import DONE, FAILED, VOID
from paddock.monitor.watches import evaluation_json

_MOST = 8  # scores of one evaluation


def choose(out: Output, *, plain: bool, title: Callable[[], str], evaluators: int) -> View:
    if out.mode == JSON:
        return Lines(out)
    if out.terminal and not plain and out.mode != QUIET:
        from paddock.cli.watch.keeping.live import Live

        return Live(title, evaluators)
    out.note(title())
    return Plain(out)


def line(one: Evaluation, place: str = "") -> str:
    """done out/step=7.pt accuracy: acc 0.91 (waited 0.1s, took 2.0s)"""
    values = one.result.values if one.result else {}
    numbers = [f"{name} {number(value)}" for name, value in values.items() if isinstance(value, (int, float))]
    more = [f"and {len(numbers) - _MOST:,} more"] if len(numbers) > _MOST else []
    scores = ", ".join([*numbers[:_MOST], *more])
    times = [f"waited {span(one.waited)}"] if one.waited is not None else []
    times += [f"took {span(one.took)}"] if one.took is not None else []
    what = f"{one.state} {place or f'{near(one.finding.path)} {one.finding.evaluator}'}"
    about = one.reason or scores
    return what + (f": {about}" if about else "") + (f" ({', '.join(times)})" if times else "")


class Plain:
    """In a pipe, a log, or when it is asked for."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def said(self, text: str) -> None:
        self._out.note(f"{time.strftime('%H:%M:%S')} {shortened(text)}")

    def changed(self, one: Evaluation) -> None:
        if one.state in (DONE, FAILED, VOID, CANCELLED):
            self.said(line(one))

    def stands(self, rows: Sequence[Row]) -> None:
        pass

    def close(self) -> None:
        pass


class Lines:
    """For programs."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def said(self, text: str) -> None:
        pass

    def changed(self, one: Evaluation) -> None:
        self._out.json_line({"event": one.state, **evaluation_json(one)})

    def stands(self, rows: Sequence[Row]) -> None:
        pass

    def close(self) -> None:
        pass

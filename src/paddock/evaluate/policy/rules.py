"""What the user has asked for beyond "evaluate every checkpoint"."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from paddock.amounts import parse_seconds
from paddock.errors import UsageError

GOALS = ("max", "min")


class StopWhen(NamedTuple):
    """When the watch is over by itself; whichever comes first."""

    training_done: bool = False
    idle: float = 0.0  # seconds without a new checkpoint; 0: never


NEVER = StopWhen()


@dataclass(frozen=True)
class Rules:
    every: int = 1  # only each so-manieth checkpoint
    newest_first: bool = False
    max_pending: int = 0  # evaluations that may wait; 0: all
    metric: str = ""  # by which checkpoints are compared
    goal: str = ""  # max or min; "": as define_metric or the metric's name says
    keep_best: int = 0
    delete_others: bool = False
    dry_run: bool = False
    on_best: str = ""  # a shell command
    stop_when: StopWhen = NEVER
    done_file: str = ""  # says that the training is over
    patience: int = 0  # evaluations without improvement after which the trainer is asked to stop
    min_delta: float = 0.0
    stop_file: str = ""
    stop_signal: str = ""

    @property
    def are_plain(self) -> bool:
        """Nothing was asked for: every checkpoint, in the order they come, for ever."""
        return self == PLAIN

    def check(self) -> Rules:
        """What cannot be meant is a sentence."""
        for name, least in (("every", 1), ("max_pending", 0), ("keep_best", 0), ("patience", 0), ("min_delta", 0)):
            if not getattr(self, name) >= least:
                raise UsageError(f"--{name.replace('_', '-')} is at least {least}.")
        if self.goal not in ("", *GOALS):
            raise UsageError(f"--goal {self.goal!r} is unknown.", hint="It is max or min.")
        for name in ("keep_best", "on_best", "patience", "goal"):
            if getattr(self, name) and not self.metric:
                raise UsageError(f"--{name.replace('_', '-')} compares by a metric.", hint="Say --metric eval/acc.")
        self._check_deleting()
        if (self.stop_file or self.stop_signal) and not self.patience:
            raise UsageError("When is the trainer to stop?", hint="--patience 5: after five evaluations in a row.")
        if self.min_delta and not self.patience:
            raise UsageError("--min-delta is for --patience.", hint="Say both.")
        if self.stop_signal:
            number_of(self.stop_signal)
        if self.done_file and not self.stop_when.training_done and self.every == 1:
            raise UsageError("--done-file is for --stop-when training-done.", hint="Say both.")
        return self

    def _check_deleting(self) -> None:
        if self.delete_others and not self.keep_best:
            raise UsageError("How many checkpoints are to be kept?", hint="Say --keep-best 3.")
        if self.delete_others and not self.goal:
            # A wrong guess would delete the best ones.
            raise UsageError(
                f"Before anything is deleted: is a high {self.metric} good?", hint="Say --goal max or --goal min."
            )
        if self.dry_run and not self.delete_others:
            raise UsageError("--dry-run is for --delete-others.", hint="It says what would be deleted.")


PLAIN = Rules()
NAMES = tuple(field.name for field in fields(Rules))


def stop_when(texts: Sequence[str]) -> StopWhen:
    """From `training-done`, `idle 2h` and `idle=2h`."""
    done, idle = False, 0.0
    for text in texts:
        word, _, rest = re.sub(r"[=:\s]+", " ", text.strip(), count=1).partition(" ")
        if word == "training-done" and not rest:
            done = True
        elif word == "idle" and rest and (seconds := parse_seconds(rest)) > 0:
            idle = min(idle, seconds) if idle else seconds
        else:
            raise UsageError(f"--stop-when {text!r} is unknown.", hint="It is training-done, or idle=2h.")
    return StopWhen(done, idle)


def number_of(name: str) -> signal.Signals:
    """Of a signal: TERM, SIGUSR1, 10."""
    try:
        return signal.Signals(int(name)) if name.isdigit() else signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    except (ValueError, KeyError):
        raise UsageError(f"There is no signal {name!r}.", hint="Such as TERM, INT or USR1.") from None

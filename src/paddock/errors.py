"""Every error Paddock raises on purpose.

PaddockError                 1
├── UsageError               2   the call or the command line is wrong
│   ├── QueryError           2   a filter cannot be read
│   └── TooLarge             2   more was sent than is taken
├── NotFound                 3
│   ├── RunNotFound          3
│   └── MetricNotFound       3
├── Ambiguous                4   a name fits several runs
├── HomeError                5   the home cannot be found, read or written
├── RunExists                6   the id is taken
├── Damaged                  7   a record cannot be read at all
├── MissingExtra             8   an optional package is not installed
├── Refused                  9   not confirmed, or not safe
├── TaskFailed              10   a task that was waited for did not succeed
├── TimedOut                11   what was waited for has not happened yet
├── Unreachable             12   a server does not answer
└── CommError                1   never raised: wandb's, for scripts that catch it

The number is the exit code of the command line. Each message says what is wrong and what to do about it.
"""

from __future__ import annotations


class PaddockError(Exception):
    """Something went wrong."""

    exit_code = 1

    def __init__(self, message: str | None = None, *, hint: str = "") -> None:
        self.message = message or (self.__doc__ or "").strip()
        self.hint = hint
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(PaddockError):
    """The call is wrong."""

    exit_code = 2


class QueryError(UsageError):
    """The filter cannot be read."""


class TooLarge(UsageError):
    """More was sent than is taken."""


class NotFound(PaddockError):
    """There is no such thing."""

    exit_code = 3


class RunNotFound(NotFound):
    """There is no such run."""


class MetricNotFound(NotFound):
    """The run has no such metric."""


class Ambiguous(PaddockError):
    """The name fits several runs."""

    exit_code = 4

    def __init__(self, message: str, candidates: tuple[str, ...] = (), *, hint: str = "") -> None:
        self.candidates = candidates
        super().__init__(message, hint=hint)


class HomeError(PaddockError):
    """The home directory cannot be used."""

    exit_code = 5


class RunExists(PaddockError):
    """A run with this id exists already."""

    exit_code = 6


class Damaged(PaddockError):
    """The record cannot be read."""

    exit_code = 7


class MissingExtra(PaddockError):
    """An optional package is missing."""

    exit_code = 8

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs a package that is not installed.", hint=f"pip install 'paddock[{extra}]'")


class Refused(PaddockError):
    """Nothing was done."""

    exit_code = 9


class TaskFailed(PaddockError):
    """A task did not succeed."""

    exit_code = 10


class TimedOut(PaddockError):
    """It has not happened yet."""

    exit_code = 11


class Unreachable(PaddockError):
    """A server does not answer."""

    exit_code = 12


class CommError(PaddockError):
    """A server could not be reached. There is none, so this is never raised; scripts written for wandb catch it."""


Error = PaddockError  # wandb's name of the root

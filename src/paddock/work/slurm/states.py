"""Slurm's words for the state of a job, and its answers, read. Pure.

What Slurm takes away and starts again (PREEMPTED, REQUEUED, SUSPENDED, COMPLETING, ...) is not over. A word that nobody
knows is not over either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from paddock.work.launcher import JobState

SEPARATOR = "|"
# The name and the comment are ours. What Slurm says why is last: a site may write anything there.
FORMAT = SEPARATOR.join(("%i", "%T", "%N", "%j", "%k", "%r"))

_WORDS = {
    JobState.PENDING: ("PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"),
    JobState.RUNNING: (
        *("RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING"),
        *("RESIZING", "STAGE_OUT"),
    ),
    JobState.ENDED: (
        *("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL"),
        *("DEADLINE", "OUT_OF_MEMORY"),
    ),
}
_STATES = {word: state for state, words in _WORDS.items() for word in words}


def state(word: str) -> JobState:
    """PREEMPTED and REVOKED are unknown: such a job may run again, or elsewhere."""
    first = word.split()[0].rstrip("+") if word.split() else ""  # sacct says "CANCELLED by 1000"
    return _STATES.get(first.upper(), JobState.UNKNOWN)


class Row(NamedTuple):
    """One job, or one element of an array, as squeue tells it."""

    id: str  # 4711, or 4711_3
    word: str
    node: str
    name: str
    comment: str
    reason: str

    @property
    def state(self) -> JobState:
        return state(self.word)

    @property
    def about(self) -> str:
        """PENDING (Resources)"""
        told = "" if self.reason in ("None", "", "(null)") else f" ({self.reason})"
        return f"{self.word}{told}"

    @property
    def element(self) -> int | None:
        _, underscore, index = self.id.partition("_")
        return int(index) if underscore and index.isdigit() else None


def rows(text: str) -> Iterator[Row]:
    """squeue's answer; a line that is none of ours (a warning, a torn one) is left out."""
    for line in text.splitlines():
        parts = line.split(SEPARATOR, 5)
        if len(parts) == 6 and re.fullmatch(r"\d+(_\d+)?", parts[0].strip()):
            yield Row(*(part.strip() for part in parts))


ACCOUNTED = "JobID,State"


def accounted(text: str) -> dict[str, str]:
    """sacct's answer: the word for each job. One that has run several times is listed for each: the last one counts."""
    found = {}
    for line in text.splitlines():
        job, _, word = line.strip().partition(SEPARATOR)
        if re.fullmatch(r"\d+(_\d+)?", job) and word:
            found[job] = word.split()[0]  # "CANCELLED by 1000"
    return found


def submitted(text: str) -> str:
    """The job's number out of what `sbatch --parsable` says ("4711;cluster"); "" when there is none."""
    found = re.search(r"^(\d+)(;[^\n]*)?$", text, re.MULTILINE)
    return found[1] if found else ""


def setting(text: str, name: str) -> str:
    """A line of `scontrol show config`; "" when it is not there."""
    found = re.search(rf"^{re.escape(name)}\s*=\s*(.*?)\s*$", text, re.MULTILINE)
    return found[1] if found else ""


def complaint(text: str) -> str:
    """What a program of Slurm's said, as one line: its own words, without its name before each."""
    lines = [re.sub(r"^\w+: (error: )?", "", line.strip()) for line in text.splitlines() if line.strip()]
    return "; ".join(dict.fromkeys(lines)) or "it said nothing"


_AWAY = re.compile(
    r"unable to contact slurm controller|connection refused|socket timed out|communication connection failure|"
    r"slurm backup controller in standby|zero bytes were transmitted|unable to establish|"
    r"could not establish a configuration source|unable to process configuration file|temporarily unable to|"
    r"munge|authentication",
    re.IGNORECASE,
)


def is_full(text: str) -> bool:
    """Whether the words mean that a user has as many jobs there as may be: it takes more when some of them are over."""
    return "MaxSubmit" in text


def is_away(text: str) -> bool:
    """Whether the words mean that Slurm itself did not answer, rather than that it refuses."""
    return _AWAY.search(text) is not None

"""Slurm's programs: each is asked in English, and for a limited time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from paddock.errors import Refused, Unreachable
from paddock.work.slurm import states

ASK_SECONDS = 60.0
SUBMIT_SECONDS = 120.0  # sbatch itself tries again while Slurm is busy
_MOST_IDS = 500  # in one call of scancel
_KEPT = ("SLURM_CONF", "SLURM_CLUSTERS")
_USUAL = ("SQUEUE_", "SACCT_", "SCANCEL_")  # SQUEUE_PARTITION=gpu is --partition=gpu in each question


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what Slurm told the job that we may be in ourselves: sbatch would take it for its options."""
    kept = {k: v for k, v in environ.items() if not k.startswith("SLURM_") or k in _KEPT}
    return {**kept, "LC_ALL": "C"}


def ask(program: str, *arguments: str, script: bytes | None = None, seconds: float = ASK_SECONDS) -> str:
    """What it prints. Unreachable when Slurm does not answer, Refused with its own words when it does not want."""
    call = [program, *arguments]
    environ = environment(os.environ)
    if script is None:  # of what a person has made usual some hides jobs, and each of them would be started again
        environ = {key: value for key, value in environ.items() if not key.startswith(_USUAL)}
    else:  # what the submitter's language is, is the task's too
        environ = {**environ, **{key: os.environ[key] for key in ("LC_ALL",) if key in os.environ}}
        if "LC_ALL" not in os.environ:
            del environ["LC_ALL"]
    try:
        done = subprocess.run(call, input=script or b"", capture_output=True, timeout=seconds, env=environ)
    except FileNotFoundError:
        raise Unreachable(
            f"There is no {program} on this machine ({os.uname().nodename}): it is no login node of a Slurm cluster.",
            hint="Log in to one that is, or put Slurm's programs into PATH.",
        ) from None
    except subprocess.TimeoutExpired:
        raise Unreachable(
            f"Slurm did not answer within {seconds:g} s (`{program}`).", hint="`scontrol ping` says whether it is up."
        ) from None
    except OSError as error:
        raise Unreachable(f"{program} cannot be started ({error.strerror}).") from None
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    if done.returncode == 0:
        return out
    said = states.complaint(err or out)
    if states.is_away(said):
        raise Unreachable(f"Slurm does not answer ({program}: {said}).", hint="`scontrol ping` says whether it is up.")
    raise Refused(f"Slurm refused: {said}.")


def submit(arguments: Sequence[str], script: bytes) -> str:
    """The job's number."""
    text = ask("sbatch", "--parsable", *arguments, script=script, seconds=SUBMIT_SECONDS)
    job = states.submitted(text)
    if not job:
        raise Unreachable(f"sbatch gave no job number: {text.strip()[:200]!r}.")
    return job


def jobs(user: int) -> list[states.Row]:
    """All that Slurm knows of a user, those of the last minutes included, in one call."""
    return list(states.rows(ask("squeue", "-h", "-r", "-t", "all", "-u", str(user), "-o", states.FORMAT)))


def ended(ids: Sequence[str]) -> dict[str, str]:
    """Slurm's word for how jobs ended that squeue knows no more (after MinJobAge), in one call of sacct. What nobody
    says is left out: a cluster need not have accounting, and it is never needed to know that a job is over."""
    if not ids:
        return {}
    try:
        return states.accounted(ask("sacct", "-X", "-n", "-P", "-j", ",".join(ids), "-o", states.ACCOUNTED))
    except (Refused, Unreachable):
        return {}


def cancel(ids: Sequence[str]) -> None:
    for first in range(0, len(ids), _MOST_IDS):
        try:
            ask("scancel", *ids[first : first + _MOST_IDS])
        except Refused:  # one of them is over already, and the others are cancelled all the same
            pass


def configuration() -> str:
    return ask("scontrol", "show", "config")

"""How Slurm's programs are called, tried with `env`, which says what it was given."""

from __future__ import annotations

import pytest

from paddock.work.slurm.commands import ask


def test_a_question_is_asked_without_what_a_person_has_made_usual_and_a_job_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = ("SQUEUE_PARTITION", "SQUEUE_FORMAT2", "SACCT_FORMAT", "SCANCEL_STATE")
    for name in (*usual, "SLURM_JOB_ID", "SLURM_CONF", "SBATCH_ACCOUNT"):
        monkeypatch.setenv(name, "low")

    def given(script: bytes | None) -> set[str]:
        return {line.partition("=")[0] for line in ask("env", script=script).splitlines()}

    assert not {*usual, "SLURM_JOB_ID"} & given(None)
    assert {"SLURM_CONF", "SBATCH_ACCOUNT"} <= given(None)
    assert {*usual, "SLURM_CONF", "SBATCH_ACCOUNT"} <= given(b"")
    assert "SLURM_JOB_ID" not in given(b"")

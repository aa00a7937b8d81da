"""Slurm's words: what is over, what is not, and what nobody knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.work.launcher import JobState
from paddock.work.slurm import states


@pytest.mark.parametrize(
    "word",
    [
        *("PENDING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED", "COMPLETING", "PREEMPTED", "RUNNING", "CONFIGURING"),
        *("SPECIAL_EXIT", "STOPPED", "REVOKED", "", "SOMETHING_NEW"),
    ],
)
def test_a_job_that_may_run_again_and_one_that_nobody_knows_are_not_over(word: str) -> None:
    assert states.state(word).may_run


@pytest.mark.parametrize("word", ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 1000", "CANCELLED+", "NODE_FAIL"])
def test_what_is_over_is_over(word: str) -> None:
    assert states.state(word) is JobState.ENDED


@given(st.text())
def test_no_word_but_the_known_ones_ends_a_job(word: str) -> None:
    known = [name for name in states._STATES if states._STATES[name] is JobState.ENDED]
    first = word.split()[0].rstrip("+").upper() if word.split() else ""
    assert (states.state(word) is JobState.ENDED) == (first in known)


def test_squeues_lines_are_read_and_what_is_no_job_is_left_out() -> None:
    text = "\n".join(
        [
            "squeue: warning: something",
            "4711|PENDING||20261118-a|paddock:1f|Resources",
            "4712_3|RUNNING|n1|paddock-ab|paddock:1f|None",
            "4713|PENDING||x|(null)|a site's own | words",
            "4714|PEND",
        ]
    )
    one, two, three = states.rows(text)
    assert (one.id, one.state, one.about, one.element) == ("4711", JobState.PENDING, "PENDING (Resources)", None)
    assert (two.name, two.node, two.element, two.about) == ("paddock-ab", "n1", 3, "RUNNING")
    assert three.reason == "a site's own | words"


def test_the_number_of_a_new_job_is_found() -> None:
    assert states.submitted("4711\n") == "4711"
    assert states.submitted("4711;cluster\n") == "4711"
    assert states.submitted("a plugin's words\n4711\n") == "4711"
    assert states.submitted("") == ""


def test_a_setting_is_found() -> None:
    text = "KillWait                = 30 sec\nMaxArraySize            = 1001\n"
    assert (states.setting(text, "MaxArraySize"), states.setting(text, "KillWait")) == ("1001", "30 sec")
    assert states.setting(text, "Nothing") == ""


def test_a_controller_that_is_away_is_told_from_a_refusal() -> None:
    assert states.is_away(states.complaint("slurm_load_jobs error: Unable to contact slurm controller"))
    assert not states.is_away("Batch job submission failed: Invalid partition name specified")
    assert states.complaint("sbatch: error: a\nsbatch: error: b\n") == "a; b"


def test_saccts_lines_are_read_and_what_is_no_job_is_left_out() -> None:
    lines = (
        "sacct: warning",
        "4711|FAILED",
        "4712_3|CANCELLED by 1000",
        "4713|NODE_FAIL",
        "4713|COMPLETED",
        "",
        "9.0|X",
    )
    found = states.accounted("\n".join(lines))
    assert found == {"4711": "FAILED", "4712_3": "CANCELLED", "4713": "COMPLETED"}


def test_a_user_who_has_as_many_jobs_as_allowed_is_told_from_one_who_is_refused() -> None:
    full = "QOSMaxSubmitJobPerUserLimit; Batch job submission failed: Job violates accounting/QOS policy"
    assert states.is_full(full) and states.is_full("AssocMaxSubmitJobLimit; Batch job submission failed")
    assert not states.is_full("Batch job submission failed: Invalid qos specification")

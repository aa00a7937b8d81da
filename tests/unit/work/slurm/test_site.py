"""What of a cluster's own settings matters to its jobs."""

from __future__ import annotations

from paddock.work.slurm.launcher import Site, grace_seconds, site


def test_the_clusters_settings_are_read_and_what_is_missing_is_as_slurm_has_it() -> None:
    text = "Configuration data as of 2026\nKillWait                = 45 sec\nMaxArraySize            = 600\n"
    assert site(text) == Site(600, 45)
    assert site("") == Site(1001, 30)


def test_a_task_has_less_time_to_end_than_slurm_gives_its_job() -> None:
    assert [grace_seconds(wait) for wait in (0, 5, 10, 20, 30, 600)] == [1, 2, 5, 10, 20, 30]
    assert all(grace_seconds(wait) < wait for wait in range(2, 700))

from __future__ import annotations

import pytest

from paddock.track.private.meeting import hosts, place

LAUNCH = "0123456789ab"


@pytest.mark.parametrize(
    "environ, count",
    [
        ({}, 1),
        ({"GROUP_WORLD_SIZE": "2", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}, 2),
        ({"GROUP_WORLD_SIZE": "1", "SLURM_JOB_NUM_NODES": "4"}, 1),  # torchrun on one node of a larger job
        ({"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "2"}, 2),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 1),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2),
        ({"SLURM_JOB_NUM_NODES": "4", "SLURM_STEP_NUM_NODES": "1"}, 1),
        ({"SLURM_JOB_NUM_NODES": "4"}, 4),
        ({"SLURM_JOB_NUM_NODES": "many"}, 1),
    ],
)
def test_a_rank_believes_its_launcher(environ: dict[str, str], count: int) -> None:
    assert hosts(environ, ranked=True) == count


@pytest.mark.parametrize(
    "environ, count",
    [
        ({}, 1),
        ({"SLURM_JOB_NUM_NODES": "2"}, 2),
        ({"PBS_NUM_NODES": "3"}, 3),
        ({"NHOSTS": "2"}, 2),
        ({"LSB_MCPU_HOSTS": "a 4 b 4"}, 2),
        ({"LSB_MCPU_HOSTS": "a 8"}, 1),
    ],
)
def test_a_main_process_goes_by_what_it_was_given(environ: dict[str, str], count: int) -> None:
    assert hosts(environ, ranked=False) == count


@pytest.mark.parametrize(
    "environ, host",
    [
        ({"MASTER_ADDR": "10.0.0.7", "SLURM_JOB_NODELIST": "gpu[1-2]"}, "10.0.0.7"),
        ({"SLURM_JOB_NODELIST": "gpu[03-07,12],login1"}, "gpu03"),
        ({"SLURM_JOB_NODELIST": "gpu7,gpu8"}, "gpu7"),
        ({"SLURM_JOB_NODELIST": "r[1,3]-ib"}, "r1-ib"),
        ({"SLURM_JOB_NODELIST": "gpu[1-4]", "SLURM_STEP_NODELIST": "gpu3"}, "gpu3"),
    ],
)
def test_ranks_meet_on_the_first_ones_host(environ: dict[str, str], host: str) -> None:
    found, _, port = place(environ, LAUNCH).rpartition(":")
    assert found == host and 20_000 <= int(port) < 32_000
    assert place(environ, LAUNCH) != place(environ, "0123456789ac")


def test_who_knows_no_host_in_common_does_not_meet() -> None:
    assert place({}, LAUNCH) == "" and place({"MASTER_ADDR": "a"}, "") == ""

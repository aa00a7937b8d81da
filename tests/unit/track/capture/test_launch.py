"""Who started the process, and which of how many it is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paddock.track.capture.launch import facts, rank_of

SLURM = {"SLURM_JOB_ID": "77", "SLURM_CLUSTER_NAME": "big", "SLURM_NTASKS": "4", "SLURM_JOB_NUM_NODES": "2"}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4", "GROUP_WORLD_SIZE": "1"}
TORCHRUN |= {"TORCHELASTIC_RUN_ID": "none", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}


def key_of(environ: dict[str, str]) -> str:
    found = rank_of(environ)
    assert found is not None
    return found.key


def test_a_process_alone_has_no_rank() -> None:
    assert rank_of({}) is None
    assert rank_of({"RANK": "0", "WORLD_SIZE": "1"}) is None
    assert rank_of({"RANK": "0"}) is None
    assert rank_of({"RANK": "x", "WORLD_SIZE": "2"}) is None
    assert rank_of({"RANK": "5", "WORLD_SIZE": "2"}) is None
    assert facts({}) == {}


def test_torchrun_gives_rank_world_and_local_rank() -> None:
    found = rank_of(TORCHRUN)
    assert found is not None
    assert found[:3] == (1, 4, 1)
    assert facts(TORCHRUN)["rank"] == 1


def test_ranks_of_one_torchrun_share_a_key_that_a_restart_keeps() -> None:
    first = key_of({**TORCHRUN, "TORCHELASTIC_RESTART_COUNT": "0"})
    assert key_of({**TORCHRUN, "RANK": "3", "LOCAL_RANK": "3", "TORCHELASTIC_RESTART_COUNT": "2"}) == first
    assert key_of({**TORCHRUN, "MASTER_PORT": "40000"}) == first  # a restart may choose another port
    assert str(os.getppid()) in first


def test_launches_by_different_agents_have_different_keys() -> None:
    agent = """
import subprocess, sys
rank = "from paddock.track.capture.launch import rank_of; print(rank_of().key)"
for _ in range(2):
    subprocess.run([sys.executable, "-c", rank], check=True)
"""
    environ = {**os.environ, **TORCHRUN, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = [
        subprocess.run([sys.executable, "-c", agent], env=environ, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    first, second = (run.stdout.split() for run in done)
    assert first[0] == first[1]
    assert second[0] == second[1]
    assert first[0] != second[0]


def test_torchrun_on_several_nodes_is_keyed_by_slurm_or_the_master() -> None:
    nodes = {**TORCHRUN, "GROUP_WORLD_SIZE": "2", "WORLD_SIZE": "8", "MASTER_ADDR": "n1", "TORCHELASTIC_RUN_ID": "z"}
    assert key_of(nodes) == "torch:n1:29500:z"
    step = {**nodes, **SLURM, "SLURM_STEP_ID": "3", "SLURM_PROCID": "1"}
    assert key_of(step) == "slurm:big:77:3:z"
    assert key_of({**step, "SLURM_RESTART_COUNT": "1"}) == key_of(step)


def test_launchers_that_only_set_rank_are_keyed_by_their_parent_on_one_node() -> None:
    deepspeed = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    assert str(os.getppid()) in key_of(deepspeed)
    assert key_of({**deepspeed, "MASTER_ADDR": "10.0.0.1"}) == "torch:10.0.0.1:29500:"
    by_srun = {**deepspeed, **SLURM, "SLURM_STEP_ID": "0"}
    assert key_of(by_srun) == "slurm:big:77:0:"


def test_srun_gives_a_rank_and_sbatch_alone_does_not() -> None:
    assert rank_of({**SLURM, "SLURM_PROCID": "0"}) is None
    found = rank_of({**SLURM, "SLURM_PROCID": "2", "SLURM_LOCALID": "0", "SLURM_STEP_ID": "1"})
    assert found == (2, 4, 0, "slurm:big:77:1")


def test_a_step_of_one_task_has_no_rank_in_a_job_of_many() -> None:
    assert rank_of({**SLURM, "SLURM_PROCID": "0", "SLURM_STEP_ID": "1", "SLURM_STEP_NUM_TASKS": "1"}) is None


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}
            | {"PMIX_NAMESPACE": "prterun-n1-99@1", "PMIX_RANK": "1"},
            (1, 2, 1, "mpi::prterun-n1-99@1"),
        ),
        (
            {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_MCA_ess_base_jobid": "123"},
            (0, 2, None, "mpi::123"),
        ),
        ({"PMI_RANK": "0", "PMI_SIZE": "8", "I_MPI_HYDRA_UUID": "u"}, (0, 8, None, "mpi::u")),
    ],
)
def test_mpi_processes_are_keyed_by_what_all_hosts_share(environ: dict[str, str], expected: tuple[object, ...]) -> None:
    assert rank_of(environ) == expected


def test_mpi_without_a_job_id_is_keyed_by_its_parent() -> None:
    assert str(os.getppid()) in key_of({"MV2_COMM_WORLD_RANK": "0", "MV2_COMM_WORLD_SIZE": "2"})


def test_slurm_and_kubernetes_ids_are_taken_down() -> None:
    found = facts({**SLURM, "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_PARTITION": "gpu", "SLURM_RESTART_COUNT": "1"})
    assert found["slurm"]["job_id"] == "77"
    assert found["slurm"]["array_task_id"] == "3"
    assert (found["slurm"]["partition"], found["slurm"]["restarts"]) == ("gpu", "1")
    found = facts({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "train-0-abc", "POD_NAMESPACE": "ml"})
    assert found["kubernetes"] == {"pod": "train-0-abc", "namespace": "ml"}
    assert "kubernetes" not in facts({"HOSTNAME": "laptop"})

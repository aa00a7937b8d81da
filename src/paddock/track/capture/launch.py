"""Who started this process: Slurm, Kubernetes, torchrun, MPI; and which of how many it is."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from paddock.record.manifest import text_path
from paddock.record.process import start_ticks

_SLURM = {
    "job_id": "SLURM_JOB_ID",
    "job_name": "SLURM_JOB_NAME",
    "array_job_id": "SLURM_ARRAY_JOB_ID",
    "array_task_id": "SLURM_ARRAY_TASK_ID",
    "step_id": "SLURM_STEP_ID",
    "nodes": "SLURM_JOB_NODELIST",
    "node_count": "SLURM_JOB_NUM_NODES",
    "node": "SLURMD_NODENAME",
    "tasks": "SLURM_NTASKS",
    "partition": "SLURM_JOB_PARTITION",
    "account": "SLURM_JOB_ACCOUNT",
    "qos": "SLURM_JOB_QOS",
    "cluster": "SLURM_CLUSTER_NAME",
    "restarts": "SLURM_RESTART_COUNT",
    "submit_host": "SLURM_SUBMIT_HOST",
    "submit_dir": "SLURM_SUBMIT_DIR",
    "gpus": "SLURM_JOB_GPUS",
    "end_time": "SLURM_JOB_END_TIME",
}
_KUBERNETES = {"pod": "POD_NAME", "namespace": "POD_NAMESPACE", "node": "NODE_NAME", "job": "JOB_NAME"}
_KUBERNETES |= {"index": "JOB_COMPLETION_INDEX"}
_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class Rank(NamedTuple):
    rank: int
    world: int
    local_rank: int | None
    key: str  # the same for all ranks of one launch, also after a restart of some; different for every other launch


def facts(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """run.json's `launch`: only what is there."""
    found: dict[str, Any] = {}
    if slurm := slurm_ids(environ):
        found["slurm"] = slurm
    if kubernetes := kubernetes_ids(environ):
        found["kubernetes"] = kubernetes
    if elastic := _chosen(environ, {"run_id": "TORCHELASTIC_RUN_ID", "restarts": "TORCHELASTIC_RESTART_COUNT"}):
        found["torchelastic"] = elastic
    if rank := rank_of(environ):
        found |= {"rank": rank.rank, "world": rank.world, "local_rank": rank.local_rank}
    return found


def slurm_ids(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    return _chosen(environ, _SLURM) if environ.get("SLURM_JOB_ID") else {}


def kubernetes_ids(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    if not environ.get("KUBERNETES_SERVICE_HOST"):
        return {}
    found = _chosen(environ, _KUBERNETES)
    found.setdefault("pod", environ.get("HOSTNAME", ""))
    if "namespace" not in found:
        try:
            with open(_NAMESPACE, encoding="utf-8") as file:
                found["namespace"] = file.read(256).strip()
        except (OSError, ValueError):
            pass
    return {name: value for name, value in found.items() if value}


def _chosen(environ: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {key: text_path(environ[name]) for key, name in names.items() if environ.get(name)}


def rank_of(environ: Mapping[str, str] = os.environ) -> Rank | None:
    """This process's place among those of one launch; None when it is alone."""
    for reader in (_torch, _slurm_step, _open_mpi, _mvapich, _pmi):
        found = reader(environ)
        if found is not None:
            # torchrun under srun: its own answer counts, also when it says "alone".
            together = found.world > 1 and 0 <= found.rank < found.world
            return found._replace(key=text_path(found.key)) if together else None
    return None


def _number(environ: Mapping[str, str], *names: str) -> int | None:
    for name in names:
        text = environ.get(name, "").strip()
        if text.isdecimal():
            return int(text)
    return None


def _torch(environ: Mapping[str, str]) -> Rank | None:
    rank, world = _number(environ, "RANK"), _number(environ, "WORLD_SIZE")
    if rank is None or world is None:
        return None
    return Rank(rank, world, _number(environ, "LOCAL_RANK"), _torch_key(environ, world))


def _torch_key(environ: Mapping[str, str], world: int) -> str:
    run, port = environ.get("TORCHELASTIC_RUN_ID", ""), environ.get("MASTER_PORT", "")
    slurm = _slurm_key(environ, step=True)
    agent = "GROUP_WORLD_SIZE" in environ  # torchrun; else a launcher like DeepSpeed's, or a script that sets RANK
    if _on_one_node(environ, world) and (agent or not environ.get("SLURM_STEP_ID")):
        # The agent is the parent of all ranks and outlives their restarts.
        parent = os.getppid()
        restartable = "" if agent else f":{port}"
        return f"torch:{socket.gethostname()}:{parent}:{start_ticks(parent)}:{run}{restartable}"
    # Without Slurm this is all that the nodes have in common: a launch with the same address, port and id as an
    # earlier one continues it. torchrun's --rdzv-id tells them apart.
    return f"{slurm}:{run}" if slurm else f"torch:{environ.get('MASTER_ADDR', '')}:{port}:{run}"


def _on_one_node(environ: Mapping[str, str], world: int) -> bool:
    nodes, local = _number(environ, "GROUP_WORLD_SIZE"), _number(environ, "LOCAL_WORLD_SIZE")
    if nodes is not None:
        return nodes <= 1
    if local is not None:
        return local == world
    address = environ.get("MASTER_ADDR", "localhost")
    return address in ("localhost", "::1") or address.startswith("127.")


def _slurm_key(environ: Mapping[str, str], *, step: bool) -> str:
    job = environ.get("SLURM_JOB_ID")
    if not job:
        return ""
    key = f"slurm:{environ.get('SLURM_CLUSTER_NAME', '')}:{job}"
    return f"{key}:{environ.get('SLURM_STEP_ID', '')}" if step else key


def _slurm_step(environ: Mapping[str, str]) -> Rank | None:
    if not environ.get("SLURM_STEP_ID") or not environ.get("SLURM_JOB_ID"):  # sbatch itself is no rank of anything
        return None
    rank = _number(environ, "SLURM_PROCID")
    world = _number(environ, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS")
    if rank is None or world is None:
        return None
    return Rank(rank, world, _number(environ, "SLURM_LOCALID"), _slurm_key(environ, step=True))


def _open_mpi(environ: Mapping[str, str]) -> Rank | None:
    rank, world = _number(environ, "OMPI_COMM_WORLD_RANK"), _number(environ, "OMPI_COMM_WORLD_SIZE")
    if rank is None or world is None:
        return None
    return Rank(rank, world, _number(environ, "OMPI_COMM_WORLD_LOCAL_RANK"), _mpi_key(environ))


def _mvapich(environ: Mapping[str, str]) -> Rank | None:
    rank, world = _number(environ, "MV2_COMM_WORLD_RANK"), _number(environ, "MV2_COMM_WORLD_SIZE")
    if rank is None or world is None:
        return None
    return Rank(rank, world, _number(environ, "MV2_COMM_WORLD_LOCAL_RANK"), _mpi_key(environ))


def _pmi(environ: Mapping[str, str]) -> Rank | None:
    """MPICH, Intel MPI, Cray."""
    rank, world = _number(environ, "PMI_RANK", "PMIX_RANK"), _number(environ, "PMI_SIZE", "PMIX_SIZE")
    if rank is None or world is None:
        return None
    return Rank(rank, world, _number(environ, "MPI_LOCALRANKID", "PMI_LOCAL_RANK"), _mpi_key(environ))


def _mpi_key(environ: Mapping[str, str]) -> str:
    """What mpirun gives to all of its processes on every host alike; failing that its own pid, good on one host."""
    slurm = _slurm_key(environ, step=True)
    names = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri", "I_MPI_HYDRA_UUID", "PALS_APID")
    marks = [text_path(environ[name]) for name in names if environ.get(name)]
    if marks:
        return ":".join(("mpi", slurm, *marks))
    if slurm and (_number(environ, "SLURM_JOB_NUM_NODES") or 1) > 1:
        return f"mpi:{slurm}"
    parent = os.getppid()
    return f"mpi:{slurm}:{socket.gethostname()}:{parent}:{start_ticks(parent)}"

"""What a worker has of its own place among others, and no task of its is to have."""

from __future__ import annotations

import re
from collections.abc import Mapping

# A rank of a batch system's step is the worker, not its task.
_OTHERS = re.compile(
    r"(LOCAL_|GROUP_|ROLE_|NODE_)?RANK|((LOCAL|GROUP|ROLE)_)?WORLD_SIZE|MASTER_(ADDR|PORT)|TORCHELASTIC_.*"
    r"|SLURM_(PROCID|LOCALID|STEP_.*|STEPID|TASK_PID|GTIDS)|PMI_.*|PMIX_.*|OMPI_COMM_.*|MV2_COMM_.*|MPI_LOCALRANKID"
    r"|PADDOCK_(RANK|WORLD_SIZE|RENDEZVOUS)"
)


def without_rank(environ: Mapping[str, str]) -> dict[str, str]:
    """A worker that was itself started as one of many (srun, mpirun) passes that on to no task."""
    return {name: value for name, value in environ.items() if not _OTHERS.fullmatch(name)}

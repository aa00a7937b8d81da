"""On how many hosts a job is, and where the ranks of one launch that share nothing else can meet. Pure: an environment
in, a number or an address out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from paddock.address import netloc

_FIRST_PORT, _PORTS = 20_000, 12_000  # below those that systems hand out by themselves (Linux: from 32,768)
_STEP_NODES = ("SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES")
_JOB_NODES = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES", "NHOSTS")
_LIST = re.compile(r"([^\[\],]+)(?:\[([^\]]*)\])?([^\[\],]*)")  # gpu[03-07,12],login1


def hosts(environ: Mapping[str, str], *, ranked: bool) -> int:
    """`ranked`: of this launch, as its launcher says it; else of the allocation that this process was given. 1 when
    nobody says anything."""
    if not ranked:
        return max(_number(environ, *_JOB_NODES), _lsf_hosts(environ))
    if nodes := _number(environ, "GROUP_WORLD_SIZE", least=0):  # torchrun
        return nodes
    for size, local in (
        ("WORLD_SIZE", "LOCAL_WORLD_SIZE"),
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
        ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"),
        ("PMI_SIZE", "MPI_LOCALNRANKS"),
    ):
        world, here = _number(environ, size, least=0), _number(environ, local, least=0)
        if world and here:
            return -(-world // here)
    return _number(environ, *_STEP_NODES)


def place(environ: Mapping[str, str], launch: str) -> str:
    """The address at which the first rank listens and the others look for it; empty when they know no name of its host
    in common. `launch` is the same for all of them, and another for each launch: so is the port."""
    host = environ.get("MASTER_ADDR", "").strip() or _first_node(environ)
    if not host or not launch:
        return ""
    return netloc(host, _FIRST_PORT + int(launch, 16) % _PORTS)


def _first_node(environ: Mapping[str, str]) -> str:
    """Slurm's lists: the first task of a step is on the first node."""
    found = _LIST.match(environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST") or "")
    if found is None:
        return ""
    before, inside, after = found.groups()
    return before + re.split("[-,]", inside or "")[0] + after


def _lsf_hosts(environ: Mapping[str, str]) -> int:
    return max(1, len(set(environ.get("LSB_MCPU_HOSTS", "").split()[::2])))  # host count host count


def _number(environ: Mapping[str, str], *names: str, least: int = 1) -> int:
    for name in names:
        text = environ.get(name, "").strip()
        if text.isdecimal():
            return max(least, int(text))
    return least

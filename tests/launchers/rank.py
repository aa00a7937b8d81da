"""One rank of a launch: says how far it is, logs, and starts a child that says something, too."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import paddock
from paddock.monitor.progress import Progress

CHILD = "import logging, paddock; paddock.log({'child' + __import__('os').environ['ME']: 1}); logging.info('a child')"

run = paddock.init(project="launched", capture_logging=True)
if "torch" in sys.argv[1:]:
    import torch.distributed as dist

    dist.init_process_group("gloo")
    dist.barrier()
with Progress.new(total=40, msg="together") as progress:
    for step in range(20):
        run.log({f"rank{run.rank}": step}, step=step)
        progress.advance(1, distributed=True)
logging.info("rank %d of %s", run.rank, os.environ.get("WORLD_SIZE"))
subprocess.run([sys.executable, "-c", CHILD], env={**os.environ, "ME": str(run.rank)}, check=True)
if "fail" in sys.argv[1:] and run.rank == 1:
    raise RuntimeError("rank 1 fails")

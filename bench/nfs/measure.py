"""Inside the guest: a worker on one mount, a submitter on the other, and the time from submit to the task's begin."""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from pathlib import Path

from bench.peers.paddock_queue import QUEUE, PaddockClient
from bench.processes import started
from bench.taskqueue import Pipes

MOUNTS, LOCAL = Path("/mnt"), Path("/mnt/tmp")
LIMIT_SECONDS = 3.0


def main() -> None:
    count = int(sys.argv[1])
    pipes = Pipes(LOCAL)
    os.environ.update(PADDOCK_HOME=str(MOUNTS / "submitter/home"), PADDOCK_CACHE=str(LOCAL / "submitter"))
    client = PaddockClient(MOUNTS / "submitter/home/queues" / QUEUE, LOCAL, freezes=False)
    worker = {"PADDOCK_HOME": str(MOUNTS / "worker/home"), "PADDOCK_CACHE": str(LOCAL / "worker")}
    client.submit(1)
    with started([sys.executable, "-m", "paddock", "worker", QUEUE], LOCAL, **worker):
        client.wait()
        times = []
        for _ in range(count):
            time.sleep(1 + 2 * random.random())  # at any moment of the worker's rhythm
            start = time.perf_counter()
            client.tell(pipes.begun)
            times.append(pipes.next()[0] - start)
        client.wait()
    found = f"median {statistics.median(times):.2f} s, longest {max(times):.2f} s, of {count}"
    verdict = "PASS" if max(times) <= LIMIT_SECONDS else "FAIL"
    print(f"nfs: on NFS a task begins within 3 s of its submission: {found}: {verdict}")


if __name__ == "__main__":
    main()

"""Which step needs the memory, and which process the time?

paddock run --usage --name usage examples/usage.py
paddock usage usage --out usage.html
"""

import multiprocessing
import time

from paddock.monitor.usage import Usage

SECONDS = 0.3  # of each step


def busy(number: int) -> int:
    held = bytearray(b"x") * (10 << 20) * (number + 1)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        sum(range(1000))
    return len(held)


if __name__ == "__main__":
    Usage.checkpoint("load")
    data = bytearray(b"x") * (50 << 20)
    time.sleep(SECONDS)
    Usage.checkpoint("work", 2, "processes")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(busy, range(4), chunksize=1)
        pool.close()
        pool.join()
    Usage.checkpoint("tidy up")
    del data
    time.sleep(SECONDS)

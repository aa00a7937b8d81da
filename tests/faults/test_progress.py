"""Killed processes and full disks under progress and log lines."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from paddock.catalog.catalog import Catalog
from paddock.record import lines
from paddock.record.layout import Home
from paddock.record.scan import journal_files, parse, read_journal
from tests.waiting import DEADLINE

# Each child counts as fast as it can and says in its own file how far it is. Some are killed at random, and new ones
# come in their place.
SHARED = """
    import multiprocessing, os, random, sys, time
    import paddock
    from paddock.monitor import Progress

    def work(progress, directory):
        own = os.open(f"{directory}/{os.getpid()}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for count in range(200, 1 << 40, 200):
            for _ in range(200):
                progress.advance(1, distributed=True)
            os.write(own, b"%d %f\\n" % (count, time.monotonic()))
            time.sleep(0.001)

    noise = random.Random(int(sys.argv[1]))
    run = paddock.init(id="shared")
    context = multiprocessing.get_context("fork")
    progress = Progress.new(None, "all")
    alive = []
    for number in range(int(sys.argv[2])):
        alive.append(context.Process(target=work, args=(progress, sys.argv[3])))
        alive[-1].start()
        time.sleep(noise.uniform(0.05, 0.2))
        if len(alive) > 2:
            alive.pop(noise.randrange(len(alive))).kill()
    for child in alive:
        child.kill()
        child.join()
    progress.close()
"""
SLACK_SECONDS = 0.5  # a tenth, and what a busy machine lets the keeper wait


def test_killed_children_lose_their_last_moment_and_count_nothing_twice(
    script, home: Home, tmp_path: Path, long: bool
) -> None:
    (tmp_path / "said").mkdir()
    seed = random.randrange(1 << 30)
    process = script(SHARED, str(seed), "40" if long else "8", str(tmp_path / "said"))
    assert process.wait(timeout=DEADLINE) == 0
    with Catalog.open(home) as catalog:
        catalog.refresh()
        (bar,) = catalog.progress("shared")
    written = {
        file.writer.split("-")[-2]: [r["done"] for r in parse(read_journal(file)).records if r["k"] == "progress"]
        for file in journal_files(home.run("shared").journals)
    }
    assert bar.state == "done" and bar.done == sum(counts[-1] for counts in written.values() if counts)
    for path in (tmp_path / "said").iterdir():
        said = [(int(count), float(t)) for count, t in (line.split() for line in path.read_text().splitlines())]
        counted = written.get(path.name, [0])[-1]
        sure = max((count for count, t in said if t < said[-1][1] - SLACK_SECONDS), default=0)
        assert sure <= counted <= (said[-1][0] if said else 0) + 200, f"seed {seed}, process {path.name}"


LINES = """
    import logging, os, sys, threading
    import paddock
    paddock.init(id="lines", capture_logging=True)
    logger = logging.getLogger("fault")
    logger.propagate = False
    def work(name):
        for number in range(1_000_000):
            logger.info("%s %d", name, number)
            os.write(1, b"%s %d\\n" % (name.encode(), number))
    for name in "abc":
        threading.Thread(target=work, args=(name,), daemon=True).start()
    work("m")
"""


def test_a_line_whose_call_returned_survives_kill_9(script, home: Home) -> None:
    process = script(LINES, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = [process.stdout.readline() for _ in range(2000)]
    process.kill()
    said += process.stdout.read().splitlines(keepends=True)
    process.wait()
    acknowledged = [line.decode().rstrip("\n") for line in said if line.endswith(b"\n")]
    kept = [line.text for line in lines.tail(home.run("lines").logs, 1_000_000).lines]
    assert len(kept) == len(set(kept)) and set(acknowledged) <= set(kept)
    assert len(kept) <= len(acknowledged) + 5


REFUSED = """
    import logging, resource, signal, time
    import paddock
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    run = paddock.init(id="full", capture_logging=True)
    logger = logging.getLogger("fault")
    logger.propagate = False
    logger.info("0")
    (path,) = run.path.glob("logs/*.jsonl")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 7, hard))
    for number in range(1, 500):
        logger.info("%d", number)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    logger.info("500")
    while run._lines.waiting:
        time.sleep(0.02)
"""


def test_lines_that_a_full_disk_refused_come_in_order_when_there_is_room(script, home: Home) -> None:
    process = script(REFUSED)
    assert process.wait(timeout=DEADLINE) == 0
    page = lines.after(home.run("full").logs, {}, 10_000)
    assert [line.text for line in page.lines] == [str(number) for number in range(501)] and page.damaged == 0


TORN = """
    import logging, time
    import paddock
    from paddock.monitor import Progress
    run = paddock.init(id="torn", capture_logging=True)
    progress = Progress.new(100, "x")
    progress.advance(50)
    print("ready", flush=True)
    time.sleep(100)
"""


def test_a_bar_of_a_killed_run_is_lost_and_keeps_its_count(script, home: Home) -> None:
    process = script(TORN, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    (journal,) = home.run("torn").journals.iterdir()
    with open(journal, "ab") as file:
        file.write(b'{"k":"progress","t":1,"id":"x","done":100')
    began = time.monotonic()
    with Catalog.open(home) as catalog:
        catalog.refresh()
        (bar,) = catalog.progress("torn")
        row = catalog.run("torn")
    assert (bar.done, bar.state, bar.fraction) == (50, "lost", 0.5)
    assert row.state == "lost" and row.progress is not None and row.progress.state == "lost"
    assert time.monotonic() - began < 30

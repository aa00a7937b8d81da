"""python -m paddock.cli.only HOME QUEUE TASK [--grace=SECONDS] [--slots=N] [--cpus=N] [--mem=BYTES]

What `paddock worker --only` does, for the scripts of engines. The task waits for all that is imported here, so it is
little: no click, no verbs.
"""

from __future__ import annotations

import gc

gc.disable()  # imports make no garbage, and looking for it takes a tenth of their time

import os  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NoReturn  # noqa: E402

from paddock import settings  # noqa: E402
from paddock.cli import workplace  # noqa: E402
from paddock.errors import PaddockError, UsageError  # noqa: E402
from paddock.queue.directory import find_queue  # noqa: E402
from paddock.record.layout import Home  # noqa: E402
from paddock.work.notices import notify  # noqa: E402
from paddock.work.options import Options  # noqa: E402
from paddock.work.slots import from_options  # noqa: E402
from paddock.work.worker import Worker  # noqa: E402

NUMBERS = ("grace", "slots", "cpus", "mem")  # that it may be told


def parse(words: Sequence[str]) -> tuple[str, str, str, dict[str, int]]:
    """The home, the queue, the task, and what else was said. Written by us alone, so a mistake is nobody's typing."""
    places, told = words[:3], dict(word.removeprefix("--").partition("=")[::2] for word in words[3:])
    if len(places) != 3 or set(told) - set(NUMBERS) or not all(text.isdigit() for text in told.values()):
        raise UsageError(str(__doc__).partition("\n")[0])
    home, queue, task = places
    return home, queue, task, {name: int(text) for name, text in told.items()}


def run(words: Sequence[str]) -> int:
    place, name, task, told = parse(words)
    given = settings.load()
    home = Home(Path(place))
    home.prepare()
    slots = from_options(
        None,
        told.get("slots"),
        os.environ,
        told.get("cpus") or workplace.all_cores(),
        told.get("mem") or workplace.all_memory(),
    )
    options = Options(
        slots,
        only=task,
        persist=False,
        end=workplace.seconds_left(),
        grace=float(told.get("grace", 30)),
        liveness=workplace.liveness(given),
        notify=notify.load_all(say=lambda text: _tell([text])),
        usage=given.worker_usage_seconds,
        fetch=workplace.code_road(given, home),
    )
    queue = find_queue(name, home)
    worker = Worker(home, [queue], options, workplace.cache(given, home), _tell)
    notifier = workplace.notifier(home, options.notify, given, _tell)
    ferry = workplace.ferry(home, given, _tell)
    if ferry is not None:
        worker.settling.ended = ferry.take
    gc.enable()
    worker.run()
    if ferry is not None:
        ferry.close(given.ship_seconds)
    if notifier is not None:
        notifier.close()
    return workplace.fate([queue], task)


def _tell(texts: Sequence[str]) -> None:
    now = time.strftime("%H:%M:%S")
    try:
        sys.stderr.write("".join(f"{now} {text}\n" for text in texts))
        sys.stderr.flush()
    except (OSError, ValueError):  # the disk of the job's log is full: that must not end the task
        pass


def main() -> NoReturn:
    try:
        code = run(sys.argv[1:])
    except (PaddockError, OSError) as error:
        _tell([str(error)])
        code = error.exit_code if isinstance(error, PaddockError) else 1
    sys.stderr.flush()
    os._exit(code)  # all is closed; to take an interpreter apart takes a tenth of its life here


if __name__ == "__main__":
    main()

"""A worker of ours on a queue in Redis: an ordinary one on its own tray, and a porter that fills and empties that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from paddock.queue.directory import DirectoryQueue
from paddock.queue.redis.queue import RedisQueue
from paddock.record.layout import Home
from paddock.work.options import Options
from paddock.work.redis.porter import Porter, tray_path
from paddock.work.worker import Worker

_WAITS = re.compile(r"waits: (?P<task>\S+): (?P<why>.*)", re.S)


class RedisWorker:
    def __init__(
        self,
        home: Home,
        queue: RedisQueue,
        options: Options,
        cache: Path,
        tell: Callable[[Sequence[str]], None] = lambda texts: None,
    ) -> None:
        queue.prepare()  # a sentence now, when Redis is away
        self._tell, self.queue = tell, queue
        tray = DirectoryQueue(tray_path(home.path))
        self.porter = Porter(queue, tray, options, lambda text: tell([text]))
        inner = msgspec.structs.replace(options, persist=True, one_task=False, vouched=lambda: self.porter.vouched)
        self.worker = Worker(home, [tray], inner, cache, self._heard)
        self.name = self.worker.name

    def _heard(self, texts: Sequence[str]) -> None:
        for text in texts:
            match = _WAITS.match(text)
            if match:
                self.porter.stock.reasons[match["task"]] = match["why"]
        self._tell(texts)

    @property
    def taken(self) -> int:
        return self.worker.taken

    @property
    def stopping(self) -> str:
        return self.worker.stopping

    def run(self) -> int:
        try:
            self.porter.serve(self.worker)
        except BaseException:
            self.worker.guard.close()
            raise
        try:
            return self.worker.run()
        finally:
            self.porter.close()

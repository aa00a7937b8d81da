"""The queue that somebody named: by a URL one in Redis, else one in a directory. And all that a home knows of."""

from __future__ import annotations

import os
from pathlib import Path

from paddock import settings
from paddock.errors import UsageError
from paddock.queue import directory
from paddock.queue.directory import DirectoryQueue
from paddock.queue.protocol import Queue
from paddock.queue.redis.address import is_redis, parse
from paddock.record.layout import Home


def queue_at(address: str) -> Queue:
    """The queue with this address."""
    return _in_redis(address) if is_redis(address) else DirectoryQueue(Path(address))


def _in_redis(url: str) -> Queue:
    from paddock.queue.redis.queue import RedisQueue  # most tasks are in directories: their workers begin sooner

    return RedisQueue(url)


def find_queue(where: str | os.PathLike[str], home: Home) -> Queue:
    if isinstance(where, str) and is_redis(where):
        return _in_redis(where)
    return directory.find_queue(where, home)


def remember(queue: Queue, home: Home) -> None:
    """So that its tasks are listed with those of the home."""
    if isinstance(queue, DirectoryQueue):
        directory.remember(queue, home)
    else:
        from paddock.queue import remembered

        remembered.remember(queue.address, queue.name, home)


def known_queues(home: Home) -> list[Queue]:
    """The queues of a home, those elsewhere that tasks were submitted to from it, and the usual one. Nobody was asked
    whether those in Redis answer."""
    from paddock.queue import remembered

    urls = remembered.remembered(home)
    usual = settings.load().queue
    if is_redis(usual):
        try:
            urls.append(parse(usual).shown)
        except UsageError:
            pass  # whoever uses it hears of it
    return [*directory.queues(home), *(_in_redis(url) for url in dict.fromkeys(urls))]

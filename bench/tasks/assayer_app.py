"""The two jobs of assayer's way: one looks at a directory, sleeps and enqueues itself again; one evaluates."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
import time

PATTERN = r"^.*\.(pt|pth|ckpt|model|state)$"


def watch(known: list[str], evaluator: str, interval: float, directory: str, url: str) -> None:
    from redis import Redis
    from rq import Queue

    with Redis.from_url(url) as connection:
        queues = {name: Queue(name, connection=connection, serializer="json") for name in ("watch", "evaluation")}
        pattern = re.compile(PATTERN)
        found = [path for path in glob.glob(os.path.join(directory, "*")) if pattern.match(path)]
        for path in set(found).difference(known):
            queues["evaluation"].enqueue(evaluate, evaluator, path, job_timeout=600)
        time.sleep(interval)
        arguments = (found, evaluator, interval, directory, url)
        queues["watch"].enqueue(watch, *arguments, result_ttl=0, job_timeout=600)


def evaluate(evaluator: str, path: str) -> None:
    spec = importlib.util.spec_from_file_location("evaluator", evaluator)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.evaluate(path)

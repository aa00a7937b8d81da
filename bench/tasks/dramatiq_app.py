"""What `dramatiq bench.tasks.dramatiq_app` imports."""

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench import tasks

broker = RedisBroker(url=os.environ["BENCH_REDIS"])
dramatiq.set_broker(broker)
nothing = dramatiq.actor(tasks.nothing)
shell = dramatiq.actor(tasks.shell)
tell = dramatiq.actor(tasks.tell)

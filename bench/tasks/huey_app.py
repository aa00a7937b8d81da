"""What `huey_consumer bench.tasks.huey_app.queue` imports."""

import os

from huey import SqliteHuey

from bench import tasks

queue = SqliteHuey("bench", filename=os.environ["BENCH_HUEY"])
nothing = queue.task(name="nothing")(tasks.nothing)
shell = queue.task(name="shell")(tasks.shell)
tell = queue.task(name="tell")(tasks.tell)

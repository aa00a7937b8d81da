"""Carries tasks between a queue in Redis and a tray on this machine's disk, on which an ordinary worker works.

What is in the tray is claimed in Redis under that worker's name. Orders given in Redis become moves of the file in the
tray, and what has become of the file goes back to Redis, once: a claim that is another's by then is not overwritten.
While Redis does not answer the worker's own lease is not renewed, so its guard ends the tasks before others may take
them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from paddock.errors import PaddockError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.lifecycle import DONE, FAILED, LOOK
from paddock.queue.redis.connection import sentences
from paddock.queue.redis.queue import RedisQueue
from paddock.record.wake import Wake
from paddock.work.options import Options
from paddock.work.redis.delivering import Delivering
from paddock.work.redis.held import Stock
from paddock.work.redis.heritage import Heritage
from paddock.work.redis.obeying import obey
from paddock.work.redis.presence import Presence
from paddock.work.redis.taking import Taking
from paddock.work.worker import Worker

LOOK_SECONDS = 1.0  # between two looks at what people ordered, if nobody has told of it
TEND_SHARE = 20.0  # so many times as long as a look at those that wait aside took, there is none
LAST_SECONDS = 30.0  # for what is left to say when the worker has to leave


class Porter(threading.Thread):
    def __init__(self, queue: RedisQueue, tray: DirectoryQueue, options: Options, say: Callable[[str], None]) -> None:
        super().__init__(name="porter", daemon=True)
        self.stock = Stock(queue, tray, options, say)
        self._inbox, self._outbox = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._closing = threading.Event()
        self._news = True
        self._looked = self._inherited = self._tend_at = -1e9
        self._untended = False
        self._refusal = ""
        self._presence: Presence | None = None

    @property
    def vouched(self) -> float:
        """When Redis last heard that we live; 0 until it is known there at all."""
        return self._presence.vouched if self._presence is not None else 0.0

    def serve(self, worker: Worker) -> None:
        """Begin, for this worker: it is known in Redis when this returns."""
        stock = self.stock
        self.worker = worker
        self._heritage = Heritage(stock, worker.name)
        self._taking = Taking(stock, worker.name, self._heritage.is_alive)
        self._delivering = Delivering(stock)
        presence = Presence(stock, worker.name)
        presence.register()
        self._presence = presence
        worker.settling.over = self._over
        self._wake = Wake({state: (stock.tray.directory(state), False) for state in LOOK})
        threading.Thread(target=self._listen, name="ears", daemon=True).start()
        self.start()

    def _listen(self) -> None:
        """What is published wakes us; that nothing is, says nothing."""
        queue, commands = self.stock.queue, f"rq:pubsub:{self.worker.name}"
        while not self._closing.is_set():
            try:
                with queue.connection.pubsub(ignore_subscribe_messages=True) as pubsub:
                    pubsub.subscribe(queue.keys.own("news"), commands)
                    while not self._closing.is_set():
                        message = pubsub.get_message(timeout=1.0)
                        if message is None:
                            continue
                        if message["channel"].decode() == commands and b"shutdown" in message["data"]:
                            self._leave()
                        if message["data"] in self.stock.said:
                            self.stock.said.discard(message["data"])  # what we have said ourselves is no news
                            continue
                        self._news = True
                        self.wake()
            except Exception:  # the other thread says what is wrong
                self._closing.wait(1.0)

    def _over(self, task: str, state: str) -> None:
        """The worker says so: the next one is fetched while this one's end is brought to the disk."""
        held = self.stock.held.get(task)
        if held is not None and state in (DONE, FAILED):
            held.over = True
            self.wake()

    def wake(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._outbox, b"w")

    def _leave(self) -> None:
        """As people stop a worker: by removing its file."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.stock.tray.workers / self.worker.name)

    # The rounds

    def run(self) -> None:
        poller = select.poll()
        poller.register(self._inbox, select.POLLIN)
        if self._wake.fd >= 0:
            poller.register(self._wake.fd, select.POLLIN)
        while not self._closing.is_set():
            self._try_round()
            held = self.stock.held
            pause = 0.05 if self._wake.fd < 0 and held else 0.25 if held else LOOK_SECONDS
            if any(one.missing for one in held.values()):
                pause = 0.05
            if self._untended:
                pause = min(pause, max(0.01, self._tend_at - time.monotonic()))
            poller.poll(pause * 1000)
            with contextlib.suppress(BlockingIOError):
                os.read(self._inbox, 4096)
            if self._wake.fd >= 0:
                self._wake.read()

    def _try_round(self) -> None:
        try:
            with sentences(self.stock.queue.where):
                self._round(time.monotonic())
            if self._refusal:
                self.stock.say("Redis answers again")
            self._refusal = ""
        except (PaddockError, OSError) as error:
            if str(error) != self._refusal:
                self._refusal = str(error)
                self.stock.say(f"Redis: {error}")
            self._news = True
            self._closing.wait(1.0)
        except Exception as error:  # whatever it is: the tasks go on, and are ended in time if it does not pass
            self.stock.say(f"the porter stumbled: {error!r}")
            self._closing.wait(1.0)

    def _round(self, now: float) -> None:
        stock, presence = self.stock, self._presence
        assert presence is not None
        if now - presence.beaten >= stock.options.liveness.beat:
            presence.beat()
        news, self._news = self._news or now - self._looked >= LOOK_SECONDS, False
        if news:
            self._looked = now
            obey(stock)
        ended = self._delivering.deliver(now)
        if now - self._inherited >= stock.options.liveness.look:
            self._inherited = now
            self._heritage.look()
        self._untended = self._untended or news or ended
        self._tend(now)
        is_leaving = self.worker.stopping or self.worker.is_over
        if not is_leaving and hasattr(self.worker, "signals"):  # before that a TERM would just end it
            self._taking.fetch(now, self.worker.starting.may_begin, news)
            if self._taking.is_over:
                self.worker.is_over = True  # before its file goes, which wakes it
                self._leave()
        presence.show()

    def _tend(self, now: float) -> None:
        """Who waits for what has ended goes on: at once where few wait, and never in much of our time where many do."""
        queue = self.stock.queue
        if not self._untended or now < self._tend_at:
            return
        if queue.connection.zcard(queue.keys.rq("deferred")):
            start = time.monotonic()
            queue.tend()
            self._tend_at = time.monotonic() + TEND_SHARE * (time.monotonic() - start)
        self._untended = False

    # The end

    def close(self) -> None:
        """After the worker has ended: everything goes back. What Redis does not take within a while is left in the
        tray, for the next worker on this machine."""
        self._closing.set()
        self.wake()
        self.join()
        self._closing.clear()
        end = time.monotonic() + LAST_SECONDS
        while self.stock.held and time.monotonic() < end:
            self._try_last()
        if not self.stock.held and self._presence is not None:
            with contextlib.suppress(Exception), sentences(self.stock.queue.where):
                self.stock.queue.tend()
                self._presence.unregister()
                shutil.rmtree(self.stock.tray.path, ignore_errors=True)
        self._closing.set()
        self._wake.close()

    def _try_last(self) -> None:
        try:
            with sentences(self.stock.queue.where):
                self._delivering.deliver(time.monotonic(), last=True)
        except (PaddockError, OSError) as error:
            self.stock.say(f"Redis: {error}")
            time.sleep(1.0)
        else:
            time.sleep(0.01 if self.stock.held else 0.0)


def tray_path(home: Path) -> Path:
    return home / "trays" / f"redis-{os.getpid()}-{secrets.token_hex(4)}"

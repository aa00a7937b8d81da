"""One thread takes what all clients send, in the order in which it came: so files need no locks, and the server's loop
waits for no disk. What waits is done in one go, and the loop is woken once for all of it."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable

from paddock.errors import TimedOut
from paddock.monitor.ingest.back import stamp
from paddock.monitor.ingest.pace import Pace
from paddock.monitor.ingest.store import Store
from paddock.record.layout import Home
from paddock.track.ship import parcel
from paddock.track.ship.parcel import Question, Reply

_AT_ONCE = 64  # jobs between two wakes of the loop
_ROOM_BYTES = 128 << 20  # of bodies that are held at a time
_ROOM_SECONDS = 20.0

Job = tuple[Callable[[Store], Reply], "asyncio.Future[Reply]"]


class Desk:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._store: Store | None = None
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._room, self._freed = _ROOM_BYTES, asyncio.Condition()
        self._pace = Pace()
        self.heard = float("-inf")  # when something came last, by the monotonic clock

    async def answer(self, question: Question) -> Reply:
        return await self._done(lambda store: Reply(store.id, store.answer(question.files), self._pace.now()))

    async def take(self, body: bytes, *, deflated: bool) -> Reply:
        sync = False

        def work(store: Store) -> Reply:
            nonlocal sync
            header, pieces = parcel.decode(parcel.inflated(body) if deflated else body)
            sync = header.sync
            return Reply(store.id, store.take(header, pieces), self._pace.now(), self._stamp(header))

        reply = await self._done(work)
        self.heard = time.monotonic()
        if sync and self._store is not None:
            await asyncio.to_thread(self._store.flush)
        return reply

    def _stamp(self, header: parcel.Header) -> int:
        runs = {part.path.split("/", 2)[1] for part in header.parts if part.path.startswith("runs/")}
        return stamp(self._home, runs.pop()) if len(runs) == 1 else 0

    async def enter(self, size: int) -> None:
        """Wait until there is room for a body of this size."""
        if self._room >= size:
            self._room -= size
            return
        async with self._freed:
            try:
                async with asyncio.timeout(_ROOM_SECONDS):
                    await self._freed.wait_for(lambda: self._room >= size)
            except TimeoutError:
                raise TimedOut("Too much comes at once.", hint="Try again later.") from None
            self._room -= size

    async def leave(self, size: int) -> None:
        self._room += size
        async with self._freed:
            self._freed.notify_all()

    async def _done(self, job: Callable[[Store], Reply]) -> Reply:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="paddock-desk", daemon=True)
            self._thread.start()
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._jobs.put((job, future))
        return await future

    def close(self) -> None:
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join(timeout=60)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            while len(jobs) < _AT_ONCE:
                try:
                    more = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    self._jobs.put(None)
                    break
                jobs.append(more)
            results = [self._result(work) for work, _ in jobs]
            futures = [future for _, future in jobs]
            try:
                futures[0].get_loop().call_soon_threadsafe(_deliver, futures, results)
            except RuntimeError:  # the loop has ended: nobody waits
                break
        if self._store is not None:
            self._store.close()

    def _result(self, work: Callable[[Store], Reply]) -> Reply | Exception:
        try:
            if self._store is None:
                self._store = Store(self._home)
            return work(self._store)
        except Exception as error:
            return error


def _deliver(futures: list[asyncio.Future[Reply]], results: list[Reply | Exception]) -> None:
    for future, result in zip(futures, results, strict=True):
        if future.done():  # its client is gone
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)

"""Those who listen, and what they are told. An event is encoded once, however many they are; who does not keep up is
let go, and never waited for.

Everything here happens in the server's event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

KEPT_EVENTS, KEPT_BYTES = 1024, 8 << 20  # for those who come back
MOST_PENDING = 2 << 20  # bytes that one listener may be behind
BEAT = b": beat\n\n"
BEAT_SECONDS = 15.0
LINGER_SECONDS = 30.0  # a topic is followed on for so long after the last has gone, who may come back


class Event(NamedTuple):
    number: int
    topic: str
    data: bytes  # as it is sent


class Line(Protocol):
    """A connection that can be written to without waiting."""

    def write(self, data: bytes) -> None: ...
    def get_write_buffer_size(self) -> int: ...
    def is_closing(self) -> bool: ...
    def abort(self) -> None: ...


class Listener:
    """It is written to directly once it has a line: no task is woken for it, and nothing is framed for it alone. Until
    then, what comes is kept."""

    def __init__(self, topics: frozenset[str]) -> None:
        self.topics = topics
        self.over = asyncio.Event()  # the server ends, it has gone, or it was too slow
        self._line: Line | None = None
        self._pending: list[bytes] = []

    def connect(self, line: Line) -> None:
        self._line = line
        for data in self._pending:
            self.put(data)
        self._pending.clear()

    def put(self, chunk: bytes) -> None:
        line = self._line
        if line is None:
            self._pending.append(chunk)
            if sum(map(len, self._pending)) > MOST_PENDING:
                self.end()
        elif not line.is_closing():
            line.write(chunk)
            if line.get_write_buffer_size() > MOST_PENDING:
                line.abort()  # an orderly end would wait for it to take what it does not take
                self.end()

    def end(self) -> None:
        self.over.set()


def chunked(data: bytes) -> bytes:
    """As HTTP/1.1 frames a part of a body whose length is not known."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def framed(kind: str, number: int, instance: str, body: bytes) -> bytes:
    """As server-sent events are written. JSON has no line ends in it."""
    return b"event: %b\nid: %b.%d\ndata: %b\n\n" % (kind.encode(), instance.encode(), number, body)


class Hub:
    def __init__(self, instance: str) -> None:
        self.instance = instance[:8]
        self.number = 0  # of the last event
        self.listeners: set[Listener] = set()
        self._by_topic: dict[str, set[Listener]] = {}
        self._since: dict[str, int] = {}  # since which event each topic is followed without a gap
        self._kept: deque[Event] = deque()
        self._kept_bytes = 0
        self._beat: asyncio.TimerHandle | None = None
        self.on_topics: Callable[[], None] = lambda: None  # somebody listens to something else than before

    @property
    def topics(self) -> frozenset[str]:
        """What somebody listens to, or did a moment ago."""
        return frozenset(self._by_topic)

    @property
    def interest(self) -> int:
        """How many listen; one when somebody did a moment ago."""
        return len(self.listeners) or int(bool(self._by_topic))

    def join(self, topics: Iterable[str], last: str) -> tuple[Listener, bytes]:
        """A new listener, and what it is told at once. `last` is the id of the last event that it had before, if any:
        what it has missed since, or that it must ask for everything anew."""
        listener = Listener(frozenset(topics))
        first = self._missed(listener.topics, last)
        self.listeners.add(listener)
        new = False
        for topic in listener.topics:
            if topic not in self._by_topic:
                self._by_topic[topic], self._since[topic] = set(), self.number
                new = True
            self._by_topic[topic].add(listener)
        if new:
            self.on_topics()
        self._beat_on()
        return listener, first

    def leave(self, listener: Listener) -> None:
        self.listeners.discard(listener)
        for topic in listener.topics:
            those = self._by_topic.get(topic)
            if those is not None:
                those.discard(listener)
                if not those:
                    asyncio.get_running_loop().call_later(LINGER_SECONDS, self._drop, topic)

    def _drop(self, topic: str) -> None:
        if topic in self._by_topic and not self._by_topic[topic]:
            del self._by_topic[topic], self._since[topic]
            self.on_topics()

    def publish(self, topic: str, kind: str, body: bytes) -> None:
        if topic not in self._by_topic:
            return
        self.number += 1
        data = framed(kind, self.number, self.instance, body)
        self._kept.append(Event(self.number, topic, data))
        self._kept_bytes += len(data)
        while len(self._kept) > KEPT_EVENTS or self._kept_bytes > KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popleft().data)
        chunk = chunked(data)
        for listener in self._by_topic[topic]:
            listener.put(chunk)

    def _missed(self, topics: frozenset[str], last: str) -> bytes:
        instance, _, text = last.partition(".")
        number = int(text) if instance == self.instance and text.isascii() and text.isdigit() and len(text) < 18 else -1
        first = self._kept[0].number if self._kept else self.number + 1
        followed = all(self._since.get(topic, number + 1) <= number for topic in topics)
        if first - 1 <= number <= self.number and followed:
            return b"".join(event.data for event in self._kept if event.number > number and event.topic in topics)
        kind = "resync" if last else "hello"
        return framed(kind, self.number, self.instance, b'{"instance":"%b"}' % self.instance.encode())

    def _beat_on(self) -> None:
        """So that a connection which is dead is found out, and none in between gets impatient."""
        if self._beat is None and self.listeners:
            self._beat = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beats)

    def _beats(self) -> None:
        self._beat = None
        for listener in self.listeners:
            listener.put(chunked(BEAT))
        self._beat_on()

    def close(self) -> None:
        for listener in self.listeners:
            listener.end()
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None

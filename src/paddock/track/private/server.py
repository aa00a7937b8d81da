"""The process of the server: begun, asked where it answers, and ended."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from paddock import wire
from paddock.record.layout import Home
from paddock.track import notice

_LOOK_SECONDS = 0.1
_START_SECONDS = 30.0
_END_SECONDS = 10.0  # it waits for those who are just sending their last, but not so long


class PrivateServer:
    def __init__(self, home: Home, address: str, name: str = "") -> None:
        """`name`: of this host, by which others call the server; then it takes the token that all have been given.
        `variables` is what workers need in their environment; empty when there is no server, which is said."""
        self._pid = os.getpid()
        self.ended: Callable[[], bool] = lambda: True
        words = [sys.executable, "-m", "paddock.monitor.server.private", str(home.path), address]
        words += [name] if name else []
        environ = {key: value for key, value in os.environ.items() if not key.startswith("PADDOCK_RUN_")}
        # A session of its own: Ctrl-C at the terminal is for the training, which ends its server when it has ended.
        self._process = subprocess.Popen(
            words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        said = self._first_line()
        urls, token = said.get("urls"), said.get("token")
        self.variables: dict[str, str] = {}
        if urls and token:
            self.variables = {"PADDOCK_SERVER": str(urls[0]), "PADDOCK_TOKEN": str(token)}
            if name and said.get("other"):
                notice.say(f"{home.path} has a server already: ranks on other hosts need PADDOCK_SERVER={urls[0]}")
        else:
            notice.say(f"there is no server for workers elsewhere: {said.get('error') or 'it did not start'}")

    def stop(self, seconds: float = 0.0) -> None:
        """When all whom it serves have ended, as far as one can know, and after so long in any case."""
        if os.getpid() != self._pid:
            return
        over = time.monotonic() + seconds
        while self.variables and time.monotonic() < over and not self.ended():
            time.sleep(_LOOK_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                with contextlib.suppress(OSError):
                    if stream is self._process.stdin:
                        stream.write(b"end\n")  # a forked child holds this pipe open, too: its end is no sign
                    stream.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.terminate()

    def _first_line(self) -> dict[str, Any]:
        stream = self._process.stdout
        if stream is None or not select.select([stream], [], [], _START_SECONDS)[0]:
            return {}
        try:
            found = wire.loads(stream.readline())
        except (wire.DecodeError, UnicodeDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

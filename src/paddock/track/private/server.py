"""A server of a main process's own, for workers that it starts where its disk cannot be seen."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from typing import Any

from paddock import wire
from paddock.record.layout import Home
from paddock.track import notice

EVERYWHERE = ":0"  # every interface, a port that the kernel chooses
_START_SECONDS = 20.0
_END_SECONDS = 5.0


class PrivateServer:
    def __init__(self, home: Home, address: str) -> None:
        """`variables` is what workers need in their environment; empty when there is no server, which is said."""
        self._pid = os.getpid()
        words = [sys.executable, "-m", "paddock.monitor.server.private", str(home.path), address]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PADDOCK_RUN_")}
        # A session of its own: Ctrl-C at the terminal is for the training, which ends its server when it has ended.
        self._process = subprocess.Popen(
            words, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        )
        said = self._first_line()
        urls, token = said.get("urls"), said.get("token")
        self.variables: dict[str, str] = {}
        if urls and token:
            self.variables = {"PADDOCK_SERVER": str(urls[0]), "PADDOCK_TOKEN": str(token)}
        else:
            notice.say(f"there is no server for workers elsewhere: {said.get('error') or 'it did not start'}")

    def stop(self) -> None:
        if os.getpid() != self._pid:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _first_line(self) -> dict[str, Any]:
        stream = self._process.stdout
        if stream is None or not select.select([stream], [], [], _START_SECONDS)[0]:
            return {}
        try:
            found = wire.loads(stream.readline())
        except (wire.DecodeError, UnicodeDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

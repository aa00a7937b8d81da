"""python -m paddock.monitor.server.private HOME ADDRESS [NAME]: the server that a main process starts for its workers.

It prints one line of JSON when it answers, and ends with the process that started it, however that one ends; workers
that are just sending their last are heard out. When a server runs on the home already, it says where that one is, and
ends. NAME is what ranks on other hosts call this one, and then the token is the one that they have, too.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from pathlib import Path

from paddock import settings, wire
from paddock.address import parse
from paddock.errors import PaddockError, Refused
from paddock.monitor.house import House
from paddock.monitor.server.presence import Presence, find
from paddock.monitor.server.serving import Plan, Serving
from paddock.record import token
from paddock.record.layout import Home

_LOOK_SECONDS = 0.5  # between two looks whether the parent lives
_SILENCE_SECONDS = 1.0  # a client looks five times a second: who sent nothing for so long has no more
_LAST_SECONDS = 6.0  # but those who go on do so without us


def main() -> None:
    parent, home, address, name = os.getppid(), Home(Path(sys.argv[1])), sys.argv[2], sys.argv[3:]
    try:
        presence = Presence(home)
    except Refused as refused:
        found = find(home)
        if found is None:
            _say({"error": str(refused)})
            return
        _say({"urls": found.urls, "token": token.read(Path(found.token_file)), "other": True})
        return
    file = home.server / f"private-{os.getpid()}.token"
    try:
        house = House([home], settings.load(), token.ensure(file, token.find_token() if name else ""))
        serving = Serving(house, Plan([parse(address)], name))
        presence.note(serving.urls, house.instance, str(file))
        threading.Thread(target=_end_with, args=(parent, house, serving), daemon=True).start()
        serving.run(lambda: _say({"urls": serving.urls, "token": house.token}))
    except PaddockError as error:
        _say({"error": str(error)})
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
        presence.close()


def _end_with(parent: int, house: House, serving: Serving) -> None:
    while os.getppid() == parent and not select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
        pass
    over = time.monotonic()
    while house.desk.heard > (now := time.monotonic()) - _SILENCE_SECONDS and now < over + _LAST_SECONDS:
        time.sleep(0.05)
    serving.stop()


def _say(what: dict[str, object]) -> None:
    sys.stdout.write(wire.dumps(what).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

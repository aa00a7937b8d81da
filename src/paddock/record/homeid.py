"""What a home is called: two paths to one home, on whichever machines, have the same id; two homes never do."""

from __future__ import annotations

import re
import secrets

from paddock import files
from paddock.record.layout import Home

_ID = re.compile(r"[0-9a-f]{32}")


def home_id(home: Home) -> str:
    """The home's id, made when it has none."""
    found = known_id(home)
    if found:
        return found
    path = home.path / "server" / "id"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = secrets.token_hex(16)
    return made if files.write_once(path, made.encode() + b"\n") else known_id(home)


def known_id(home: Home) -> str:
    """Empty when no server was ever started for it."""
    try:
        found = files.read_from(home.path / "server" / "id", 0, 100).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return found if _ID.fullmatch(found) else ""

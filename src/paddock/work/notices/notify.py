"""The table [notify] of paddock.toml: who is told of what, and how.

    [notify]
    on = ["failed", "drained"]
    command = "notify-send \\"$PADDOCK_NOTICE_TEXT\\""
    webhook = "https://hooks.example.org/..."
    mail = ["ada@example.org"]
    secrets = "~/.config/paddock/notify.toml"

What must not be read by others (an address with a key in it, a password) stands in the file that `secrets` names, under
the same keys, or in the environment. Nothing of it ever is an argument of a program: those are seen by everybody.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from paddock import settings
from paddock.amounts import parse_seconds
from paddock.errors import UsageError

STARTED, FAILED, DRAINED = "started", "failed", "drained"
FINISHED, LOST, STALLED, ALERT, QUESTION = "finished", "lost", "stalled", "alert", "question"
QUEUE_EVENTS = (STARTED, FAILED, DRAINED)  # told by workers
RUN_EVENTS = (FAILED, FINISHED, LOST, STALLED, ALERT, QUESTION)  # told by whoever watches the home, of any run
EVENTS = tuple(dict.fromkeys((*QUEUE_EVENTS, *RUN_EVENTS)))
FORMATS = ("json", "text", "slack", "discord")
WEBHOOK, PASSWORD = "PADDOCK_NOTIFY_WEBHOOK", "PADDOCK_NOTIFY_PASSWORD"
PREFIX = "PADDOCK_NOTIFY_"  # of variables that tasks must not inherit


class Notify(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    on: tuple[str, ...] = (FAILED, DRAINED)
    command: str = ""
    webhook: str = ""
    format: str = "json"
    headers: dict[str, str] = {}
    mail: tuple[str, ...] = ()
    mail_from: str = ""
    sendmail: str = "/usr/sbin/sendmail"
    smtp: str = ""  # host or host:port; sendmail when there is none
    smtp_user: str = ""
    password: str = ""
    tail: int = 10  # lines of a failed task's output
    timeout: float = 10.0  # seconds for each way of telling
    per_minute: int = 20
    secrets: str = ""
    query: str = ""  # only of runs that fit; workers do not know, and leave those to who watches

    @property
    def silent(self) -> bool:
        return not (self.on and (self.command or self.webhook or self.mail))


def load_all(start: Path | None = None, say: Callable[[str], None] = lambda text: None) -> tuple[Notify, ...]:
    """As the nearest paddock.toml says it, [notify] or several [[notify]]; a mistake is a sentence. One that others
    have written or could write is left alone, and that is said: it would run their commands as us."""
    tables, where = settings.one_or_many("notify", start)
    if where and (trouble := _distrust(Path(where))):
        say(f"[notify] of {where} is left alone: {trouble}.")
        tables, where = [], ""
    return tuple(_whole(found, where, len(tables) < 2) for found in tables or [{}])


def load(start: Path | None = None, say: Callable[[str], None] = lambda text: None) -> Notify:
    """Where there is one recipient."""
    return load_all(start, say)[0]


def _has_way(found: Mapping[str, Any]) -> bool:
    return any(found.get(key) for key in ("command", "webhook", "mail"))


def _whole(found: Mapping[str, Any], where: str, alone: bool) -> Notify:
    """With its secrets. The environment names a webhook for one recipient, not for all."""
    secret = found.get("secrets")
    if isinstance(secret, str) and secret:
        base = Path(where).parent if where else Path.cwd()
        found = {**found, **_secrets(base / Path(secret).expanduser())}
    for key, variable in (("webhook", WEBHOOK), ("password", PASSWORD)):
        if os.environ.get(variable) and (key != "webhook" or alone or not _has_way(found)):
            found = {**found, key: os.environ[variable]}
    return _checked(found, where or "the environment")


def _distrust(path: Path) -> str:
    found = os.stat(path)
    if found.st_uid not in (0, os.getuid()):
        return "the file is not yours"
    return "everybody may write the file" if found.st_mode & stat.S_IWOTH else ""


def _secrets(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        found = os.stat(path)
        if found.st_uid not in (0, os.getuid()):
            raise UsageError(f"{path}, which holds secrets, is not yours.", hint="[notify] secrets names it.")
        if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(f"Others may read {path}, which holds secrets.", hint=f"chmod 600 '{path}'")
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).", hint="[notify] secrets names it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from None


def _checked(found: Mapping[str, Any], where: str) -> Notify:
    known = Notify.__struct_fields__
    for key in found:
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
            raise UsageError(f"{where} sets {key!r} in [notify], which is no setting.", hint=hint)
    try:
        if isinstance(found.get("timeout"), str):
            found = {**found, "timeout": parse_seconds(found["timeout"])}
        notify = msgspec.convert({**found, **_lists(found)}, Notify)
    except UsageError as error:
        raise UsageError(f"[notify] timeout in {where}: {error.message}", hint=error.hint) from None
    except msgspec.ValidationError as error:
        raise UsageError(f"[notify] in {where} cannot be read: {error}.") from None
    for event in notify.on:
        if event not in EVENTS:
            raise UsageError(f"[notify] on = {event!r} in {where}: there is no such notice.", hint=", ".join(EVENTS))
    if notify.format not in FORMATS:
        raise UsageError(f"[notify] format = {notify.format!r} in {where}.", hint=f"It takes {', '.join(FORMATS)}.")
    if notify.webhook and (urlsplit(notify.webhook).scheme not in ("http", "https") or not host(notify.webhook)):
        raise UsageError(f"The webhook of [notify] in {where} is no http or https address.")
    for header in (*notify.headers, *notify.headers.values()):
        if not header.isprintable():
            raise UsageError(f"A header of [notify] in {where} has control characters.")
    return notify


def _lists(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """One word stands for a list of one."""
    return {key: [found[key]] for key in ("on", "mail") if isinstance(found.get(key), str)}


def host(address: str) -> str:
    """What may be said of an address that has a key in it."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""

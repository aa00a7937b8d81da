"""redis://host:6379/0?queue=evaluation: which Redis, and which of its queues. Pure.

The password may stand in the URL, but what is shown, kept or printed never has it: `redis_password` (a setting, so also
PADDOCK_REDIS_PASSWORD) says it as well.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from paddock.errors import UsageError

SCHEMES = ("redis", "rediss", "unix")
DEFAULT_QUEUE = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FORM = "Write redis://HOST:6379/0?queue=NAME."


class Address(NamedTuple):
    server: str  # as redis-py has it, without a password
    queue: str
    password: str = ""

    @property
    def shown(self) -> str:
        """As -Q takes it, without a password."""
        joint = "&" if "?" in self.server else "?"
        return f"{self.server}{joint}queue={self.queue}"


def is_redis(text: str) -> bool:
    """Also where a slash is missing, which `parse` says: nobody has a directory called `redis:`."""
    return text.partition(":/")[0] in SCHEMES and ":/" in text


def parse(url: str) -> Address:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{_hidden(url)!r} cannot be read: {error}.", hint=_FORM) from None
    if parts.scheme not in SCHEMES or "://" not in url or parts.fragment or any(ord(letter) < 33 for letter in url):
        raise UsageError(f"{_hidden(url)!r} is no Redis.", hint=_FORM)
    options = parse_qsl(parts.query, keep_blank_values=True)
    names = [value for key, value in options if key == "queue"] or [DEFAULT_QUEUE]
    if len(names) > 1 or not _NAME.fullmatch(names[0]):
        raise UsageError(f"{_hidden(url)!r} names no queue.", hint=f"Letters, digits, '.', '_' and '-'. {_FORM}")
    if parts.scheme != "unix" and not re.fullmatch(r"/?\d*", parts.path):
        raise UsageError(f"{_hidden(url)!r} has no database {parts.path[1:]!r}.", hint=f"It is a number. {_FORM}")
    rest = urlencode([(key, value) for key, value in options if key != "queue"])
    user = f"{quote(unquote(parts.username), safe='')}@" if parts.username else ""
    if parts.scheme == "unix":
        where = f"{user}{parts.hostname or ''}{parts.path}"
    else:
        host = parts.hostname or "127.0.0.1"
        where = f"{user}{f'[{host}]' if ':' in host else host}:{port or 6379}/{parts.path.strip('/') or '0'}"
    return Address(f"{parts.scheme}://{where}" + (f"?{rest}" if rest else ""), names[0], unquote(parts.password or ""))


def _hidden(url: str) -> str:
    return re.sub(r":[^:@/]*@", ":...@", url)


def no_engine(url: str) -> UsageError:
    """For what only an engine would hear."""
    return UsageError(
        f"--time and --engine are for engines, and {parse(url).shown} is none.",
        hint="--timeout limits a task; `paddock scale slurm` has workers started on an engine.",
    )

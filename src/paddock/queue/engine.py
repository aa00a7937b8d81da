"""Which engine runs the tasks of a queue: a URL, kept in the queue's directory.

    slurm://                          the default partition
    slurm://gpu?account=vision&qos=low
    k8s://context/namespace?image=registry/train:1

The queue is a directory as any other, so that nothing about its tasks is new: what is submitted waits in `queued/`, the
engine starts a worker for each of them, and that worker claims it, runs it and puts it away. An engine that is away, or
refuses, costs nothing but time.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from paddock import files
from paddock.errors import UsageError

FILE = ".engine"
SCHEMES = ("slurm", "k8s")
FROZEN = "paddock.toml"  # in what a task tells its engine: what that file said when it was submitted
_LONGEST_NAME = 60


class Engine(NamedTuple):
    scheme: str
    place: str  # a partition; context/namespace, /namespace; "" for the engine's own default
    options: tuple[tuple[str, str], ...] = ()  # sorted by name, for every job unless the task says otherwise

    @property
    def url(self) -> str:
        query = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in self.options)
        return f"{self.scheme}://{quote(self.place, safe='/')}" + (f"?{query}" if query else "")

    @property
    def queue(self) -> str:
        """The name of its queue in a home; the same URL has the same queue."""
        text = "-".join([self.scheme, self.place, *(f"{key}-{value}" for key, value in self.options)])
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")
        exact = "://".join((self.scheme, self.place)) if not self.options else ""
        if len(name) <= _LONGEST_NAME and exact == self.url and name == text.rstrip("-"):
            return name
        from hashlib import blake2b  # not for a task that its engine has begun: it would wait for a library of ciphers

        return f"{name[:_LONGEST_NAME]}-{blake2b(self.url.encode(), digest_size=3).hexdigest()}"


def is_engine(text: str) -> bool:
    return text.partition("://")[0] in SCHEMES and "://" in text


def is_url(text: str) -> bool:
    """Whose scheme nobody may know: no directory is called `pbs:`."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text) is not None


def named(text: str) -> str:
    """The URL of what `--on` says: `slurm` alone is `slurm://`. UsageError for a queue's name."""
    if text in SCHEMES:
        return f"{text}://"
    if ":/" not in text:
        raise UsageError(
            f"--on {text} is no engine: write slurm://PARTITION or k8s://CONTEXT/NAMESPACE.",
            hint=f"-Q {text} is a queue of that name.",
        )
    return text


def parse(url: str) -> Engine:
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or parts.fragment or "@" in parts.netloc:
        raise UsageError(
            f"{url!r} is no engine.", hint="Write slurm://PARTITION or k8s://CONTEXT/NAMESPACE, with ?option=value."
        )
    place = "/".join(filter(None, (unquote(parts.netloc), unquote(parts.path).strip("/"))))
    if parts.scheme == "k8s" and place and not parts.netloc:
        place = f"/{place}"  # k8s:///namespace, of the context that is used by itself
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    twice = next((key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index])), None)
    if twice is not None:
        raise UsageError(f"{url!r} says {twice} twice.")
    if any("\n" in text or "\0" in text for pair in pairs for text in pair) or "\n" in place or "\0" in place:
        raise UsageError(f"{url!r} has a line end in it.")
    return Engine(parts.scheme, place, tuple(sorted(pairs)))


def write(directory: Path, engine: Engine) -> None:
    """Say whose queue it is; what is there already says the same."""
    path = directory / FILE
    if not path.exists():
        files.write_once(path, f"{engine.url}\n".encode())


def read(directory: Path) -> Engine | None:
    """None when its tasks wait for workers that people start."""
    try:
        text = files.read_from(directory / FILE, 0, 10_000).decode("utf-8", "replace").strip()
    except OSError:
        return None
    return parse(text)

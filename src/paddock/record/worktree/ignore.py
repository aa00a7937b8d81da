"""Ignore files in gitignore's syntax: `.paddockignore`, and outside of git `.gitignore` too."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

FILES = (".gitignore", ".paddockignore")
_BYTES = 1 << 20


class Rules(NamedTuple):
    """The ignore files on the way from the root down to a directory, nearest last."""

    specs: tuple[tuple[str, Any], ...] = ()  # (directory relative to the root with a slash, or "", patterns)

    def inside(self, root: str, directory: str, names: tuple[str, ...] = FILES) -> Rules:
        """These rules and those that `directory` (relative to the root, "" for itself) adds."""
        found = list(self.specs)
        prefix = f"{directory}/" if directory else ""
        for name in names:
            lines = _lines(f"{root}/{prefix}{name}")
            if lines:
                from pathspec import GitIgnoreSpec  # lazily: 15 ms that most runs can do without

                try:
                    found.append((prefix, GitIgnoreSpec.from_lines(lines)))
                except Exception:  # one broken pattern: take the others
                    found.append((prefix, GitIgnoreSpec.from_lines(_readable(lines))))
        return Rules(tuple(found))

    def ignores(self, path: str, *, directory: bool = False) -> bool:
        name = f"{path}/" if directory else path
        for prefix, spec in reversed(self.specs):  # the nearest file that says anything decides
            if name.startswith(prefix):
                said = spec.check_file(name[len(prefix) :]).include
                if said is not None:
                    return bool(said)
        return False


def _lines(path: str) -> list[str]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            data = os.read(descriptor, _BYTES)
        finally:
            os.close(descriptor)
    except OSError:
        return []
    return os.fsdecode(data).splitlines()


def _readable(lines: list[str]) -> list[str]:
    from pathspec import GitIgnoreSpec

    found = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except Exception:
            continue
        found.append(line)
    return found

"""Rings when something is new in a ledger: one descriptor for those of all watched directories, because a user may have
128 of them and the directories themselves need theirs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from paddock.record.filesystem import is_local
from paddock.record.wake import Wake


@dataclass(eq=False)
class Ear:
    """Whoever listens: two watches may have one ledger."""

    directory: str
    names: set[str] = field(default_factory=set)  # what was told, and not asked for yet
    sure: bool = True  # that is all


class Bell:
    def __init__(self) -> None:
        self._wake = Wake({})
        self._ears: dict[str, list[Ear]] = {}  # by directory

    @property
    def fd(self) -> int:
        """Readable when there is news; -1 where nobody tells."""
        return self._wake.fd

    def listen(self, directory: Path) -> Ear:
        ear = Ear(str(directory))
        if is_local(directory):
            if not any(self._ears.values()):
                self._wake.close()
                self._ears = {}
                self._wake = Wake({ear.directory: (directory, False)})
            elif ear.directory not in self._ears:
                self._wake.add(ear.directory, directory, False)
            self._ears.setdefault(ear.directory, []).append(ear)
        return ear

    def forget(self, ear: Ear) -> None:
        self._ears[ear.directory] = [one for one in self._ears.get(ear.directory, ()) if one is not ear]

    def news(self, ear: Ear) -> set[str] | None:
        """The names of files that came, changed or went since the last call; None when only a listing can tell."""
        if self.fd < 0 or ear not in self._ears.get(ear.directory, ()):
            return None
        changes = self._wake.read()
        if changes is None:  # some were lost
            for one in (one for ears in self._ears.values() for one in ears):
                one.sure = False
        for change in changes or ():
            for one in self._ears[change.directory]:
                one.names.add(change.name)
        names, sure = ear.names, ear.sure
        ear.names, ear.sure = set(), True
        return names if sure else None


BELL = Bell()  # of this process

"""What tells one content from another."""

from __future__ import annotations

import zipfile
from pathlib import Path

from paddock.evaluate.content.fingerprint import fingerprint
from paddock.evaluate.origin.look import look


def archive(path: Path, **entries: str) -> str:
    """As torch.save does: all below a directory that is called as the file is."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries.items():
            file.writestr(f"{path.stem}/{name}", content)
    here = look(str(path))
    assert here is not None
    return fingerprint(here)


def test_the_same_state_saved_under_two_names_is_one_content(tmp_path: Path) -> None:
    first = archive(tmp_path / "step_30.pt", data="weights", version="3")
    assert archive(tmp_path / "last.pt", data="weights", version="3") == first
    others = ({"data": "weights"}, {"data": "WEIGHTS", "version": "3"}, {"date": "weights", "version": "3"})
    assert len({first, *(archive(tmp_path / "last.pt", **other) for other in others)}) == 4

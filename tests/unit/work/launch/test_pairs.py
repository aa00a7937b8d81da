"""What each queue and each engine says that it can do is what the docs say."""

from __future__ import annotations

from pathlib import Path

from paddock.record.layout import Home
from paddock.work.launch.pairs import table

PAGE = Path(__file__).parents[4] / "docs" / "explanation" / "engines.md"


def test_the_table_in_the_docs_is_made_from_the_code(tmp_path: Path) -> None:
    assert table(Home(tmp_path)) in PAGE.read_text(), table(Home(tmp_path))

"""The picture of `paddock top` in the README, from a busy home (bench.busyhome):

python -m bench.toppicture HOME docs/pictures/top.svg
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from paddock.catalog.catalog import Catalog
from paddock.monitor.console.screen import View, screen
from paddock.monitor.console.state import State
from paddock.monitor.now.source import HomeSource
from paddock.record.layout import Home

COLUMNS, ROWS = 110, 30


def main() -> None:
    home = Home(Path(sys.argv[1]).absolute())
    source = HomeSource([(home, Catalog.open(home))])
    now = source.look()
    view = View(now, source.lines(0), State(), where="~/.paddock")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for row in screen(view, COLUMNS, ROWS):
        console.print(Text.assemble(*row), no_wrap=True, overflow="crop")
    # Without the fonts that rich would have fetched from elsewhere.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="paddock top"), flags=re.DOTALL)
    Path(sys.argv[2]).write_text(picture)
    source.close()


if __name__ == "__main__":
    main()

"""What the Monitor System's page shows runs here, unchanged but for the import line."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

from paddock.catalog.catalog import Catalog
from paddock.compare.usage import report as usage
from paddock.record import lines
from paddock.record.layout import Home

LOGGING = """
logging.info("message1", "message2", "message3")
logging.info("message1 %s", "message2")
logging.info("title of table", rich.table.Table("col1", "col2"))
"""
PROGRESS = """
from paddock.monitor.progress import Progress

with Progress.new(total=100, msg=("step", "Message")) as progress:
    for i in range(100):
        progress.advance(1)
    # or
    for i in range(100):
        progress.update(i + 1)
"""
USAGE = """
from paddock.monitor.usage import Usage

for i in range(10):
    Usage.checkpoint("step", i)
"""


def test_its_snippets_run(home: Home, tmp_path: Path) -> None:
    script = tmp_path / "snippets.py"
    begin = "import logging, rich.table\nfrom paddock import monitor\nmonitor.install(id='seed')\n"
    script.write_text(begin + LOGGING + PROGRESS + USAGE)
    environ = os.environ | {"PADDOCK_CAPTURE_CODE": "false", "PADDOCK_USAGE": "true"}
    done = subprocess.run(
        [sys.executable, "-W", "error", script], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Error" not in done.stderr, done.stderr
    found = lines.tail(home.run("seed").logs, 10).lines
    assert [line.text for line in found][:2] == ["message1 message2 message3", "message1 message2"]
    assert "col1" in found[2].text and {line.level for line in found} == {logging.INFO}
    with Catalog.open(home) as catalog:
        catalog.refresh()
        (bar,) = catalog.progress("seed")
    assert (bar.msg, bar.done, bar.total, bar.state) == (("step", "Message"), 100, 100, "done")
    assert [made.text for made in usage.read(home.run("seed").path).checkpoints] == [f"step {i}" for i in range(10)]

"""Send a code snapshot to where workers find it that do not see the home: python -m paddock.track.ship.sending DIGEST.

A process of its own, for who stands beside this package and must not import it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from paddock import settings
from paddock.errors import PaddockError
from paddock.record.layout import Home
from paddock.track.ship.road import road


def main() -> None:
    """HOME DIGEST: exit code 0 when it is there; else a sentence on stderr."""
    home = Home(Path(sys.argv[1]))
    try:
        found = road(settings.load(), home)
        if found is not None:
            found.send(home, sys.argv[2])
    except PaddockError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()

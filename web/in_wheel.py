"""Whether a wheel has all of the board in it: `python web/in_wheel.py dist/paddock-*.whl`, as `make wheel` calls it."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

INSIDE = "paddock/monitor/board/static/"
STATIC = Path(__file__).resolve().parent.parent / "src/paddock/monitor/board/static"


def missing(wheel: Path) -> list[str]:
    """What was built here and is not in the wheel, or is another there."""
    with zipfile.ZipFile(wheel) as packed:
        inside = {name: packed.read(name) for name in packed.namelist() if name.startswith(INSIDE)}
    built = {path.relative_to(STATIC).as_posix(): path.read_bytes() for path in STATIC.rglob("*") if path.is_file()}
    if "index.html" not in built:
        return ["index.html"]
    return sorted(name for name, data in built.items() if inside.get(INSIDE + name) != data)


def main() -> int:
    found = [name for wheel in sys.argv[1:] for name in missing(Path(wheel))]
    if found or len(sys.argv) < 2:
        print(f"board: not in the wheel: {', '.join(found) or 'there is no wheel'}", file=sys.stderr)
        return 1
    print(f"board: all of it is in {' '.join(sys.argv[1:])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

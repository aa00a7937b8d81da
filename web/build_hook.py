"""The wheel's build hook: the board is in every wheel, and is built for it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEAVE_OUT = "PADDOCK_NO_BOARD"


def _builder() -> ModuleType:
    """The script beside this file; hatchling loads hooks by path, so it cannot simply be imported."""
    spec = importlib.util.spec_from_file_location("paddock_board_build", Path(__file__).with_name("build.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BoardHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        """Node from PyPI, where it is needed and the machine has none."""
        board = _builder()
        needless = os.environ.get(LEAVE_OUT) == "1" or board.is_built() or board.tools() is not None
        return [] if needless else [board.NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if os.environ.get(LEAVE_OUT) == "1":
            return
        board = _builder()
        editable = version == "editable"
        try:
            if board.build(install_node=False):
                self.app.display_info("The board is built.")
        except board.CannotBuild as error:
            if not editable:
                self.app.abort(
                    f"{error}\nThe board cannot be built. Install Node 20.19 or newer, or let pip and npm reach their "
                    f"registries; {LEAVE_OUT}=1 makes a wheel without it."
                )
            self.app.display_warning(f"{error}\nThe board is not built: `make board` does it.")
        # Not in git, but in the wheel and in the sdist.
        build_data["artifacts"].append("/src/paddock/monitor/board/static/**")

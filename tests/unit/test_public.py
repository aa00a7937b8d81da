"""The surface that users may rely on; a change here is a change for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import paddock

PUBLIC = """
AlertLevel Api Artifact Audio CommError Error Histogram Html Image Molecule Object3D PaddockError Plotly Run Settings
Store Table UsageError Video __version__ alert ask checkpoint_done checkpoints config data_types define_metric errors
finish init join link_model log log_artifact log_image log_metric log_model log_table log_text login mark
mark_preempting monitor plot run run_view runs save setup should_stop submit summary teardown termerror termlog termwarn
tqdm unwatch use_artifact
use_model util watch
""".split()  # noqa: SIM905


def test_the_public_names_are_these_and_sorted() -> None:
    assert paddock.__all__ == PUBLIC == sorted(PUBLIC)


def test_every_public_name_can_be_had() -> None:
    for name in paddock.__all__:
        if name not in ("config", "summary"):  # these need a run
            getattr(paddock, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = paddock.nonsense  # type: ignore[attr-defined]


def test_importing_paddock_loads_nothing_that_a_training_does_not_need() -> None:
    heavy = "click rich sqlite3 msgspec asyncio pathspec numpy pandas polars pyarrow".split()  # noqa: SIM905
    code = f"import paddock, sys; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_init_loads_no_command_line_and_no_database() -> None:
    heavy = "click rich sqlite3 asyncio numpy pandas polars pyarrow".split()  # noqa: SIM905
    code = f"import paddock, sys; paddock.init(); print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"

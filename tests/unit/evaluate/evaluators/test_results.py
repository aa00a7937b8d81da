"""Results as evaluation programs write them."""

from __future__ import annotations

import json
import math
import os
import sys
import zipfile
from pathlib import Path

import pytest

from paddock.errors import UsageError
from paddock.evaluate.evaluators.results import metrics_of, read
from paddock.evaluate.evaluators.values import values_of


def test_lm_eval() -> None:
    found = {"results": {"arc": {"alias": "arc", "acc,none": 0.5, "acc_stderr,none": 0.01, "acc,strict": 0.4}}}
    assert metrics_of(found) == {"arc/acc": 0.5, "arc/acc_stderr": 0.01, "arc/acc/strict": 0.4}


def test_lighteval() -> None:
    assert metrics_of({"results": {"all": {"acc": 0.25}}, "config_general": {}}) == {"all/acc": 0.25}


def test_inspect() -> None:
    scores = [{"name": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 0.75}}}]
    assert metrics_of({"status": "success", "results": {"scores": scores}}) == {"match/accuracy": 0.75}


def test_inspect_as_it_writes_its_logs_by_default(tmp_path: Path) -> None:
    scores = [{"name": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}]
    with zipfile.ZipFile(tmp_path / "2026-01-01_task.eval", "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", json.dumps({"status": "success", "results": {"scores": scores}}))
        log.writestr("samples/1_epoch_1.json", json.dumps({"id": 1}))
    (tmp_path / "newer.eval").write_bytes(b"PK: it was killed while it wrote")
    assert read(tmp_path) == {"match/accuracy": 0.5}


def test_helm() -> None:
    stats = [
        {"name": {"name": "exact_match", "split": "test"}, "mean": 0.5, "count": 2},
        {"name": {"name": "exact_match", "split": "test", "perturbation": {"name": "typos"}}, "mean": 0.1},
    ]
    assert metrics_of(stats) == {"test/exact_match": 0.5}


WRITTEN = Path(__file__).parent / "written"  # by the programs themselves, of tasks and models that say nothing


def test_what_lm_eval_really_writes() -> None:
    """0.4.13: `lm_eval --model dummy --tasks toy_capitals,toy_sums --output_path ...`, with two filters on the sums."""
    assert read(WRITTEN / "lm_eval") == {
        "toy_capitals/acc": 0.3333333333333333,
        "toy_capitals/acc_stderr": 0.210818510677892,
        "toy_capitals/acc_norm": 0.3333333333333333,
        "toy_capitals/acc_norm_stderr": 0.210818510677892,
        "toy_sums/exact_match/strict": 0.0,
        "toy_sums/exact_match_stderr/strict": 0.0,
        "toy_sums/exact_match/flexible": 0.0,
        "toy_sums/exact_match_stderr/flexible": 0.0,
    }


def test_what_inspect_really_writes() -> None:
    """0.3.285: `inspect eval sums.py --log-dir ...` with two tasks, whose logs are compressed with zstd."""
    if sys.version_info < (3, 14):
        pytest.importorskip("zstandard")
    assert read(WRITTEN / "inspect") == {
        "sums/match/accuracy": 0.75,
        "sums/match/stderr": 0.25,
        "sums/includes/accuracy": 0.75,
        "sums/includes/stderr": 0.25,
        "doubles/match/accuracy": 0.75,
        "doubles/match/stderr": 0.25,
    }


def test_what_helm_really_writes() -> None:
    """0.5.16: `helm-run --run-entries simple1:model=simple/model1 --suite s --max-eval-instances 3`."""
    found = read(WRITTEN / "helm")
    assert len(found) == 21
    assert [found[f"test/{name}"] for name in ("num_references", "num_train_trials", "batch_size")] == [2.0, 3.0, 1.0]


def test_without_a_library_for_it_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UsageError, match="zstd") as raised:
        read(WRITTEN / "inspect")
    assert "--log-format json" in (raised.value.hint or "")


def write(path: Path, content: object, age: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    os.utime(path, (1000 - age, 1000 - age))


def test_every_run_of_helm_is_read_under_its_name(tmp_path: Path) -> None:
    def stats(value: float) -> list[object]:
        return [{"name": {"name": "exact_match", "split": "test"}, "mean": value}]

    write(tmp_path / "runs/v1/mmlu:subject=law/stats.json", stats(0.5), 1)
    write(tmp_path / "runs/v1/gsm:model=x/stats.json", stats(0.25), 2)
    write(tmp_path / "runs/v0/gsm:model=x/stats.json", stats(0.1), 3)  # an older suite
    write(tmp_path / "runs/v1/gsm:model=x/scenario_state.json", {"n": 1}, 0)
    assert read(tmp_path) == {
        "mmlu:subject=law/test/exact_match": 0.5,
        "gsm:model=x/test/exact_match": 0.25,
    }


def test_every_task_of_inspect_is_read_under_its_name(tmp_path: Path) -> None:
    def log(task: str, value: float) -> object:
        scores = [{"name": "match", "metrics": {"accuracy": {"name": "accuracy", "value": value}}}]
        return {"eval": {"task": task}, "status": "success", "results": {"scores": scores}}

    write(tmp_path / "1_arc.json", log("arc", 0.5), 1)
    assert read(tmp_path) == {"match/accuracy": 0.5}
    write(tmp_path / "0_arc.json", log("arc", 0.1), 2)  # the newest counts
    assert read(tmp_path) == {"match/accuracy": 0.5}
    write(tmp_path / "2_gsm.json", log("gsm", 0.75), 0)
    assert read(tmp_path) == {"arc/match/accuracy": 0.5, "gsm/match/accuracy": 0.75}


def test_several_results_of_lm_eval_are_one(tmp_path: Path) -> None:
    write(tmp_path / "m/results_1.json", {"results": {"arc": {"acc,none": 0.1}, "gsm": {"acc,none": 0.2}}}, 2)
    write(tmp_path / "m/results_2.json", {"results": {"arc": {"acc,none": 0.5}}}, 1)
    assert read(tmp_path) == {"arc/acc": 0.5, "gsm/acc": 0.2}


def test_any_json_with_numbers_and_the_newest_results_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "samples.json").write_text(json.dumps({"x": 1}))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "results_1.json").write_text(json.dumps({"acc": 0.5, "by": {"class": 1}, "name": "a"}))
    assert read(tmp_path) == {"acc": 0.5, "by/class": 1}
    assert read(tmp_path / "nothing") == {}


def test_nan_and_infinity_as_python_writes_them_and_a_mark_of_the_byte_order(tmp_path: Path) -> None:
    text = json.dumps({"loss": math.nan, "perplexity": math.inf, "acc": 0.1})
    (tmp_path / "results.json").write_bytes(b"\xef\xbb\xbf" + text.replace(", ", ",\r\n").encode())
    found = read(tmp_path)
    assert math.isnan(found.pop("loss")) and found == {"perplexity": math.inf, "acc": 0.1}


def test_what_a_function_returns() -> None:
    assert values_of(0.5).numbers == {"score": 0.5}
    assert values_of({"a": {"b": 1}, "c": True}).numbers == {"a/b": 1, "c": True}
    assert values_of({"note": "x"}) == ({}, {"note": "x"})
    assert values_of(None) == ({}, {})


def test_a_number_that_nobody_could_read_later_is_kept_as_it_is_said() -> None:
    assert values_of({"large": 2**70, "larger": 10**400}) == ({"large": float(2**70)}, {"larger": 10**400})

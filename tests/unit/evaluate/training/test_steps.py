"""The step of a checkpoint is read off its name."""

from __future__ import annotations

import pytest

from paddock.errors import UsageError
from paddock.evaluate.training.steps import compile_rule, step_of


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("runs/a/step=500.pt", 500),
        ("epoch=3-step=1200.ckpt", 1200),
        ("checkpoint-500", 500),
        ("out/checkpoint-500/pytorch_model.bin", 500),
        ("iter_0001000", 1000),
        ("global_step2000", 2000),
        ("epoch12.pth", 12),
        ("model_epoch_7.pt", 7),
        ("ckpt_000123.pt", 123),
        ("00000400.ckpt", 400),
        ("/data/2024/run-7/last.pt", None),
        ("weights.17.h5", 17),
        ("step-00012-unsharded", 12),
        ("last.pt", None),
        ("best.ckpt", None),
        ("model_step_5_epoch_2.pt", 5),
        ("lr0.1/step_10.pt", 10),
        ("step_99999999999999999999.pt", None),
        ("stage1-step1000-tokens4B/model.pt", 1000),
        ("tokens-300.pt", 300),
        ("step_10k.pt", 10_000),
        ("ckpt-2M.pt", 2_000_000),
        ("iter_80k_best.pth", 80_000),
        ("step_10kl.pt", 10),
        ("model-13b.pt", None),
        ("model-1.5b.pt", None),
        ("runs/model-125m/last.pt", None),
        ("model_10k.pt", 10_000),
        ("step_1.5k.pt", 1_500),
        ("tokens_900M.pt", 900_000_000),
        ("tokens_1.2B.pt", 1_200_000_000),
        ("step_5/model-00001-of-00002.safetensors", 5),
    ],
)
def test_names_as_trainers_write_them(path: str, step: int | None) -> None:
    assert step_of(path) == step


def test_a_rule_of_the_users_comes_first() -> None:
    assert step_of("a/epoch12_it77.pt", compile_rule(r"it(\d+)")) == 77
    assert step_of("a/epoch12.pt", compile_rule(r"it(\d+)")) is None


@pytest.mark.parametrize("rule", ["(", "no group"])
def test_a_rule_that_cannot_work_is_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        compile_rule(rule)

"""`import paddock as wandb` carries an ordinary script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import argparse
import numpy as np
import paddock as wandb

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()

wandb.login()
run = wandb.init(project="demo", entity="me", config=args, tags=["x"], settings=None, save_code=True, id="w")
wandb.watch(object(), log="all")
wandb.define_metric("val/*", step_metric="epoch")
wandb.config.update({"batch": 32})
for epoch in range(3):
    for _ in range(4):
        wandb.log({"train/loss": np.float32(1.0), "epoch": epoch})
    wandb.log({"val/acc": 0.5 + epoch / 10, "img": wandb.Image(np.zeros((4, 4))), "h": wandb.Histogram([1, 2])})
wandb.log({"scores": wandb.Table(columns=["a"], data=[[1]])}, commit=False)
wandb.run.summary["best"] = 0.7
wandb.summary["also"] = 1
artifact = wandb.Artifact("model", type="model")
artifact.add_file(__file__)
wandb.log_artifact(artifact, aliases=["latest", "best"])
wandb.alert(title="done", text="all of it")
assert wandb.config.lr == 0.1 and wandb.config["batch"] == 32
assert wandb.run.name and wandb.run.id == "w" and wandb.run.dir
wandb.finish()
assert wandb.run is None
"""


def test_an_ordinary_script_runs_unchanged(read, home, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    subprocess.run([sys.executable, "-W", "error", str(path)], check=True, cwd=tmp_path)
    found = read(home.runs / "w")
    assert found.facts["config"] == {"lr": 0.1}
    assert len(found.points["train/loss"]) == 12
    assert [step for step, _ in found.points["val/acc"]] == [4, 9, 14]
    assert len(found.records["image"]) == 3
    assert found.records["artifact"][0]["aliases"] == ["best", "latest"]
    assert "dropped" not in found.records

"""`import paddock as wandb` carries an ordinary script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paddock.catalog.catalog import Catalog

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


WIDER = """
import io
import pathlib
import numpy as np
import paddock as wandb

wandb.setup(wandb.Settings(start_method="fork"))
assert len(wandb.util.generate_id()) == 10 and len(wandb.util.generate_id(32)) == 32
try:
    wandb.Api()
except wandb.errors.UsageError as error:
    assert "paddock.runs(" in str(error)
assert issubclass(wandb.errors.CommError, wandb.Error) and wandb.CommError and wandb.UsageError

settings = wandb.Settings(_disable_stats=True)
run = wandb.init(project="demo", id="w2", job_type="train", mode="dryrun", settings=settings)
assert run.url.startswith("file://") and run.get_url() == run.url
assert run.offline and run.sweep_id is None and run.entity and run.start_time > 0
assert run.job_type == "train" and run.project_name() == "demo" and run.settings.run_id == "w2"
assert run.settings.anything is None and run.status().sync_items_pending == 0 and not run.display()
run.name = "renamed"
assert wandb.run.name == "renamed"
run.watch(object())
run.unwatch()
wandb.unwatch()
assert run.define_metric("val/acc", summary="max").name == "val/acc"
assert wandb.define_metric("epoch").name == "epoch"

picture = np.zeros((4, 4))
wandb.log({"imgs": [wandb.Image(picture, caption=str(i)) for i in range(3)], "val/acc": 0.5})
table = wandb.Table(columns=["x", "y"], data=[[1, 2]], allow_mixed_types=True, log_mode="IMMUTABLE")
table.add_column("img", [wandb.Image(picture)])
assert table.get_column("x") == [1] and list(table.get_dataframe().columns) == ["x", "y", "img"]
truth, chances = [0, 1], [[0.9, 0.1], [0.2, 0.8]]
wandb.log({
    "table": table,
    "plots": {
        "line": wandb.plot.line(table, "x", "y", title="t"),
        "scatter": wandb.plot.scatter(table, "x", "y"),
        "bar": wandb.plot.bar(table, "x", "y"),
        "histogram": wandb.plot.histogram(table, "x"),
        "matrix": wandb.plot.confusion_matrix(y_true=truth, preds=np.array([0, 1]), class_names=["a", "b"]),
        "pr": wandb.plot.pr_curve(truth, chances, labels=["a", "b"]),
        "roc": wandb.plot.roc_curve(truth, np.array(chances)),
    },
    "page": wandb.Html("<b>page</b>"),
    "sound": wandb.Audio(np.zeros(10), sample_rate=8000, caption="silence"),
    "film": wandb.Video(io.BytesIO(b"GIF89a"), fps=4, format="gif"),
    "cloud": wandb.Object3D(np.zeros((2, 3))),
    "molecule": wandb.data_types.Molecule(io.StringIO("ATOM"), file_type="pdb"),
})

artifact = wandb.Artifact("data", type="dataset")
with artifact.new_file("a.txt") as file:
    file.write("a")
artifact.add(table, "table")
artifact.add(wandb.Image(picture), "picture")
run.link_artifact(artifact, "registry/data")
model = run.log_model(__file__, name="net", aliases=["best"])
assert pathlib.Path(run.use_model("net:best")).read_text() == pathlib.Path(__file__).read_text()
run.link_model(__file__, "registry/net")
run.mark_preempting()
wandb.alert("t", "x", level=wandb.AlertLevel.WARN)
wandb.termlog("log")
wandb.termwarn("warn", repeat=False)
wandb.termerror("error")
wandb.join()
wandb.teardown()

wandb.init(mode="disabled")
wandb.run.name = "nobody"
wandb.run.log_model("nowhere")
assert wandb.run.use_model("nowhere") == "nowhere" and wandb.define_metric("x").name == "x"
wandb.run.link_model("nowhere", "registry/net")
wandb.finish()
"""


def test_a_script_with_the_rest_of_wandb_runs_too(read, home, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(WIDER)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)], check=True, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert "paddock: warning: warn\n" in done.stderr and "paddock: error: error\n" in done.stderr
    found = read(home.runs / "w2").records
    assert "dropped" not in found, done.stderr
    assert [r["name"] for r in found["image"]] == ["imgs/0", "imgs/1", "imgs/2"]
    assert {r["name"].removeprefix("plots/") for r in found["table"]} == {
        "table",
        *"line scatter bar histogram matrix pr roc".split(),  # noqa: SIM905
    }
    assert [r["type"] for r in found["media"]] == ["html", "audio", "video", "object3d", "molecule"]
    assert [(r["name"], r["type"]) for r in found["artifact"]][:2] == [("data", "dataset"), ("net", "model")]
    assert [r["name"] for r in found["mark"]] == ["link", "link", "preempting"]
    assert found["alert"][0]["level"] == "warn"
    with Catalog.open(home) as catalog:
        catalog.refresh()
        assert [row.name for row in catalog.runs()] == ["renamed"]


def test_a_name_given_later_lasts(home, tmp_path: Path) -> None:
    first = "import paddock; run = paddock.init(id='n', name='old'); run.name = 'new'"
    again = "import paddock; run = paddock.init(id='n', resume='must'); assert run.name == 'new', run.name"
    for code in (first, again):
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=tmp_path)

"""A small real training: handwritten digits, a two-layer network in numpy, checkpoints, a validation score.

python examples/digits.py --lr 0.3 --seed 1

With --out the checkpoints go there; examples/digits_eval.py evaluates them.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import struct
from pathlib import Path

import numpy as np

import paddock
from paddock.monitor import Progress

Data = tuple[np.ndarray, np.ndarray]  # pixels and labels


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--save-every", type=int, default=1, help="epochs from one checkpoint to the next")
    parser.add_argument("--out", type=Path, help="a directory for the checkpoints; else that of the run")
    parser.add_argument("--directories", action="store_true", help="each is a directory, as a Trainer writes them")
    arguments = parser.parse_args()

    config = {name: value for name, value in vars(arguments).items() if name != "out"}
    run = paddock.init(project="digits", config=config, tags=["demo"])
    run.define_metric("val/acc", goal="max")
    random = np.random.default_rng(arguments.seed)
    train, validate = split(random)
    network = make(random, 64, arguments.hidden, 10)
    with Progress.new(total=arguments.epochs, msg=("training",), unit="epoch") as progress:
        for epoch in range(arguments.epochs):
            step = train_epoch(run, network, train, epoch, arguments)
            accuracy = float((predict(network, validate[0]).argmax(1) == validate[1]).mean())
            run.log({"val/acc": accuracy}, step=step)
            print(f"epoch {epoch:2d}  val/acc {accuracy:.4f}")
            if (epoch + 1) % arguments.save_every == 0:
                checkpoint = save(network, arguments.out or Path(run.dir), step, arguments.directories)
                if arguments.out is None:
                    run.save(checkpoint)
            progress.advance(1)
    run.finish()


def train_epoch(run: paddock.Run, network: list[np.ndarray], train: Data, epoch: int, given: argparse.Namespace) -> int:
    """Once through the data; returns the step that comes next."""
    order = np.random.default_rng((given.seed, epoch)).permutation(len(train[0]))
    starts = range(0, len(order), given.batch)
    for step, start in enumerate(starts, epoch * len(starts)):
        batch = order[start : start + given.batch]
        run.log({"train/loss": learn(network, train[0][batch], train[1][batch], given.lr), "epoch": epoch}, step=step)
    return (epoch + 1) * len(starts)


def digits() -> Data:
    """1,797 pictures of 8 x 8 pixels, and what they show: scikit-learn's file, without its seconds of import."""
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        raise SystemExit("The digits come with scikit-learn: pip install '.[demo]'")
    table = np.loadtxt(Path(package.origin).parent / "datasets/data/digits.csv.gz", delimiter=",")
    return table[:, :-1] / 16.0, table[:, -1].astype(int)


def split(random: np.random.Generator) -> tuple[Data, Data]:
    pixels, labels = digits()
    order = random.permutation(len(pixels))
    first, rest = order[:1400], order[1400:]
    return (pixels[first], labels[first]), (pixels[rest], labels[rest])


def make(random: np.random.Generator, *sizes: int) -> list[np.ndarray]:
    weights = []
    for here, there in itertools.pairwise(sizes):
        weights += [random.normal(0, (2 / here) ** 0.5, (here, there)), np.zeros(there)]
    return weights


def predict(network: list[np.ndarray], pixels: np.ndarray) -> np.ndarray:
    w1, b1, w2, b2 = network
    scores = np.maximum(pixels @ w1 + b1, 0) @ w2 + b2
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def learn(network: list[np.ndarray], pixels: np.ndarray, labels: np.ndarray, lr: float) -> float:
    """One step of gradient descent on the cross-entropy."""
    w1, b1, w2, _ = network
    hidden = np.maximum(pixels @ w1 + b1, 0)
    likely = predict(network, pixels)
    loss = -np.log(likely[np.arange(len(labels)), labels] + 1e-12).mean()
    error = likely.copy()
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    back = (error @ w2.T) * (hidden > 0)
    gradients = [pixels.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]
    for weight, gradient in zip(network, gradients, strict=True):
        weight -= lr * gradient
    return float(loss)


def save(network: list[np.ndarray], out: Path, step: int, as_directory: bool) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    if not as_directory:
        np.savez(out / f"step={step}.npz", *network)
        return out / f"step={step}.npz"
    path = out / f"checkpoint-{step}"
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps({"layers": len(network) // 2}))
    header, end = {}, 0
    for number, weight in enumerate(network):
        header[str(number)] = {"dtype": "F64", "shape": weight.shape, "data_offsets": [end, end + weight.nbytes]}
        end += weight.nbytes
    text = json.dumps(header).encode()
    data = b"".join(weight.tobytes() for weight in network)
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (path / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    return path


def load(path: Path) -> list[np.ndarray]:
    """What save() wrote, of either kind."""
    if path.is_file():
        with np.load(path) as file:
            return [file[name] for name in file.files]
    raw = (path / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    found = []
    for name in sorted(header, key=int):
        first, last = header[name]["data_offsets"]
        found.append(np.frombuffer(raw[8 + length + first : 8 + length + last]).reshape(header[name]["shape"]))
    return found


if __name__ == "__main__":
    main()

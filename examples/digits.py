"""A small real training: handwritten digits, a two-layer network in numpy, checkpoints, a validation score.

python examples/digits.py --lr 0.3 --seed 1

With --out the checkpoints go there; examples/digits_eval.py evaluates them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import paddock


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--out", type=Path, help="a directory for the checkpoints; else that of the run")
    parser.add_argument("--directories", action="store_true", help="each is a directory, as a Trainer writes them")
    arguments = parser.parse_args()

    run = paddock.init(project="digits", config=arguments, tags=["demo"])
    run.define_metric("val/acc", goal="max")
    random = np.random.default_rng(arguments.seed)
    train, validate = split(random)
    network = make(random, 64, arguments.hidden, 10)
    best, step = 0.0, 0
    for epoch in range(arguments.epochs):
        order = random.permutation(len(train[0]))
        for start in range(0, len(order), arguments.batch):
            batch = order[start : start + arguments.batch]
            loss = learn(network, train[0][batch], train[1][batch], arguments.lr)
            run.log({"train/loss": loss, "epoch": epoch}, step=step)
            step += 1
        accuracy = float((predict(network, validate[0]).argmax(1) == validate[1]).mean())
        run.log({"val/acc": accuracy}, step=step)
        print(f"epoch {epoch:2d}  loss {loss:.4f}  val/acc {accuracy:.4f}")
        checkpoint = save(network, arguments.out or Path(run.dir), step, arguments.directories)
        if arguments.out is None:
            run.save(checkpoint)
        if accuracy > best:
            best = accuracy
            run.summary["best/val/acc"] = best
    run.finish()


def split(random: np.random.Generator) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    digits = load_digits()
    pixels, labels = digits.data / 16.0, digits.target
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

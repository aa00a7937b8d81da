"""The main-script contract: a dict `config` and a function `main()`.

python examples/contract.py                           runs alone
paddock run examples/contract.py lr=0.5 steps=20      runs tracked, with overrides
"""

from __future__ import annotations

config = {"lr": 0.1, "steps": 10, "model": {"start": 3.0}}

output_dir = "."


def log_metric(name: str, value: object, tags: dict[str, str] | None = None) -> None:
    print(name, value, tags or "")  # replaced by the run's own when Paddock runs this script


def log_info(values: dict[str, object]) -> None:
    print(values)


def main() -> None:
    x = config["model"]["start"]
    for step in range(config["steps"]):
        x -= config["lr"] * 2 * x
        log_metric("x", {"value": x, "step": step})
        log_metric("distance", abs(x), tags={"to": "minimum"})
        log_info({"state.progress": (step + 1) / config["steps"]})
    with open(f"{output_dir}/x.txt", "w") as file:
        file.write(f"{x}\n")


if __name__ == "__main__":
    main()

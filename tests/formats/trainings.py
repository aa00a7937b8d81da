"""Small trainings that write checkpoints with the real libraries: python -m tests.formats.trainings NAME DIRECTORY.

Each prints one line of JSON: the checkpoints that it has written, by their paths below the directory, with their steps.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

Written = dict[str, int]


def torch_save(out: Path) -> Written:
    import torch

    for step in (10, 20, 30):
        state = {"step": step, "model": {"w": torch.randn(300, 300)}}
        torch.save(state, out / f"step_{step}.pt")
        torch.save(state, out / "last.pt")  # the same once more, under another name
    torch.save({"w": torch.randn(300, 300)}, out / "legacy.pth", _use_new_zipfile_serialization=False)
    os.link(out / "step_20.pt", out / "best.pt")
    return {"step_10.pt": 10, "step_20.pt": 20, "step_30.pt": 30, "legacy.pth": -1}


def lightning(out: Path) -> Written:
    import lightning as light
    import torch
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Model(light.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch: Any, _: int) -> Any:
            return self.layer(batch).square().mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters())

    saving = ModelCheckpoint(dirpath=out, every_n_train_steps=2, save_top_k=-1, save_last="link")
    trainer = light.Trainer(max_steps=6, callbacks=[saving], accelerator="cpu", logger=False, enable_progress_bar=False)
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=4))
    return {path.name: int(path.stem.rpartition("=")[2]) for path in out.glob("*step*.ckpt")}


def trainer(out: Path) -> Written:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=64, n_positions=16))
    data = [{"input_ids": (ids := torch.randint(0, 64, (16,))), "labels": ids} for _ in range(16)]
    arguments = TrainingArguments(
        output_dir=str(out), max_steps=6, save_steps=2, per_device_train_batch_size=2, report_to=[], use_cpu=True
    )
    Trainer(model=model, args=arguments, train_dataset=data).train()
    return {f"checkpoint-{step}": step for step in (2, 4, 6)}


def pretrained(out: Path) -> Written:
    """A model's directory, in several shards, and with safetensors alone."""
    from safetensors.torch import save_file
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=64, vocab_size=512, n_positions=16))
    model.save_pretrained(out / "step_100", max_shard_size="100KB")
    assert list((out / "step_100").glob("*.index.json")), "it is not sharded"
    tensors = {name: tensor.clone() for name, tensor in model.transformer.state_dict().items()}
    save_file(tensors, out / "model.safetensors", metadata={"step": "300"})
    return {"step_100": 100, "model.safetensors": 300}


def accelerate(out: Path) -> Written:
    import torch
    from accelerate import Accelerator
    from accelerate.utils import ProjectConfiguration

    accelerator = Accelerator(cpu=True, project_config=ProjectConfiguration(str(out), automatic_checkpoint_naming=True))
    model = torch.nn.Linear(64, 64)
    model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters()))
    for _ in range(3):
        accelerator.backward(model(torch.randn(4, 64)).square().mean())
        optimizer.step()
        accelerator.save_state()
    return {f"checkpoints/checkpoint_{n}": n for n in range(3)}


def dcp(out: Path) -> Written:
    import torch
    import torch.distributed.checkpoint as checkpoint

    for step in (100, 200):
        checkpoint.save({"model": torch.nn.Linear(64, 64).state_dict()}, checkpoint_id=out / f"step-{step}")
    checkpoint.save({"model": torch.nn.Linear(64, 64).state_dict()}, checkpoint_id=out / "step-200")  # over the old one
    return {"step-100": 100, "step-200": 200}


def fsdp(out: Path) -> Written:
    """Two processes, each with its shard."""
    import torch.multiprocessing

    torch.multiprocessing.spawn(_fsdp, args=(out,), nprocs=2)
    return {"step-100": 100, "step-200": 200}


def _fsdp(rank: int, out: Path) -> None:
    import torch
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.checkpoint.state_dict import get_model_state_dict
    from torch.distributed.fsdp import fully_shard

    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{out.parent}/{out.name}.rendezvous", rank=rank, world_size=2
    )
    model = torch.nn.Linear(64, 64)
    fully_shard(model, mesh=torch.distributed.device_mesh.init_device_mesh("cpu", (2,)))
    for step in (100, 200):
        checkpoint.save({"model": get_model_state_dict(model)}, checkpoint_id=out / f"step-{step}")
    torch.distributed.destroy_process_group()


def orbax(out: Path) -> Written:
    import jax.numpy as jnp
    import orbax.checkpoint as ocp

    with ocp.CheckpointManager(out, options=ocp.CheckpointManagerOptions(max_to_keep=None)) as manager:
        for step in (3, 6, 9):
            manager.save(step, args=ocp.args.StandardSave({"w": jnp.full((64, 64), step)}))
        manager.wait_until_finished()
    return {"3": 3, "6": 6, "9": 9}


def deepspeed(out: Path) -> Written:
    import deepspeed as speed
    import torch

    model = torch.nn.Linear(64, 64)
    options = {
        "train_batch_size": 4,
        "zero_optimization": {"stage": 2},
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    }
    engine, *_ = speed.initialize(model=model, model_parameters=model.parameters(), config=options)
    for step in (1, 2, 3):
        engine.backward(engine(torch.randn(4, 64)).square().mean())
        engine.step()
        engine.save_checkpoint(str(out), tag=f"global_step{step}")
    return {f"global_step{step}": step for step in (1, 2, 3)}


TRAININGS = {
    one.__name__: one for one in (torch_save, lightning, trainer, pretrained, accelerate, dcp, fsdp, orbax, deepspeed)
}

if __name__ == "__main__":
    place = Path(sys.argv[2])
    place.mkdir(parents=True, exist_ok=True)
    print(json.dumps(TRAININGS[sys.argv[1]](place)))

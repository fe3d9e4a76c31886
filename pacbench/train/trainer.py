"""The training loop: every step depends on the seed and its number alone, so it can be resumed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from tqdm import tqdm

from pacbench.errors import UserError
from pacbench.train.checkpoint import Log, Progress, load, save
from pacbench.train.spec import TrainingSpec

CHECKPOINT, WEIGHTS, LOG = "checkpoint.pt", "weights.pt", "log.csv"


class Learning(Protocol):
    """What a task brings to a training."""

    def batch(self, iteration: int) -> Any:
        """The inputs and targets of a step: the same for the same number."""
        ...

    def loss(self, module: nn.Module, batch: Any) -> Tensor: ...

    def validate(self, module: nn.Module) -> float:
        """A score on held-out samples; larger is better."""
        ...


def train(
    module: nn.Module, learning: Learning, spec: TrainingSpec, folder: Path, quiet: bool = False
) -> float:
    """Train a module, going on from the checkpoint in ``folder`` if there is one.

    Leaves there ``weights.pt``, the state dict of the best validation, and ``log.csv``; the module
    has those weights when this returns.

    Returns:
        The best validation score.
    """
    optimizer = torch.optim.Adam(module.parameters(), lr=spec.learning_rate)
    folder.mkdir(parents=True, exist_ok=True)
    progress = _resume(folder / CHECKPOINT, module, optimizer)
    log = Log(folder / LOG, progress.iteration)
    if progress.iteration == 0:
        _validate(module, learning, spec, optimizer, progress, log, folder, loss=float("nan"))
    with tqdm(
        total=spec.iterations, initial=progress.iteration, unit="step", disable=quiet or None
    ) as bar:
        losses: list[float] = []
        while progress.iteration < spec.iterations and not _gave_up(progress, spec):
            losses.append(_step(module, learning, spec, optimizer, progress.iteration))
            progress.iteration += 1
            last = progress.iteration == spec.iterations
            if last or progress.iteration % spec.validate_every == 0:
                mean = sum(losses) / len(losses)
                losses.clear()
                _validate(module, learning, spec, optimizer, progress, log, folder, mean)
            bar.set_postfix(loss=f"{(losses or [mean])[-1]:.3f}", best=f"{progress.best:.4f}")
            bar.update()
    module.load_state_dict(load(folder / WEIGHTS))
    return progress.best


def _gave_up(progress: Progress, spec: TrainingSpec) -> bool:
    return spec.patience is not None and progress.stale >= spec.patience


def _step(
    module: nn.Module,
    learning: Learning,
    spec: TrainingSpec,
    optimizer: torch.optim.Optimizer,
    iteration: int,
) -> float:
    module.train()
    for group in optimizer.param_groups:
        group["lr"] = spec.learning_rate_at(iteration)
    optimizer.zero_grad(set_to_none=True)
    loss = learning.loss(module, learning.batch(iteration))
    value = float(loss.detach())
    if not math.isfinite(value):
        raise UserError(
            f"step {iteration}: the loss is {value}; lower `learning_rate` "
            f"({spec.learning_rate:g}) in the suite's `training:`"
        )
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return value


def _validate(
    module: nn.Module,
    learning: Learning,
    spec: TrainingSpec,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    log: Log,
    folder: Path,
    loss: float,
) -> None:
    """Score, keep the weights if they are the best, log, and save what a resume needs."""
    module.eval()
    with torch.inference_mode():
        score = learning.validate(module)
    progress.stale += 1
    if score > progress.best:
        progress.best, progress.stale = score, 0
        save(folder / WEIGHTS, module.state_dict())
    log.add(
        iteration=progress.iteration,
        learning_rate=spec.learning_rate_at(max(progress.iteration - 1, 0)),
        loss=loss,
        score=score,
        best=progress.best,
    )
    save(
        folder / CHECKPOINT,
        {
            "module": module.state_dict(),
            "optimizer": optimizer.state_dict(),
            "iteration": progress.iteration,
            "best": progress.best,
            "stale": progress.stale,
        },
    )


def _resume(path: Path, module: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    if not path.exists():
        return Progress()
    content = load(path)
    try:
        module.load_state_dict(content["module"])
        optimizer.load_state_dict(content["optimizer"])
        return Progress(content["iteration"], content["best"], content["stale"])
    except (KeyError, RuntimeError, ValueError) as error:
        raise UserError(
            f"{path}: is not a checkpoint of this method ({str(error).splitlines()[0]}); "
            "train into another folder with --out, or remove it"
        ) from None

"""The training loop: every step depends on the seed and its number alone, so it can be resumed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel
from tqdm import tqdm

from pacbench.errors import UserError, did_you_mean, listing
from pacbench.train.checkpoint import Log, Progress, load, save
from pacbench.train.learning import Learning
from pacbench.train.optimiser import adam_for, set_step
from pacbench.train.plot import plot_log
from pacbench.train.processes import Team
from pacbench.train.spec import TrainingSpec

CHECKPOINT, WEIGHTS, LOG, PLOT = "checkpoint.pt", "weights.pt", "log.csv", "log.png"


def train(
    module: nn.Module,
    learning: Learning,
    spec: TrainingSpec,
    folder: Path,
    quiet: bool = False,
    team: Team | None = None,
) -> float:
    """Train a module, going on from the checkpoint in ``folder`` if there is one.

    Leaves there ``weights.pt``, the state dict of the best validation, ``log.csv`` and a plot of
    it; the module has those weights when this returns.

    Returns:
        The best validation score.
    """
    return Trainer(module, learning, spec, folder, team or Team()).run(quiet)


class Trainer:
    """A training in progress; the arguments are those of :func:`train`."""

    def __init__(
        self, module: nn.Module, learning: Learning, spec: TrainingSpec, folder: Path, team: Team
    ) -> None:
        self.module, self.learning, self.spec = module, learning, spec
        self.folder, self.team = folder, team
        _check_parts(module, spec)
        self.optimiser = adam_for(module)
        self.averaged = (
            AveragedModel(module, avg_fn=_running_mean(spec.averaging)) if spec.averaging else None
        )
        folder.mkdir(parents=True, exist_ok=True)
        self.progress = self._resume(folder / CHECKPOINT)
        self.log = Log(folder / LOG, self.progress) if team.leads else None
        self._wrapped: tuple[tuple[str, ...], nn.Module] | None = None

    def run(self, quiet: bool) -> float:
        progress, spec = self.progress, self.spec
        if not progress.validated:
            self._validate(loss=float("nan"))
        with tqdm(
            total=spec.steps,
            initial=progress.iteration,
            unit="step",
            disable=quiet or not self.team.leads or None,
        ) as bar:
            losses: list[float] = []
            while progress.iteration < spec.steps and not self._gave_up():
                losses.append(self._step(progress.iteration))
                progress.iteration += 1
                bar.set_postfix(loss=f"{losses[-1]:.3f}", best=f"{progress.best:.4f}")
                bar.update()
                last = progress.iteration == spec.steps
                if last or progress.iteration % spec.validate_every == 0:
                    self._validate(sum(losses) / len(losses))
                    losses.clear()
        if self.team.leads:
            plot_log(self.folder / LOG, self.folder / PLOT)
        self.module.load_state_dict(load(self.folder / WEIGHTS))
        return progress.best

    @property
    def kept(self) -> nn.Module:
        """The module whose weights are validated and kept."""
        return self.module if self.averaged is None else self.averaged.module

    def _gave_up(self) -> bool:
        return self.spec.patience is not None and self.progress.stale >= self.spec.patience

    def _step(self, step: int) -> float:
        """One step of the optimiser; the loss before it, of this process's batch."""
        set_step(self.optimiser, self.spec, step)
        frozen = self.spec.frozen_at(step)
        module = self._wrapped_for(frozen)
        module.train()
        for part in frozen:
            self.module.get_submodule(part).eval()
        self.optimiser.zero_grad(set_to_none=True)
        number = step * self.team.size + self.team.rank
        batch = self.learning.batch(number, step / self.spec.steps)
        device = self.learning.device
        with torch.autocast(
            device, torch.bfloat16, enabled=self.spec.mixed_precision and device == "cuda"
        ):
            loss = self.learning.loss(module, batch)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise UserError(
                f"step {step}: the loss is {value}; lower `learning_rate` "
                f"({self.spec.learning_rate:g}) in the suite's `training:`"
            )
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        if self.averaged is not None:
            self.averaged.update_parameters(self.module)
        return value

    def _wrapped_for(self, frozen: tuple[str, ...]) -> nn.Module:
        """The module for steps with these parts frozen: which gradients to share is then known."""
        if self._wrapped is None or self._wrapped[0] != frozen:
            self._wrapped = frozen, self.team.wrap(self.module)
        return self._wrapped[1]

    def _validate(self, loss: float) -> None:
        """Score, keep the weights if they are to be, log, and save what a resume needs."""
        progress = self.progress
        self.kept.eval()
        with torch.inference_mode():
            score = self.team.agreed(self.learning.validate(self.kept))
        progress.stale += 1
        better = score > progress.best or self.spec.keep == "last"
        if better:
            progress.best, progress.stale = score, 0
        if self.log is None:
            return
        if better:
            save(self.folder / WEIGHTS, self.kept.state_dict())
        self.log.add(
            iteration=progress.iteration,
            learning_rate=self.spec.learning_rate_at(max(progress.iteration - 1, 0)),
            loss=loss,
            score=score,
            best=progress.best,
        )
        save(
            self.folder / CHECKPOINT,
            {
                "module": self.module.state_dict(),
                "averaged": self.averaged.state_dict() if self.averaged else None,
                "optimiser": self.optimiser.state_dict(),
                "iteration": progress.iteration,
                "best": progress.best,
                "stale": progress.stale,
            },
        )

    def _resume(self, path: Path) -> Progress:
        if not path.exists():
            return Progress()
        content = load(path)
        try:
            self.module.load_state_dict(content["module"])
            self.optimiser.load_state_dict(content["optimiser"])
            if self.averaged is not None:
                self.averaged.load_state_dict(content["averaged"])
            return Progress(content["iteration"], content["best"], content["stale"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise UserError(
                f"{path}: is not a checkpoint of this method ({str(error).splitlines()[0]}); "
                "train into another folder with --out, or remove it"
            ) from None


def _running_mean(decay: float) -> Callable[[Tensor, Tensor, Tensor | int], Tensor]:
    """An exponential mean whose first steps forget faster, for those are the least of use."""

    def update(mean: Tensor, current: Tensor, count: Tensor | int) -> Tensor:
        return mean.lerp(current, 1 - min(decay, (1 + int(count)) / (10 + int(count))))

    return update


def _check_parts(module: nn.Module, spec: TrainingSpec) -> None:
    parts = [name for name, _ in module.named_modules() if name]
    for name in spec.frozen:
        if name not in parts:
            raise UserError(
                f"training.frozen.{name}: the module has no such part{did_you_mean(name, parts)}; "
                f"it has {listing(parts)}"
            )

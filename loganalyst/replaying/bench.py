"""The workbench of experiments: the training at its checkpoint, restored as often as needed, and steps from there."""

import copy
import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from loganalyst.errors import ReplayError
from loganalyst.replaying.batchtensors import move, split
from loganalyst.replaying.spec import ReplaySpec
from loganalyst.replaying.trajectory import Level, StepResult, Trajectory

LEVEL_BATCHES = 5  # batches over which the level at the checkpoint is measured
MAX_PARTS = 64  # the most parts of a batch when memory is short


@dataclass(frozen=True)
class Change:
    """What a counterfactual changes. `rate` is a factor of every learning rate, or a function of the step's number from
    0. `clip` is the norm to which gradients are clipped. `precision` "float32" turns autocast and scaler off.
    `batch` gives the training's batch number i. `prepare` changes the model or optimiser once, before the steps.
    With `hold_rates` the scheduler is not stepped, so that rates stay.
    """

    rate: float | Callable[[int], float] = 1.0
    clip: float | None = None
    precision: Literal["float32"] | None = None
    batch: Callable[[int], Any] | None = None
    prepare: Callable[["Bench"], None] | None = None
    hold_rates: bool = False


UNCHANGED = Change()


@dataclass
class Bench:
    """A training at its checkpoint. `start` is the number of steps done there, and `steps` the number to replay.
    `onset` is the step at which the logs show the fault, if known. `symptoms` are the ids of rules/symptoms.yaml
    that the logs show, and `limits` the thresholds of the current experiment. `notes` lists deviations from the
    training.
    """

    spec: ReplaySpec
    device: Any
    start: int = 0
    onset: int | None = None
    steps: int = 50
    symptoms: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    random_state: Any = None  # torch's random state in the checkpoint
    cuda_state: Any = None  # the GPU's random state in the checkpoint
    on_step: Callable[[int, int], None] = lambda _done, _total: None  # receives the numbers of steps done and in total

    def __post_init__(self) -> None:
        self._parts = 1  # parts into which each batch is split
        self._level: Level | None = None
        self._unchanged: dict[tuple[int, int], Trajectory] = {}
        self._saved = _saved_states(self.spec)
        self.random = False  # whether a step drew random numbers; if not, every seed gives the same result

    @property
    def model(self) -> Any:
        """The user's module, on the device."""
        return self.spec.model

    @property
    def optimizer(self) -> Any:
        """The user's optimiser."""
        return self.spec.optimizer

    def restore(self, seed: int) -> None:
        """Restore the checkpoint. Seed 0 continues its random numbers, other seeds start their own."""
        import torch

        for name, state in self._saved.items():
            getattr(self.spec, name).load_state_dict(copy.deepcopy(state))
        self.optimizer.zero_grad(set_to_none=True)
        self.model.train()
        random.seed(self.spec.seed + seed)
        np.random.seed((self.spec.seed + seed) % (1 << 32))
        torch.manual_seed(self.spec.seed + seed)
        if seed == 0 and self.random_state is not None:
            torch.set_rng_state(self.random_state)
        if seed == 0 and self.cuda_state is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(self.cuda_state, self.device)

    def batch(self, index: int) -> Any:
        """The training's batch number `index`, on the device."""
        return move(self.spec.batch(index), self.device)

    def forward(self, batch: Any, change: Change = UNCHANGED) -> tuple[Any, dict[str, Any]]:
        """The loss of a batch and its named components, as tensors."""
        import torch

        dtype = getattr(torch, self.spec.precision) if self.spec.precision and not change.precision else None
        with torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None):
            return _total_and_components(self.spec.loss(self.model, batch), self.spec.weights)

    def losses(self, batch: Any) -> dict[str, float]:
        """The loss of a batch (`total`) and its components, without a step or gradients."""
        import torch

        with torch.no_grad():
            total, components = self.forward(batch)
        return {**{name: float(value) for name, value in components.items()}, "total": float(total)}

    def gradients(self, batch: Any) -> dict[str, float]:
        """The gradient norm of each parameter for one batch, NaN where it gets none. They are left in `.grad`."""
        self.optimizer.zero_grad(set_to_none=True)
        self.forward(batch)[0].backward()
        named = self.model.named_parameters()
        return {n: math.nan if p.grad is None else float(p.grad.float().norm()) for n, p in named if p.requires_grad}

    def train(self, seed: int, change: Change = UNCHANGED, steps: int | None = None) -> Trajectory:
        """Make steps from the checkpoint on until the loss is not finite. If memory is short, batches are split."""
        count = self.steps if steps is None else steps
        while True:
            try:
                return self._train_once(seed, change, count)
            except (RuntimeError, MemoryError) as error:
                if not _is_out_of_memory(error):
                    raise
                self._use_less_memory(error)

    def unchanged(self, seed: int, steps: int | None = None) -> Trajectory:
        """The unchanged replay, made once per seed."""
        key = seed, self.steps if steps is None else steps
        if key not in self._unchanged:
            self._unchanged[key] = self.train(seed, steps=key[1])
        return self._unchanged[key]

    def level(self) -> Level:
        """The loss and gradient norm at the checkpoint, over the first batches and without a step."""
        if self._level is None:
            self.restore(0)
            results = [self.gradient(self.start + i) for i in range(LEVEL_BATCHES)]
            self._level = Level.from_values([loss for loss, _, _ in results], [norm for _, _, norm in results])
        return self._level

    def rise(self, trajectory: Trajectory) -> float:
        """The highest loss relative to the level at the checkpoint: 1 is no rise, inf is a non-finite loss."""
        return self.level().rise(trajectory)

    def step(self, number: int, change: Change = UNCHANGED) -> StepResult:
        """Make the training's step `number` (from 0) with the model as it is."""
        import torch

        scaler = None if change.precision else self.spec.scaler
        loss, components = self._backward(number, change)
        if scaler:
            scaler.unscale_(self.optimizer)
        norm = self._norm()
        clip = self.spec.clip_norm if change.clip is None else change.clip
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(self._parameters(), clip)
        rate = change.rate(number - self.start) if callable(change.rate) else change.rate
        first_rate = float(self.optimizer.param_groups[0]["lr"]) * rate
        with _scaled_rates(self.optimizer, rate):
            scaler.step(self.optimizer) if scaler else self.optimizer.step()
        if scaler:
            scaler.update()
        if self.spec.scheduler is not None and not change.hold_rates:
            self.spec.scheduler.step()
        return StepResult(loss, norm, first_rate, components)

    def gradient(self, number: int, change: Change = UNCHANGED) -> tuple[float, dict[str, float], float]:
        """Loss, components and gradient norm of the training's step `number`, without making the step. The gradient
        stays in `.grad`, without the factor of the loss scale.
        """
        loss, components = self._backward(number, change)
        factor = self.spec.scaler.get_scale() if self.spec.scaler and not change.precision else 1.0
        for parameter in self._parameters():
            if factor != 1 and parameter.grad is not None:
                parameter.grad.div_(factor)  # a scaler allows its own unscale_ only once per step
        return loss, components, self._norm()

    def _backward(self, number: int, change: Change) -> tuple[float, dict[str, float]]:
        """Loss and components of a step's batches; the gradient stays in `.grad`, scaled by the scaler."""
        scaler = None if change.precision else self.spec.scaler
        self.optimizer.zero_grad(set_to_none=True)
        totals: dict[str, float] = {}
        for piece, share in self.pieces(number, change):
            total, components = self.forward(piece, change)
            (scaler.scale(total * share) if scaler else total * share).backward()
            for name, value in {**components, "": total}.items():
                totals[name] = totals.get(name, 0.0) + float(value.detach()) * share
        return totals.pop(""), totals

    def _norm(self) -> float:
        """The norm of the gradient of all trained parameters."""
        return _norm([p.grad for p in self._parameters() if p.grad is not None])

    def pieces(self, number: int, change: Change = UNCHANGED) -> Iterator[tuple[Any, float]]:
        """The batches that one step accumulates, each split as far as memory needs, with their shares of the loss."""
        accumulate = self.spec.accumulate
        for index in range(number * accumulate, (number + 1) * accumulate):
            batch = move(change.batch(index), self.device) if change.batch else self.batch(index)
            split_batch = [batch] if self._parts == 1 else split(batch, self._parts)
            if split_batch is None:
                what = f"a batch does not fit into memory and cannot be split into {self._parts} parts"
                raise ReplayError("replay", what)
            yield from ((piece, 1 / len(split_batch) / accumulate) for piece in split_batch)

    def _parameters(self) -> list[Any]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def _train_once(self, seed: int, change: Change, count: int) -> Trajectory:
        self.restore(seed)
        if change.prepare:
            change.prepare(self)
        found, before = Trajectory(self.start), self._random_states()
        for i in range(count):
            result = self.step(self.start + i, change)
            found.add(result)
            self.on_step(i + 1, count)
            if not result.finite:
                break
        self.random = self.random or before != self._random_states()
        return found

    def _random_states(self) -> tuple[Any, ...]:
        """The states of all random generators."""
        import torch

        states = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [])]
        return random.getstate(), str(np.random.get_state()), *(state.numpy().tobytes() for state in states)

    def _use_less_memory(self, error: BaseException) -> None:
        """Use less memory: split batches into twice as many parts, and at last move to the CPU."""
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        self._unchanged.clear()
        if self._parts < MAX_PARTS and split(self.batch(self.start * self.spec.accumulate), 2 * self._parts):
            self._parts *= 2
            self.notes.append(f"out of memory: batches are split into {self._parts} parts with summed gradients")
        elif self.device.type != "cpu":
            self.notes.append(f"out of memory on {self.device}: the replay continues on the CPU")
            self.device = torch.device("cpu")
            self.model.to(self.device)
        else:
            raise ReplayError("replay", f"one batch does not fit into memory ({str(error)[:200]})", "a smaller batch")


def _saved_states(spec: ReplaySpec) -> dict[str, Any]:
    """The states of all parts of a training, copied to the CPU."""
    named = {"model": spec.model, "optimizer": spec.optimizer, "scheduler": spec.scheduler, "scaler": spec.scaler}
    return {name: _copy_to_cpu(part.state_dict()) for name, part in named.items() if hasattr(part, "state_dict")}


def _copy_to_cpu(value: Any) -> Any:
    """A copy of a state on the CPU."""
    if hasattr(value, "untyped_storage"):
        return value.detach().cpu().clone()
    if isinstance(value, Mapping):
        return {key: _copy_to_cpu(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copy_to_cpu, value)) if not hasattr(value, "_fields") else copy.deepcopy(value)
    return copy.deepcopy(value)


def _total_and_components(loss: Any, weights: Mapping[str, float] | None) -> tuple[Any, dict[str, Any]]:
    """The total and the components in the result of the user's `loss`."""
    found = loss if isinstance(loss, Mapping) else vars(loss) if hasattr(loss, "loss") else None
    if found is None:
        components: dict[str, Any] = {"loss": loss}
    else:
        components = {str(k): v for k, v in found.items() if hasattr(v, "untyped_storage") and v.numel() == 1}
    for name, value in components.items():
        if not hasattr(value, "untyped_storage") or value.numel() != 1:
            what = f"{name} is {type(value).__name__} {tuple(getattr(value, 'shape', ()))}"
            raise ReplayError("loss", what, "a tensor of one number, or a mapping of names to such tensors")
    if not components:
        raise ReplayError("loss", "returned no tensor of one number", "a tensor, or a mapping of names to tensors")
    if "loss" in components:
        return components["loss"].reshape(()), {n: v for n, v in components.items() if n != "loss"}
    factors = weights or {}
    return sum(factors.get(name, 1.0) * value.reshape(()) for name, value in components.items()), components


def _norm(gradients: list[Any]) -> float:
    """The norm of all gradients together, summed in float64, so that it is finite if every gradient is."""
    import torch

    norms = [float(torch.linalg.vector_norm(g.detach().to_dense(), dtype=torch.float64)) for g in gradients]
    return math.sqrt(sum(norm * norm for norm in norms))


@contextmanager
def _scaled_rates(optimizer: Any, factor: float) -> Iterator[None]:
    """Multiply every rate by a factor; the rates return afterwards, because a scheduler may build on them."""
    before = [group["lr"] for group in optimizer.param_groups]
    if factor != 1:
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * factor
    try:
        yield
    finally:
        for group, rate in zip(optimizer.param_groups, before, strict=True):
            group["lr"] = rate


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error)

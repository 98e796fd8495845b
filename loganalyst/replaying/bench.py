"""Where experiments work: the training at its checkpoint, made fresh as often as they like, and steps from there on."""

import copy
import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from loganalyst.errors import ReplayError
from loganalyst.replaying.batchtensors import moved, parts
from loganalyst.replaying.spec import ReplaySpec
from loganalyst.replaying.trajectory import Level, StepResult, Trajectory

LEVEL_BATCHES = 5
MOST_PARTS = 64  # a batch is not cut further where memory is short


@dataclass(frozen=True)
class Change:
    """What a counterfactual does otherwise. `rate` is a factor of every rate (or a function of the number of the step,
    from 0), `clip` the norm that gradients are clipped to, `precision` "float32" without autocast and scaler; `batch`
    gives another batch for the training's batch number i, `prepare` alters model or optimiser once, before the steps;
    with `held` rates stay as they then are, for the scheduler is not stepped.
    """

    rate: float | Callable[[int], float] = 1.0
    clip: float | None = None
    precision: Literal["float32"] | None = None
    batch: Callable[[int], Any] | None = None
    prepare: Callable[["Bench"], None] | None = None
    held: bool = False


UNCHANGED = Change()


@dataclass
class Bench:
    """A training at its checkpoint. `start` is the number of steps done there, `onset` the step at which the logs show
    the fault (None: not known), `steps` how many are replayed; `symptoms` are ids of rules/symptoms.yaml that the logs
    show, `limits` the thresholds of the experiment that runs. What it had to do otherwise is told in `notes`.
    """

    spec: ReplaySpec
    device: Any
    start: int = 0
    onset: int | None = None
    steps: int = 50
    symptoms: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    random_state: Any = None  # of torch, as the checkpoint has it
    cuda_state: Any = None  # the same of the GPU
    told: Callable[[int, int], None] = lambda _done, _total: None  # how far the steps are

    def __post_init__(self) -> None:
        self._parts = 1  # a batch is done in so many
        self._level: Level | None = None
        self._unchanged: dict[tuple[int, int], Trajectory] = {}
        self._kept = _states(self.spec)
        self.random = False  # whether some step has drawn random numbers: else every seed gives the same

    @property
    def model(self) -> Any:
        """The user's module, on the device."""
        return self.spec.model

    @property
    def optimizer(self) -> Any:
        """The user's optimiser."""
        return self.spec.optimizer

    def fresh(self, seed: int) -> None:
        """Everything as in the checkpoint. Seed 0 goes on with the checkpoint's random numbers, others with theirs."""
        import torch

        for name, state in self._kept.items():
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
        return moved(self.spec.batch(index), self.device)

    def forward(self, batch: Any, change: Change = UNCHANGED) -> tuple[Any, dict[str, Any]]:
        """The loss of a batch and its named components, as tensors."""
        import torch

        dtype = getattr(torch, self.spec.precision) if self.spec.precision and not change.precision else None
        with torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None):
            return _named(self.spec.loss(self.model, batch), self.spec.weights)

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
        """Steps from the checkpoint on, until the loss is not finite. What memory has no room for is done in parts."""
        count = self.steps if steps is None else steps
        while True:
            try:
                return self._trained(seed, change, count)
            except (RuntimeError, MemoryError) as error:
                if not _no_room(error):
                    raise
                self._smaller(error)

    def unchanged(self, seed: int, steps: int | None = None) -> Trajectory:
        """The replay as the training was, made once a seed."""
        key = seed, self.steps if steps is None else steps
        if key not in self._unchanged:
            self._unchanged[key] = self.train(seed, steps=key[1])
        return self._unchanged[key]

    def level(self) -> Level:
        """Loss and gradient norm at the checkpoint, over the first batches, without a step."""
        if self._level is None:
            self.fresh(0)
            results = [self.gradient(self.start + i) for i in range(LEVEL_BATCHES)]
            self._level = Level.of([loss for loss, _, _ in results], [norm for _, _, norm in results])
        return self._level

    def rise(self, trajectory: Trajectory) -> float:
        """The highest loss against the level at the checkpoint: 1 is no rise, inf where a loss is not finite."""
        return self.level().rise(trajectory)

    def step(self, number: int, change: Change = UNCHANGED) -> StepResult:
        """The training's step `number` (from 0) with the model as it is."""
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
        first = float(self.optimizer.param_groups[0]["lr"]) * rate
        with _rates(self.optimizer, rate):
            scaler.step(self.optimizer) if scaler else self.optimizer.step()
        if scaler:
            scaler.update()
        if self.spec.scheduler is not None and not change.held:
            self.spec.scheduler.step()
        return StepResult(loss, norm, first, components)

    def gradient(self, number: int, change: Change = UNCHANGED) -> tuple[float, dict[str, float], float]:
        """Loss, components and gradient norm of the training's step `number`, which is not made; the gradient is left
        in `.grad`, without the factor of the loss scale.
        """
        loss, components = self._backward(number, change)
        factor = self.spec.scaler.get_scale() if self.spec.scaler and not change.precision else 1.0
        for parameter in self._parameters():
            if factor != 1 and parameter.grad is not None:
                parameter.grad.div_(factor)  # a scaler's own unscale_ may be called but once a step
        return loss, components, self._norm()

    def _backward(self, number: int, change: Change) -> tuple[float, dict[str, float]]:
        """Loss and components of a step's batches; the gradient, as the scaler scales it, is left in `.grad`."""
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
        """Of the gradient of everything that is trained."""
        return _norm([p.grad for p in self._parameters() if p.grad is not None])

    def pieces(self, number: int, change: Change = UNCHANGED) -> Iterator[tuple[Any, float]]:
        """What one step is done in: the batches it accumulates, in as many parts as memory needs, with their shares."""
        accumulate = self.spec.accumulate
        for index in range(number * accumulate, (number + 1) * accumulate):
            batch = moved(change.batch(index), self.device) if change.batch else self.batch(index)
            cut = [batch] if self._parts == 1 else parts(batch, self._parts)
            if cut is None:
                raise ReplayError("replay", f"memory has no room for a batch, and it has no {self._parts} parts")
            yield from ((piece, 1 / len(cut) / accumulate) for piece in cut)

    def _parameters(self) -> list[Any]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def _trained(self, seed: int, change: Change, count: int) -> Trajectory:
        self.fresh(seed)
        if change.prepare:
            change.prepare(self)
        found, before = Trajectory(self.start), self._drawn()
        for i in range(count):
            result = self.step(self.start + i, change)
            found.add(result)
            self.told(i + 1, count)
            if not result.finite:
                break
        self.random = self.random or before != self._drawn()
        return found

    def _drawn(self) -> tuple[Any, ...]:
        """Where the sources of random numbers stand."""
        import torch

        states = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [])]
        return random.getstate(), str(np.random.get_state()), *(state.numpy().tobytes() for state in states)

    def _smaller(self, error: BaseException) -> None:
        """Do with less: a batch in twice as many parts, at last on the CPU."""
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        self._unchanged.clear()
        if self._parts < MOST_PARTS and parts(self.batch(self.start * self.spec.accumulate), 2 * self._parts):
            self._parts *= 2
            self.notes.append(f"out of memory: each batch is done in {self._parts} parts, its gradients added up")
        elif self.device.type != "cpu":
            self.notes.append(f"out of memory on {self.device}: it goes on on the CPU")
            self.device = torch.device("cpu")
            self.model.to(self.device)
        else:
            raise ReplayError("replay", f"memory has no room for one batch ({str(error)[:200]})", "a smaller batch")


def _states(spec: ReplaySpec) -> dict[str, Any]:
    """The states of all parts of a training, copied to where they take no room from it."""
    named = {"model": spec.model, "optimizer": spec.optimizer, "scheduler": spec.scheduler, "scaler": spec.scaler}
    return {name: _copied(part.state_dict()) for name, part in named.items() if hasattr(part, "state_dict")}


def _copied(value: Any) -> Any:
    """A state of its own on the CPU."""
    if hasattr(value, "untyped_storage"):
        return value.detach().cpu().clone()
    if isinstance(value, Mapping):
        return {key: _copied(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copied, value)) if not hasattr(value, "_fields") else copy.deepcopy(value)
    return copy.deepcopy(value)


def _named(loss: Any, weights: Mapping[str, float] | None) -> tuple[Any, dict[str, Any]]:
    """Total and components of what the user's `loss` returned."""
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
    """Of all together; added up in float64, so that it is finite where every gradient is."""
    import torch

    norms = [float(torch.linalg.vector_norm(g.detach().to_dense(), dtype=torch.float64)) for g in gradients]
    return math.sqrt(sum(norm * norm for norm in norms))


@contextmanager
def _rates(optimizer: Any, factor: float) -> Iterator[None]:
    """Every rate times a factor; as before afterwards, for a scheduler may go on from it."""
    before = [group["lr"] for group in optimizer.param_groups]
    if factor != 1:
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * factor
    try:
        yield
    finally:
        for group, rate in zip(optimizer.param_groups, before, strict=True):
            group["lr"] = rate


def _no_room(error: BaseException) -> bool:
    import torch

    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error)

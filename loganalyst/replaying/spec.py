"""The description of a training that the user's entry returns. torch is not imported here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from loganalyst.errors import ReplayError
from loganalyst.replaying.combinedoptimisers import Combined, CombinedOptimizers, members

if TYPE_CHECKING:
    import torch

PRECISIONS = (None, "float16", "bfloat16")


@dataclass(frozen=True, eq=False)
class ReplaySpec:
    """A training that can be replayed from a checkpoint. Fields that are left out are taken as not used.

    `model` and `optimizer` are made as for the training; their state is loaded from the checkpoint. `loss(model,
    batch)` returns a tensor of one number, or a mapping of named components. The training minimises their sum, each
    times its factor in `weights`, unless one component is named `loss`, which then is the total. `batches(i)` is the
    batch that the training read in its step i, counted from 0 over the whole training (with `accumulate` above 1: its
    batch number i). A sequence is repeated from its start. `scheduler` is stepped after each step of the optimiser.
    Several optimisers or schedulers go into a list and all make every step. `scaler` is a torch.amp.GradScaler,
    `precision` the type of torch.autocast (float16 or bfloat16), `clip_norm` the norm to which gradients are clipped.
    `seed` starts the random numbers if the checkpoint has none.

    Raises ReplayError if a field is invalid.


    >>> import loganalyst as la, torch
    >>> model = torch.nn.Linear(4, 1)
    >>> spec = la.ReplaySpec(
    ...     model=model,
    ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    ...     loss=lambda model, batch: model(batch).square().mean(),
    ...     batches=[torch.ones(8, 4)],
    ... )
    >>> spec.batch(3).shape
    torch.Size([8, 4])
    """

    model: "torch.nn.Module"
    optimizer: "torch.optim.Optimizer | Sequence[torch.optim.Optimizer]"
    loss: Callable[[Any, Any], Any]
    batches: Callable[[int], Any] | Sequence[Any]
    scheduler: Any = None
    scaler: Any = None
    precision: Literal["float16", "bfloat16"] | None = None
    clip_norm: float | None = None
    accumulate: int = 1
    weights: Mapping[str, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, several in (("optimizer", CombinedOptimizers), ("scheduler", Combined)):
            if isinstance(parts := getattr(self, name), (list, tuple)) and parts:
                object.__setattr__(self, name, several(parts))
        for name, needs in (("model", "named_parameters"), ("optimizer", "param_groups"), ("scheduler", "step")):
            for value in members(getattr(self, name)) or (() if name == "scheduler" else (None,)):
                if not hasattr(value, needs):
                    raise _invalid(name, value, f"an object with `{needs}` is needed, such as torch's")
        if not callable(self.loss):
            raise _invalid("loss", self.loss, "a function of model and batch")
        if not callable(self.batches) and not (hasattr(self.batches, "__getitem__") and len(self.batches)):
            hint = "a function of the step or a non-empty sequence; for a DataLoader list(islice(loader, 64))"
            raise _invalid("batches", self.batches, hint)
        if self.precision not in PRECISIONS:
            raise _invalid("precision", self.precision, "None, 'float16' or 'bfloat16'")
        if type(self.accumulate) is not int or self.accumulate < 1:
            raise _invalid("accumulate", self.accumulate, "a whole number from 1")
        if self.clip_norm is not None and not self.clip_norm > 0:
            raise _invalid("clip_norm", self.clip_norm, "None or a number above 0")

    def batch(self, index: int) -> Any:
        """The batch number `index` of the training.

        >>> import loganalyst as la, torch
        >>> model = torch.nn.Linear(1, 1)
        >>> optimizer = torch.optim.SGD(model.parameters())
        >>> spec = la.ReplaySpec(model, optimizer, lambda model, batch: model(batch).sum(), batches=[10, 11, 12])
        >>> spec.batch(4)
        11
        """
        return self.batches(index) if callable(self.batches) else self.batches[index % len(self.batches)]


def _invalid(name: str, value: object, allowed: str) -> ReplayError:
    return ReplayError("ReplaySpec", f"{name} is {type(value).__name__} {str(value)[:80]!r}", allowed)

"""What a checkpoint holds, by the shape of its parts: tensors, optimisers, schedulers, loss scale, epoch and step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loganalyst.checkpoint.blocks import Stored

DEEPEST = 40
EPS = 1e-8  # of Adam, where the checkpoint does not tell
EPOCHS, STEPS = ("epoch", "current_epoch"), ("global_step", "step", "iteration", "iter", "iter_num")


@dataclass
class Optimizer:
    """The state of one optimiser: its tensors under `<parameter>.<name>`, and what its first group says."""

    moments: list[Stored] = field(default_factory=list)
    eps: float = EPS
    step: int | None = None
    lr: list[float] = field(default_factory=list)


@dataclass
class Contents:
    """All of one checkpoint, from one file or from several."""

    path: Path
    format: str
    bytes: int
    tensors: list[Stored] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    loss_scale: float | None = None
    lr: list[float] = field(default_factory=list)
    epoch: float | None = None
    step: int | None = None

    def add(self, other: "Contents") -> None:
        """Take over what another file of this checkpoint holds."""
        self.bytes += other.bytes
        self.tensors += other.tensors
        self.optimizers += other.optimizers
        self.lr = self.lr or other.lr
        self.loss_scale = other.loss_scale if self.loss_scale is None else self.loss_scale
        self.epoch = other.epoch if self.epoch is None else self.epoch
        self.step = other.step if self.step is None else self.step


Wrap = Callable[[str, Any], Stored]


def gather(found: Contents, data: Any, is_tensor: Callable[[Any], bool], wrap: Wrap) -> Contents:
    """Fill `found` from a loaded object; `wrap` makes a tensor of it one that is given in blocks."""
    walk = _Walk(found, is_tensor, wrap)
    walk.visit(data, ())
    if isinstance(data, Mapping):
        found.epoch = _first(data, EPOCHS)
        step = _first(data, STEPS)
        found.step = None if step is None else int(step)
        parts = {names[0] for names, _ in walk.tensors}
        inside = len(parts) == 1 and isinstance(data.get(next(iter(parts))), Mapping)
        walk.tensors = [(names[1:] if inside else names, t) for names, t in walk.tensors]
    found.tensors += [wrap(".".join(names) or "tensor", t) for names, t in walk.tensors]
    return found


class _Walk:
    """Through nested dicts and lists, each once: what refers to itself, or to one part many times, ends."""

    def __init__(self, found: Contents, is_tensor: Callable[[Any], bool], wrap: Wrap) -> None:
        self.tensors: list[tuple[tuple[str, ...], Any]] = []
        self._found, self._is_tensor, self._wrap = found, is_tensor, wrap
        self._seen: set[int] = set()

    def visit(self, value: Any, names: tuple[str, ...]) -> None:
        if self._is_tensor(value):
            if not any("rng" in name for name in names):  # the state of a random generator
                self.tensors.append((names, value))
            return
        if not isinstance(value, (Mapping, list, tuple)) or id(value) in self._seen or len(names) > DEEPEST:
            return
        self._seen.add(id(value))
        if isinstance(value, Mapping) and self._is_state(value):
            return
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            self.visit(part, (*names, str(key)))

    def _is_state(self, value: Mapping[Any, Any]) -> bool:
        """Take what is no model: it is known by its keys, whatever it is called."""
        if {"state", "param_groups"} <= value.keys():
            self._found.optimizers.append(self._optimizer(value))
        elif {"scale", "growth_factor"} <= value.keys():
            self._found.loss_scale = number(value["scale"])
        elif "last_epoch" in value and value.keys() & {"_last_lr", "base_lrs"}:
            self._found.lr = self._found.lr or _numbers(value.get("_last_lr"))
        else:
            return False
        return True

    def _optimizer(self, value: Mapping[Any, Any]) -> Optimizer:
        groups = value["param_groups"]
        groups = [g for g in groups if isinstance(g, Mapping)] if isinstance(groups, (list, tuple)) else []
        names = _parameters(groups)
        eps = _first(groups[0], ("eps",)) if groups else None
        found = Optimizer(eps=EPS if eps is None else eps, lr=_numbers([g.get("lr") for g in groups]))
        state = value["state"] if isinstance(value["state"], Mapping) else {}
        for key, part in state.items():
            for name, moment in part.items() if isinstance(part, Mapping) else ():
                if name == "step":
                    step = number(moment)
                    found.step = found.step if step is None else max(int(step), found.step or 0)
                elif self._is_tensor(moment):
                    found.moments.append(self._wrap(f"{names.get(key, key)}.{name}", moment))
        return found


def _parameters(groups: list[Mapping[Any, Any]]) -> dict[Any, str]:
    """The names of parameters by their number, where the groups tell them."""
    pairs = [(g.get("params"), g.get("param_names")) for g in groups]
    both = [(a, b) for a, b in pairs if isinstance(a, list) and isinstance(b, list)]
    return {index: str(name) for a, b in both for index, name in zip(a, b, strict=False) if type(index) is int}


def _first(data: Mapping[Any, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := number(data.get(name))) is not None), None)


def _numbers(values: Any) -> list[float]:
    found = map(number, values) if isinstance(values, (list, tuple)) else ()
    return [value for value in found if value is not None]


def number(value: Any) -> float | None:
    """A number, or a tensor of one; None for anything else, and what is no finite number."""
    if hasattr(value, "numel"):
        value = value.item() if value.numel() == 1 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if abs(found) < 1e300 else None

"""The contents of a checkpoint, known by structure: tensors, optimisers, schedulers, loss scale, epoch and step."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.checkpoint.torchfile import Inert

MAX_NESTING = 40  # levels of dicts and lists
DEFAULT_EPS = 1e-8  # Adam's default, if the checkpoint has none
# names of random generators' states, such as "rng_state", "cuda_rngs" or "random_states_0"
RNG_NAME = re.compile(r"(?:^|[._])rng(?:[._]|s?$)|random_states?(?:[._]|$)")
EPOCH_KEYS = ("epoch", "current_epoch")
STEP_KEYS = ("global_step", "global_steps", "step", "iteration", "iter", "iter_num")


@dataclass
class Optimizer:
    """The state of one optimiser: its tensors as `<parameter>.<name>`, and the settings of its first group."""

    moments: list[Stored] = field(default_factory=list)
    eps: float = DEFAULT_EPS
    step: int | None = None
    lr: list[float] = field(default_factory=list)


@dataclass
class Contents:
    """The contents of one checkpoint, from one file or several."""

    path: Path
    format: str
    bytes: int
    tensors: list[Stored] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    loss_scale: float | None = None
    lr: list[float] = field(default_factory=list)
    epoch: float | None = None
    step: int | None = None
    rng: list[str] = field(default_factory=list)  # random generators whose state is saved
    unread: list[str] = field(default_factory=list)  # entries that would need code, and which code

    def add(self, other: "Contents") -> None:
        """Add the contents of another file of this checkpoint."""
        self.bytes += other.bytes
        self.tensors += other.tensors
        self.optimizers += other.optimizers
        self.rng += other.rng
        self.unread += other.unread
        self.lr = self.lr or other.lr
        self.loss_scale = other.loss_scale if self.loss_scale is None else self.loss_scale
        self.epoch = other.epoch if self.epoch is None else self.epoch
        self.step = other.step if self.step is None else self.step

    def add_state(self, other: "Contents") -> None:
        """Add everything but the tensors."""
        other.tensors = []
        self.add(other)


Wrap = Callable[[str, Any], Stored]


def gather(found: Contents, data: Any, is_tensor: Callable[[Any], bool], wrap: Wrap) -> Contents:
    """Fill `found` from a loaded object; `wrap` turns one of its tensors into one that is read in blocks."""
    walk = _Walk(found, is_tensor, wrap)
    walk.visit(data, ())
    if isinstance(data, Mapping):
        found.epoch = _first_number(data, EPOCH_KEYS)
        step = _first_number(data, STEP_KEYS)
        found.step = None if step is None else int(step)
        parts = {names[0] for names, _ in walk.tensors}
        inside = len(parts) == 1 and isinstance(data.get(next(iter(parts))), Mapping)
        walk.tensors = [(names[1:] if inside else names, t) for names, t in walk.tensors]
    found.tensors += [wrap(".".join(names) or "tensor", t) for names, t in walk.tensors]
    return found


class _Walk:
    """Visits each nested dict and list once, so that an object that contains itself does not loop."""

    def __init__(self, found: Contents, is_tensor: Callable[[Any], bool], wrap: Wrap) -> None:
        self.tensors: list[tuple[tuple[str, ...], Any]] = []
        self._found, self._is_tensor, self._wrap = found, is_tensor, wrap
        self._seen: set[int] = set()

    def visit(self, value: Any, names: tuple[str, ...]) -> None:
        value = vars(value) if isinstance(value, Inert) else value
        if names and RNG_NAME.search(names[-1].lower()):
            inner = value.keys() if isinstance(value, Mapping) else names[-1:]
            self._found.rng += [str(name) for name in inner]
            return
        if self._is_tensor(value):
            self.tensors.append((names, value))
            return
        if not isinstance(value, (Mapping, list, tuple)) or id(value) in self._seen or len(names) > MAX_NESTING:
            return
        self._seen.add(id(value))
        if isinstance(value, Mapping) and self._is_state(value):
            return
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            self.visit(part, (*names, str(key)))

    def _is_state(self, value: Mapping[Any, Any]) -> bool:
        """Take up a state that belongs to no model. Its keys identify it, whatever its name."""
        value = _unflattened(value) or value
        if {"state", "param_groups"} <= value.keys():
            self._found.optimizers.append(self._optimizer(value))
        elif {"scale", "growth_factor"} <= value.keys():
            self._found.loss_scale = number(value["scale"])
        elif "cur_scale" in value:  # DeepSpeed's; a fixed scale says nothing
            self._found.loss_scale = number(value["cur_scale"]) if value.get("dynamic", True) else None
            return "optimizer_state_dict" not in value
        elif "last_epoch" in value and value.keys() & {"_last_lr", "base_lrs"}:
            self._found.lr = self._found.lr or _numbers(_as_list(value.get("_last_lr")))
        else:
            return False
        return True

    def _optimizer(self, value: Mapping[Any, Any]) -> Optimizer:
        found = optimizer_of_groups(value["param_groups"])
        names = _parameter_names(_groups(value["param_groups"]))
        state = value["state"] if isinstance(value["state"], Mapping) else {}
        for key, part in state.items():
            for name, moment in part.items() if isinstance(part, Mapping) else ():
                if name == "step":
                    step = number(moment)
                    found.step = found.step if step is None else max(int(step), found.step or 0)
                elif self._is_tensor(moment):
                    found.moments.append(self._wrap(f"{names.get(key, key)}.{name}", moment))
        return found


def optimizer_of_groups(groups: Any) -> Optimizer:
    """An optimiser known only by its parameter groups."""
    groups = _groups(groups)
    eps = _first_number(groups[0], ("eps",)) if groups else None
    return Optimizer(eps=DEFAULT_EPS if eps is None else eps, lr=_numbers([g.get("lr") for g in groups]))


def _groups(groups: Any) -> list[Mapping[Any, Any]]:
    listed = _as_list(groups)
    return [g for g in listed if isinstance(g, Mapping)] if isinstance(listed, (list, tuple)) else []


def _as_list(values: Any) -> Any:
    """The values in a list; distributed checkpoints turn lists into dictionaries."""
    return list(values.values()) if isinstance(values, Mapping) else values


def _unflattened(value: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """The nested form of an optimiser with flat keys: `state.<parameter>.<name>`, `param_groups.<parameter>.<name>`."""
    if not value or not all(isinstance(k, str) and k.startswith(("state.", "param_groups.")) for k in value):
        return None
    parts: dict[str, dict[str, dict[str, Any]]] = {"state": {}, "param_groups": {}}
    for key, inner in value.items():
        kind, _, path = key.partition(".")
        parameter, _, name = path.rpartition(".")
        parts[kind].setdefault(parameter, {})[name] = inner
    groups = {repr(g.get("lr")): g for g in parts["param_groups"].values()}  # each parameter repeats its group
    return {"state": parts["state"], "param_groups": list(groups.values())}


def _parameter_names(groups: list[Mapping[Any, Any]]) -> dict[Any, str]:
    """The names of parameters by their number, if the groups have names."""
    pairs = [(g.get("params"), g.get("param_names")) for g in groups]
    both = [(a, b) for a, b in pairs if isinstance(a, list) and isinstance(b, list)]
    return {index: str(name) for a, b in both for index, name in zip(a, b, strict=False) if type(index) is int}


def _first_number(data: Mapping[Any, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := number(data.get(name))) is not None), None)


def _numbers(values: Any) -> list[float]:
    found = map(number, values) if isinstance(values, (list, tuple)) else ()
    return [value for value in found if value is not None]


def number(value: Any) -> float | None:
    """The value of a finite number or of a tensor with one element; None for anything else."""
    if isinstance(value, Stored):
        value = next(value.blocks())[0].item() if prod(value.shape) == 1 and value.floating else None
    elif hasattr(value, "numel"):
        value = value.item() if value.numel() == 1 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if abs(found) < 1e300 else None

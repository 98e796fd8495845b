"""What a checkpoint holds, by the shape of its parts: tensors, optimisers, schedulers, loss scale, epoch and step."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.checkpoint.torchfile import Inert

DEEPEST = 40
EPS = 1e-8  # of Adam, where the checkpoint does not tell
RANDOM = re.compile(r"(?:^|[._])rng(?:[._]|s?$)|random_states?(?:[._]|$)")  # what holds states of random generators
EPOCHS, STEPS = ("epoch", "current_epoch"), ("global_step", "global_steps", "step", "iteration", "iter", "iter_num")


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
    rng: list[str] = field(default_factory=list)  # random generators whose state is saved
    unread: list[str] = field(default_factory=list)  # parts that would need code, and which

    def add(self, other: "Contents") -> None:
        """Take over what another file of this checkpoint holds."""
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
        """Take over all but the tensors."""
        other.tensors = []
        self.add(other)


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
        value = vars(value) if isinstance(value, Inert) else value
        if names and RANDOM.search(names[-1].lower()):
            inner = value.keys() if isinstance(value, Mapping) else names[-1:]
            self._found.rng += [str(name) for name in inner]
            return
        if self._is_tensor(value):
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
        value = _nested(value) or value
        if {"state", "param_groups"} <= value.keys():
            self._found.optimizers.append(self._optimizer(value))
        elif {"scale", "growth_factor"} <= value.keys():
            self._found.loss_scale = number(value["scale"])
        elif "cur_scale" in value:  # of DeepSpeed; one that is fixed tells nothing
            self._found.loss_scale = number(value["cur_scale"]) if value.get("dynamic", True) else None
            return "optimizer_state_dict" not in value
        elif "last_epoch" in value and value.keys() & {"_last_lr", "base_lrs"}:
            self._found.lr = self._found.lr or _numbers(_listed(value.get("_last_lr")))
        else:
            return False
        return True

    def _optimizer(self, value: Mapping[Any, Any]) -> Optimizer:
        found = described(value["param_groups"])
        names = _parameters(_groups(value["param_groups"]))
        state = value["state"] if isinstance(value["state"], Mapping) else {}
        for key, part in state.items():
            for name, moment in part.items() if isinstance(part, Mapping) else ():
                if name == "step":
                    step = number(moment)
                    found.step = found.step if step is None else max(int(step), found.step or 0)
                elif self._is_tensor(moment):
                    found.moments.append(self._wrap(f"{names.get(key, key)}.{name}", moment))
        return found


def described(groups: Any) -> Optimizer:
    """An optimiser by its parameter groups alone."""
    groups = _groups(groups)
    eps = _first(groups[0], ("eps",)) if groups else None
    return Optimizer(eps=EPS if eps is None else eps, lr=_numbers([g.get("lr") for g in groups]))


def _groups(groups: Any) -> list[Mapping[Any, Any]]:
    listed = _listed(groups)
    return [g for g in listed if isinstance(g, Mapping)] if isinstance(listed, (list, tuple)) else []


def _listed(values: Any) -> Any:
    """A list, also where it became a dictionary by its places."""
    return list(values.values()) if isinstance(values, Mapping) else values


def _nested(value: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """An optimiser whose keys were made flat: `state.<parameter>.<name>` and `param_groups.<parameter>.<name>`."""
    if not value or not all(isinstance(k, str) and k.startswith(("state.", "param_groups.")) for k in value):
        return None
    parts: dict[str, dict[str, dict[str, Any]]] = {"state": {}, "param_groups": {}}
    for key, inner in value.items():
        kind, _, rest = key.partition(".")
        name, _, last = rest.rpartition(".")
        parts[kind].setdefault(name, {})[last] = inner
    rates = {repr(g.get("lr")): g for g in parts["param_groups"].values()}  # a group is told once a parameter
    return {"state": parts["state"], "param_groups": list(rates.values())}


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

"""Which operation made a value that is not finite: every operation of a step is watched, and what it made remembered.

An operation is the origin of a NaN where none of its inputs has one, of an Inf where all are finite; what it hands on
keeps the origin of what it was given.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KINDS = (None, "Inf", "NaN")  # the worse last
UNSET = ("empty", "new_empty")  # operations that give memory as it is


@dataclass(frozen=True)
class Origin:
    """Where a value first was not finite. `size` is the largest absolute input; `before` is the origin of the Inf that
    a NaN was made from, such as that of a mask; `key` names the operation by module, name and how often it came before.
    """

    operation: str
    module: str
    kind: str
    size: float
    key: tuple[str, str, int]
    before: "Origin | None" = None

    @property
    def root(self) -> "Origin":
        """The one it all began with."""
        return self.before.root if self.before else self


class Watch:
    """A context in which all operations are watched, in the modules of `model`. `first` is the first origin seen since
    it was last set to None, `sizes` the largest input of each operation.
    """

    every = False  # whether tensors of whole numbers are told, too

    def __init__(self, model: Any) -> None:
        self.sizes: dict[tuple[str, str, int], float] = {}
        self.first: Origin | None = None
        self._names = {id(module): name or "model" for name, module in model.named_modules()}
        self._stack: list[str] = []
        self._made: dict[int, Origin] = {}  # by where the numbers lie, which views share
        self._count: Counter[tuple[str, str]] = Counter()
        self._mode = _mode(self.saw, every=self.every)
        self._hooks: list[Any] = []

    def __enter__(self) -> "Watch":
        from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

        self._hooks = [register_module_forward_pre_hook(self._enter), register_module_forward_hook(self._leave)]
        self._mode.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._mode.__exit__(*raised)
        for hook in self._hooks:
            hook.remove()

    def origin(self, tensor: Any) -> Origin | None:
        """Where what is not finite in a tensor came from."""
        return self._made.get(_place(tensor))

    def _enter(self, module: Any, _inputs: Any) -> None:
        self._stack.append(self._names.get(id(module), type(module).__name__))

    def _leave(self, _module: Any, _inputs: Any, _output: Any) -> None:
        if self._stack:
            self._stack.pop()

    def saw(self, name: str, inputs: list[Any], outputs: list[Any]) -> None:
        """One operation."""
        if name.startswith(UNSET):
            return
        module = self._stack[-1] if self._stack else "loss"
        key = (module, name, self._count[module, name])
        self._count[module, name] += 1
        self.sizes[key] = size = max(map(_size, inputs), default=0.0)
        given, places = max(map(_kind, inputs), default=0), {_place(t) for t in inputs}
        known = next((self._made[place] for place in places if place in self._made), None)
        for output in outputs:
            kind = _kind(output)
            if kind:
                made = Origin(name, module, str(KINDS[kind]), size, key, known) if given < kind or not known else known
                self.first = self.first or made
                self._made[_place(output)] = made
            elif name.partition(".")[0].endswith("_") or _place(output) not in places:
                self._made.pop(_place(output), None)  # written over


def _mode(saw: Callable[[str, list[Any], list[Any]], None], *, every: bool) -> Any:
    """A dispatch mode that tells every operation."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            saw(func.name().removeprefix("aten::"), _tensors((args, kwargs), every), _tensors(out, every))
            return out

    return Mode()  # type: ignore[no-untyped-call]


def _place(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _tensors(value: Any, every: bool) -> list[Any]:
    """Those that hold fractions (or every one) and lie in memory."""
    if hasattr(value, "untyped_storage"):
        usual = (every or value.is_floating_point()) and value.layout is _strided() and value.device.type != "meta"
        return [value] if usual else []
    if isinstance(value, dict):
        return [t for part in value.values() for t in _tensors(part, every)]
    return [t for part in value for t in _tensors(part, every)] if isinstance(value, (list, tuple)) else []


def _strided() -> Any:
    import torch

    return torch.strided


def _kind(tensor: Any) -> int:
    """2 where it has NaN, 1 where Inf, else 0."""
    if not tensor.numel() or math.isfinite(float(tensor.detach().sum())):
        return 0
    return 2 if bool(tensor.isnan().any()) else 1 if bool(tensor.isinf().any()) else 0


def _size(tensor: Any) -> float:
    """Its largest finite absolute value."""
    import torch

    return float(torch.nan_to_num(tensor.detach().float(), 0.0, 0.0, 0.0).abs().max()) if tensor.numel() else 0.0

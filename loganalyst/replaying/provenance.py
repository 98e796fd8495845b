"""Finds the operation that made a value non-finite: it watches every operation of a step and remembers the results.

An operation is the origin of a NaN if none of its inputs has one, and of an Inf if all inputs are finite. Its result
keeps the origin that its input had.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

KINDS = (None, "Inf", "NaN")  # the index is the severity
UNINITIALISED = ("empty", "new_empty")  # operations that return memory as it is


@dataclass(frozen=True)
class Origin:
    """The operation at which a value first was not finite. `size` is the largest absolute input. `before` is the origin
    of the Inf that a NaN was made from, such as that of a mask. `key` names the operation by module, name and number
    of earlier calls.
    """

    operation: str
    module: str
    kind: str
    size: float
    key: tuple[str, str, int]
    before: "Origin | None" = None

    @property
    def root(self) -> "Origin":
        """The first origin in the chain."""
        return self.before.root if self.before else self


class OperationWatch:
    """A context that watches all operations in the modules of `model`. `first` is the first origin since it was last
    None, `sizes` the largest input of each operation.
    """

    all_types = False  # whether integer tensors are watched too

    def __init__(self, model: Any) -> None:
        self.sizes: dict[tuple[str, str, int], float] = {}
        self.first: Origin | None = None
        self._names = {id(module): name or "model" for name, module in model.named_modules()}
        self._stack: list[str] = []
        self._made: dict[int, Origin] = {}  # by address of the storage, which views share
        self._count: Counter[tuple[str, str]] = Counter()
        self._mode = _mode(self.observe, all_types=self.all_types)
        self._hooks: list[Any] = []

    def __enter__(self) -> "OperationWatch":
        from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

        self._hooks = [register_module_forward_pre_hook(self._enter), register_module_forward_hook(self._leave)]
        self._mode.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._mode.__exit__(*raised)
        for hook in self._hooks:
            hook.remove()

    def origin(self, tensor: Any) -> Origin | None:
        """The origin of the non-finite values of a tensor."""
        return self._made.get(storage_address(tensor))

    def _enter(self, module: Any, _inputs: Any) -> None:
        self._stack.append(self._names.get(id(module), type(module).__name__))

    def _leave(self, _module: Any, _inputs: Any, _output: Any) -> None:
        if self._stack:
            self._stack.pop()

    def observe(self, name: str, inputs: list[Any], outputs: list[Any]) -> None:
        """Record one operation."""
        if name.startswith(UNINITIALISED):
            return
        module = self._stack[-1] if self._stack else "loss"
        key = (module, name, self._count[module, name])
        self._count[module, name] += 1
        self.sizes[key] = size = max(map(_largest, inputs), default=0.0)
        input_severity = max(map(_severity, inputs), default=0)
        addresses = {storage_address(t) for t in inputs}
        known = next((self._made[a] for a in addresses if a in self._made), None)
        for output in outputs:
            severity = _severity(output)
            if severity:
                made = Origin(name, module, str(KINDS[severity]), size, key, known)
                origin = made if input_severity < severity or not known else known
                self.first = self.first or origin
                self._made[storage_address(output)] = origin
            elif name.partition(".")[0].endswith("_") or storage_address(output) not in addresses:
                self._made.pop(storage_address(output), None)  # overwritten with finite values


def _mode(observe: Callable[[str, list[Any], list[Any]], None], *, all_types: bool) -> Any:
    """A dispatch mode that reports every operation."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            observe(func.name().removeprefix("aten::"), _tensors((args, kwargs), all_types), _tensors(out, all_types))
            return out

    return Mode()  # type: ignore[no-untyped-call]


def storage_address(tensor: Any) -> int:
    """The address of the tensor's storage, which its views share."""
    return int(tensor.untyped_storage().data_ptr())


def _tensors(value: Any, all_types: bool) -> list[Any]:
    """The strided tensors in memory: floating-point ones, or all."""
    if hasattr(value, "untyped_storage"):
        has_data = value.layout is _strided() and value.device.type != "meta"
        return [value] if has_data and (all_types or value.is_floating_point()) else []
    if isinstance(value, dict):
        return [t for part in value.values() for t in _tensors(part, all_types)]
    return [t for part in value for t in _tensors(part, all_types)] if isinstance(value, (list, tuple)) else []


def _strided() -> Any:
    import torch

    return torch.strided


def _severity(tensor: Any) -> int:
    """2 if it has NaN, 1 if it has Inf, else 0; the sum decides first, because it is faster."""
    if not tensor.numel() or math.isfinite(float(tensor.detach().sum())):
        return 0
    return 2 if bool(tensor.isnan().any()) else 1 if bool(tensor.isinf().any()) else 0


def _largest(tensor: Any) -> float:
    """Its largest finite absolute value."""
    import torch

    return float(torch.nan_to_num(tensor.detach().float(), 0.0, 0.0, 0.0).abs().max()) if tensor.numel() else 0.0

"""Batches of any shape: moved to a device, cut into parts, looked through. torch is imported on use."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import Any


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with every tensor changed; what is no tensor, list, tuple or mapping stays."""
    if hasattr(value, "untyped_storage"):
        return change(value)
    if isinstance(value, Mapping):
        return {key: mapped(part, change) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(part, change) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(part, change) for part in value)
    return value


def moved(value: Any, device: Any) -> Any:
    """A batch on a device; an object of the user's moves itself where it can (as a graph's batch does)."""
    if not hasattr(value, "untyped_storage") and not isinstance(value, (Mapping, list, tuple)) and hasattr(value, "to"):
        return value.to(device)
    return mapped(value, lambda tensor: tensor.to(device))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every tensor of a batch with its place, such as `input_ids` or `0`."""
    if hasattr(value, "untyped_storage"):
        yield name or "batch", value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{name}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from leaves(part, f"{name}.{i}".lstrip("."))


def size(batch: Any) -> int | None:
    """The number of samples: the length of the first axis; None where the tensors have no such axis in common."""
    sizes = {len(tensor) if tensor.dim() else 0 for _, tensor in leaves(batch)}
    return sizes.pop() if len(sizes) == 1 else None


def parts(batch: Any, count: int) -> list[Any] | None:
    """The batch in `count` parts along the first axis; None where it has fewer samples, or no such axis."""
    if (samples := size(batch)) is None or samples < count:
        return None
    edges = [samples * i // count for i in range(count + 1)]
    return [mapped(batch, itemgetter(slice(a, b))) for a, b in pairwise(edges)]


def finite(tensor: Any) -> bool:
    """Whether every number of a tensor is finite; whole numbers are."""
    import torch

    return not (tensor.is_floating_point() or tensor.is_complex()) or bool(torch.isfinite(tensor).all())

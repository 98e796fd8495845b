"""Batches of any structure: move them to a device, split them, walk through them. torch is imported on use."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import Any


def map_tensors(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with `change` applied to every tensor. Only lists, tuples and mappings are entered."""
    if hasattr(value, "untyped_storage"):
        return change(value)
    if isinstance(value, Mapping):
        return {key: map_tensors(part, change) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(part, change) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(part, change) for part in value)
    return value


def move(value: Any, device: Any) -> Any:
    """A batch move to a device; an object with a method `to` moves itself, such as a batch of graphs."""
    if not hasattr(value, "untyped_storage") and not isinstance(value, (Mapping, list, tuple)) and hasattr(value, "to"):
        return value.to(device)
    return map_tensors(value, lambda tensor: tensor.to(device))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every tensor of a batch with its path, such as `input_ids` or `0`."""
    if hasattr(value, "untyped_storage"):
        yield name or "batch", value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{name}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from leaves(part, f"{name}.{i}".lstrip("."))


def size(batch: Any) -> int | None:
    """The number of samples: the length of the first axis. None if the tensors differ in it or have no axis."""
    sizes = {len(tensor) if tensor.dim() else 0 for _, tensor in leaves(batch)}
    return sizes.pop() if len(sizes) == 1 else None


def split(batch: Any, count: int) -> list[Any] | None:
    """The batch split into `count` split along the first axis; None if it has fewer samples or no such axis."""
    if (samples := size(batch)) is None or samples < count:
        return None
    edges = [samples * i // count for i in range(count + 1)]
    return [map_tensors(batch, itemgetter(slice(a, b))) for a, b in pairwise(edges)]


def finite(tensor: Any) -> bool:
    """Whether every value of a tensor is finite; integers always are."""
    import torch

    return not (tensor.is_floating_point() or tensor.is_complex()) or bool(torch.isfinite(tensor).all())

"""The total and the components in the result of the user's `loss`."""

from collections.abc import Mapping
from typing import Any

from loganalyst.errors import ReplayError


def total_and_components(loss: Any, weights: Mapping[str, float] | None) -> tuple[Any, dict[str, Any]]:
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

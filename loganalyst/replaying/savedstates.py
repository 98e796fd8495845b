"""Copies of the states of a training, from which a bench restores it."""

import copy
from collections.abc import Mapping
from typing import Any

from loganalyst.replaying.spec import ReplaySpec


def saved_states(spec: ReplaySpec) -> dict[str, Any]:
    """The states of all parts of a training, copied to the CPU."""
    named = {"model": spec.model, "optimizer": spec.optimizer, "scheduler": spec.scheduler, "scaler": spec.scaler}
    return {name: _copy_to_cpu(part.state_dict()) for name, part in named.items() if hasattr(part, "state_dict")}


def _copy_to_cpu(value: Any) -> Any:
    """A copy of a state on the CPU."""
    if hasattr(value, "untyped_storage"):
        return value.detach().cpu().clone()
    if isinstance(value, Mapping):
        return {key: _copy_to_cpu(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copy_to_cpu, value)) if not hasattr(value, "_fields") else copy.deepcopy(value)
    return copy.deepcopy(value)

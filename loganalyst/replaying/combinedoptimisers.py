"""Several optimisers or schedulers used as one, such as Muon for matrices and AdamW for the rest."""

from collections.abc import Mapping, Sequence
from typing import Any


class Combined:
    """Calls each of its `parts`, as one optimiser or scheduler."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)

    def step(self) -> None:
        """Make one step of each."""
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """The states of all, in order."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`."""
        for part, part_state in zip(self.parts, state["parts"], strict=True):
            part.load_state_dict(part_state)


class CombinedOptimizers(Combined):
    """Optimisers of disjoint parameters that all step on the gradient of one loss."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of all; they are the originals, so that a changed rate takes effect."""
        return [group for part in self.parts for group in part.param_groups]

    @property
    def state(self) -> dict[Any, Any]:
        """The states of all by parameter. The states are the originals; the dictionary is a copy."""
        return {parameter: state for part in self.parts for parameter, state in part.state.items()}

    def zero_grad(self, *, set_to_none: bool = True) -> None:
        """Clear the gradients of all."""
        for part in self.parts:
            part.zero_grad(set_to_none=set_to_none)


def members(part: Any) -> tuple[Any, ...]:
    """The parts of a combined object, the object itself if it is single, and nothing for None."""
    if isinstance(part, Combined):
        return part.parts
    return () if part is None else (part,)

"""Several optimisers or schedulers as one, such as Muon for matrices beside AdamW: each makes every step."""

from collections.abc import Mapping, Sequence
from typing import Any


class Together:
    """What is asked of an optimiser or scheduler, asked of each of its `parts`."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)

    def step(self) -> None:
        """One of each."""
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """Of all, in their order."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """What `state_dict` gave."""
        for part, own in zip(self.parts, state["parts"], strict=True):
            part.load_state_dict(own)


class Optimizers(Together):
    """Optimisers of parameters apart, that all step on the gradient of one loss."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Of all: the groups themselves, so that a change of a rate is one."""
        return [group for part in self.parts for group in part.param_groups]

    @property
    def state(self) -> dict[Any, Any]:
        """By parameter: the states themselves; a parameter that is added or removed here is not there."""
        return {parameter: state for part in self.parts for parameter, state in part.state.items()}

    def zero_grad(self, *, set_to_none: bool = True) -> None:
        """The gradients of all."""
        for part in self.parts:
            part.zero_grad(set_to_none=set_to_none)


def each(part: Any) -> tuple[Any, ...]:
    """The parts of what may be several; none of None."""
    if isinstance(part, Together):
        return part.parts
    return () if part is None else (part,)

"""Finds what a model chooses from tables and draws from distributions. It watches every operation and needs no names.

A choice is the index of the smallest or largest of some values, with which the model then looks up or routes something:
the code of a quantiser, the expert of a router. A draw is noise times a learned scale, added to a learned mean: a
latent variable.
"""

from dataclasses import dataclass, field
from typing import Any

from loganalyst.replaying.provenance import OperationWatch, storage_address

PICK_OPERATIONS = ("argmin", "argmax", "min", "max", "topk")
LOOKUP_OPERATIONS = ("embedding", "index", "index_select", "gather", "scatter")
NOISE_OPERATIONS = ("randn", "randn_like", "normal", "normal_functional")


@dataclass
class Usage:
    """Counts of the entries taken, by choice (operation and module); for each draw the KL divergence (nats) summed by
    dimension, and the number of samples.
    """

    choices: dict[str, Any] = field(default_factory=dict)
    draws: dict[str, tuple[Any, int]] = field(default_factory=dict)


class ChoiceWatch(OperationWatch):
    """A context that adds what it finds to a Usage. It needs gradients, which show what is learned."""

    all_types = True

    def __init__(self, model: Any, seen: Usage) -> None:
        super().__init__(model)
        self._usage = seen
        self._sizes = {size for tensor in (*model.parameters(), *model.buffers()) for size in tensor.shape}
        self._picked: dict[int, tuple[Any, str, int]] = {}  # keeps the tensors, so that their addresses stay theirs
        self._noise: dict[int, Any] = {}
        self._scaled: dict[int, tuple[Any, Any]] = {}

    def observe(self, name: str, inputs: list[Any], outputs: list[Any]) -> None:
        """Record one operation."""
        name = name.partition(".")[0].rstrip("_")
        if name in PICK_OPERATIONS and len(inputs) == 1:
            self._pick(name, inputs[0], outputs[-1])
        elif name in LOOKUP_OPERATIONS:
            self._look_up(inputs)
        elif name in NOISE_OPERATIONS and outputs:
            self._noise[storage_address(outputs[0])] = outputs[0]
        elif name == "mul" and len(inputs) == 2:
            self._scale(inputs, outputs[0])
        elif name == "add" and len(inputs) == 2:
            self._draw(inputs)

    def _label(self, kind: str) -> str:
        """The kind and the module of an operation, numbered if it is not the first of its kind there."""
        module = self._stack[-1] if self._stack else "loss"
        self._count[module, kind] += 1
        number = self._count[module, kind]
        return f"{kind} in {module}" + (f", no. {number}" if number > 1 else "")

    def _pick(self, name: str, values: Any, places: Any) -> None:
        size = _choice_size(tuple(values.shape), tuple(places.shape))
        if places.is_floating_point() or size < 2 or size not in self._sizes:
            return
        self._picked[storage_address(places)] = (places, self._label(name), size)

    def _look_up(self, inputs: list[Any]) -> None:
        for tensor in inputs:
            known = None if tensor.is_floating_point() else self._picked.pop(storage_address(tensor), None)
            if known:
                places, name, size = known
                counts = places.detach().flatten().bincount(minlength=size).double().cpu()
                before = self._usage.choices.get(name)
                self._usage.choices[name] = counts if before is None else before + counts

    def _scale(self, inputs: list[Any], output: Any) -> None:
        for noise, scale in (inputs, inputs[::-1]):
            if storage_address(noise) in self._noise and scale.requires_grad and scale.dim() > 1:
                self._scaled[storage_address(output)] = output, scale.detach()

    def _draw(self, inputs: list[Any]) -> None:
        for mean, part in (inputs, inputs[::-1]):
            known = self._scaled.pop(storage_address(part), None)
            if known and mean.requires_grad and mean.shape == known[1].shape:
                kl, samples = _divergence(mean.detach(), known[1])
                name = self._label("draw")
                before = self._usage.draws.get(name, (0.0, 0))
                self._usage.draws[name] = before[0] + kl, before[1] + samples


def _divergence(mean: Any, scale: Any) -> tuple[Any, int]:
    """The KL divergence from the standard normal by dimension (channels of images, else the last axis), summed over
    samples.
    """
    axis = 1 if mean.dim() in (4, 5) else -1
    mean, scale = (t.double().movedim(axis, 0).flatten(1).cpu() for t in (mean, scale))
    kl = (mean**2 + scale**2 - 1) / 2 - scale.abs().clamp_min(1e-30).log()
    return kl.sum(1), kl.shape[1]


def _choice_size(values: tuple[int, ...], places: tuple[int, ...]) -> int:
    """The size of the axis along which the model chose; 0 if there is none."""
    if len(values) == len(places):
        return next((a for a, b in zip(values, places, strict=True) if a != b), 0)
    return next((a for i, a in enumerate(values) if values[:i] + values[i + 1 :] == places), 0)

"""What a model chooses from tables and draws from distributions: every operation is watched, so no names are needed.

A choice is the place of the least or largest of some numbers that something is then looked up or sent by: the code of a
quantiser, the expert of a router. A draw is noise times a learned scale, added to a learned mean: a latent variable.
"""

from dataclasses import dataclass, field
from typing import Any

from loganalyst.replaying.provenance import Watch

PICKS = ("argmin", "argmax", "min", "max", "topk")
LOOKUPS = ("embedding", "index", "index_select", "gather", "scatter")
NOISES = ("randn", "randn_like", "normal", "normal_functional")


@dataclass
class Seen:
    """Of each choice, by operation and module, how often each of the entries was taken; of each draw KL (nats) summed
    by dimension and the number of samples.
    """

    choices: dict[str, Any] = field(default_factory=dict)
    draws: dict[str, tuple[Any, int]] = field(default_factory=dict)


class Choices(Watch):
    """A context that adds what it sees to `seen`. It needs gradients: what is learned is told by them."""

    every = True

    def __init__(self, model: Any, seen: Seen) -> None:
        super().__init__(model)
        self._seen = seen
        self._sizes = {size for tensor in (*model.parameters(), *model.buffers()) for size in tensor.shape}
        self._picked: dict[int, tuple[Any, str, int]] = {}  # kept, so that no other tensor comes to lie there
        self._noise: dict[int, Any] = {}
        self._scaled: dict[int, tuple[Any, Any]] = {}

    def saw(self, name: str, inputs: list[Any], outputs: list[Any]) -> None:
        """One operation."""
        name = name.partition(".")[0].rstrip("_")
        if name in PICKS and len(inputs) == 1:
            self._pick(name, inputs[0], outputs[-1])
        elif name in LOOKUPS:
            self._look_up(inputs)
        elif name in NOISES and outputs:
            self._noise[_place(outputs[0])] = outputs[0]
        elif name == "mul" and len(inputs) == 2:
            self._scale(inputs, outputs[0])
        elif name == "add" and len(inputs) == 2:
            self._draw(inputs)

    def _named(self, kind: str) -> str:
        """What is done in which module, and the how manieth of its kind it is there."""
        module = self._stack[-1] if self._stack else "loss"
        self._count[module, kind] += 1
        number = self._count[module, kind]
        return f"{kind} in {module}" + (f", no. {number}" if number > 1 else "")

    def _pick(self, name: str, given: Any, places: Any) -> None:
        size = _chosen_from(tuple(given.shape), tuple(places.shape))
        if places.is_floating_point() or size < 2 or size not in self._sizes:
            return
        self._picked[_place(places)] = (places, self._named(name), size)

    def _look_up(self, inputs: list[Any]) -> None:
        for tensor in inputs:
            known = None if tensor.is_floating_point() else self._picked.pop(_place(tensor), None)
            if known:
                places, name, size = known
                counts = places.detach().flatten().bincount(minlength=size).double().cpu()
                before = self._seen.choices.get(name)
                self._seen.choices[name] = counts if before is None else before + counts

    def _scale(self, inputs: list[Any], output: Any) -> None:
        for noise, scale in (inputs, inputs[::-1]):
            if _place(noise) in self._noise and scale.requires_grad and scale.dim() > 1:
                self._scaled[_place(output)] = output, scale.detach()

    def _draw(self, inputs: list[Any]) -> None:
        for mean, part in (inputs, inputs[::-1]):
            known = self._scaled.pop(_place(part), None)
            if known and mean.requires_grad and mean.shape == known[1].shape:
                kl, samples = _divergence(mean.detach(), known[1])
                name = self._named("draw")
                before = self._seen.draws.get(name, (0.0, 0))
                self._seen.draws[name] = before[0] + kl, before[1] + samples


def _divergence(mean: Any, scale: Any) -> tuple[Any, int]:
    """The KL from the standard normal, by dimension (the channels of pictures, else the last), summed over samples."""
    axis = 1 if mean.dim() in (4, 5) else -1
    mean, scale = (t.double().movedim(axis, 0).flatten(1).cpu() for t in (mean, scale))
    kl = (mean**2 + scale**2 - 1) / 2 - scale.abs().clamp_min(1e-30).log()
    return kl.sum(1), kl.shape[1]


def _chosen_from(given: tuple[int, ...], places: tuple[int, ...]) -> int:
    """The size of the axis along which was chosen; 0 where there is none."""
    if len(given) == len(places):
        return next((a for a, b in zip(given, places, strict=True) if a != b), 0)
    return next((a for i, a in enumerate(given) if given[:i] + given[i + 1 :] == places), 0)


def _place(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())

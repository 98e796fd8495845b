"""The tensors of a network as logged: histograms of gradients, weights and activations, and gradient norms by layer."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.features.context import Context, first_level, last_level, witness_at
from loganalyst.model import Witness

Kind = Literal["gradient", "weight", "activation"]

# The kind of a histogram by its name, in this order: "gradients/layer1.weight" is a gradient, "fc.weight" a weight
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("gradient", re.compile(r"(^|[^a-z])(d?grads?|gradients?)([^a-z]|$)")),
    ("activation", re.compile(r"(^|[^a-z])(act|acts|activations?|outputs?|relu|gelu|silu|tanh|sigmoid)([^a-z]|$)")),
    ("weight", re.compile(r"(^|[^a-z])(weights?|kernel|bias|params?|parameters?|embeddings?)([^a-z]|$)")),
)
# words that name the logged quantity, not the tensor: "gradients/fc1/weight" and "fc1/weight" are one tensor
# and "weight_norm/fc1" is the norm of the tensor that "grad_norm/fc1" is the gradient of
_QUANTITY_WORD = re.compile(
    r"d?grads?|gradients?|parameters?|params?|histograms?|hist|train|((grad(ient)?|weight|param(eter)?)s?_(2_|l2_)?)?norms?"
)
# biases and normalisation: "layer3.bn.weight", "fc.bias", "ln_1.weight"
_SMALL = re.compile(r"(^|[^a-z])(bias(es)?|(batch|layer|group|rms)?_?norms?|[bl]n|gamma|beta|running|ln_\w+)([^a-z]|$)")
_GRADIENT_NORM = re.compile(
    r"grad(ient)?s?_?(l?\d(\.\d+)?_)?norms?"
)  # "grad_2.0_norm/fc": a logged quantity, no normalisation
_SPARSE = re.compile(
    r"emb(ed(ding)?s?)?([^a-z]|$)|wte|wpe|lookup|vocab"
)  # embeddings: most rows get no gradient in a step


class Layer(msgspec.Struct, frozen=True):
    """One tensor over n logged steps.

    `size` (n) is its norm, `zeros` (n) the share of its values that are 0, and `reach` (n) the largest absolute value,
    both NaN where not known. `moments` (n, k) change whenever the tensor changes.
    """

    metric: str
    kind: Kind
    steps: NDArray[np.int64]
    size: NDArray[np.float64]
    zeros: NDArray[np.float64]
    reach: NDArray[np.float64]
    moments: NDArray[np.float64]
    source: str | None
    lines: NDArray[np.int64]

    @property
    def first(self) -> float | None:
        """The norm at the start of the run."""
        return first_level(self.size)

    @property
    def last(self) -> float | None:
        """The norm over the last tenth."""
        return last_level(self.size)

    @property
    def tensor(self) -> str:
        """The name without the words for the logged quantity: the same for all quantities of one tensor."""
        return ".".join(
            w for w in re.split(r"[^a-z0-9_]+", self.metric.lower()) if w and not _QUANTITY_WORD.fullmatch(w)
        )

    def witness_at(self, at: int | None = None) -> Witness:
        """The witness of a logged step, or of the whole layer."""
        if at is None:
            return Witness(self.metric, file=self.source)
        line = int(self.lines[at])
        return Witness(self.metric, int(self.steps[at]), self.source, line if line >= 0 else None)


def layers(context: Context, kind: Kind) -> list[Layer]:
    """The layers of a kind in order of depth: by number where the names differ only in numbers, otherwise in logged
    order.

    Where gradients were logged as norms and as histograms, the form with more layers is taken.
    """
    found = [layer for layer in _histograms(context) if layer.kind == kind]
    if kind == "gradient":
        norms = list(_norms(context))
        found = norms if len(norms) >= len(found) else found
    if kind == "weight" and not found:
        found = _weight_norms(context)
    return sorted(found, key=_depth) if len({re.sub(r"\d+", "#", layer.metric) for layer in found}) == 1 else found


def main(found: Sequence[Layer]) -> list[Layer]:
    """The layers without biases and normalisation, whose gradients are small or zero by nature; all, if fewer than two
    remain.
    """
    large = [layer for layer in found if not _SMALL.search(_GRADIENT_NORM.sub("", layer.metric.lower()))]
    return large if len(large) >= 2 else list(found)


def dense(found: Sequence[Layer]) -> list[Layer]:
    """The layers without embeddings, in which only the looked-up rows get a gradient."""
    return [layer for layer in found if not _SPARSE.search(layer.metric.lower())]


def _depth(layer: Layer) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", layer.metric))


def _norms(context: Context) -> Iterator[Layer]:
    order = {metric: i for i, metric in enumerate(c.metric for c in context.curves)}
    for c in sorted(context.with_role("layer_grad_norm"), key=lambda c: order[c.metric]):
        size = np.maximum(np.abs(c.values), context.quantum(c) / 2)  # a printed 0 is at most half of the last digit
        unknown = np.full(size.size, np.nan)
        yield Layer(c.metric, "gradient", c.steps, size, unknown, unknown, size[:, None], witness_at(c).file, c.lines)


def _weight_norms(context: Context) -> list[Layer]:
    """Norms of weights by layer. None if all are constant: their logged digits may be too few to show a change."""
    curves = context.with_role("param_norm")
    if len(curves) < 2 or not any(np.ptp(c.values) > 0 for c in curves):
        return []
    unknown = [np.full(c.values.size, np.nan) for c in curves]
    return [
        Layer(c.metric, "weight", c.steps, c.values, u, u, c.values[:, None], witness_at(c).file, c.lines)
        for c, u in zip(curves, unknown, strict=True)
    ]


def _kind(metric: str) -> Kind | None:
    return next((kind for kind, pattern in _KINDS if pattern.search(metric.lower())), None)


def _histograms(context: Context) -> Iterator[Layer]:
    rows = context.run.distributions
    if not rows.height:  # the usual case, and this runs once for each kind
        return
    rows = rows.filter(pl.col("step").is_not_null())
    rows = rows.unique(["metric", "step"], keep="last", maintain_order=True).sort("step", maintain_order=True)
    for (metric,), part in rows.group_by("metric", maintain_order=True):
        kind = _kind(str(metric))
        if kind is None:
            continue
        count, mean, std, low, high, zeros = (
            part[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
            for name in ("count", "mean", "std", "min", "max", "zeros")
        )
        reach = np.maximum(np.abs(low), np.abs(high))
        broken = part["nonfinite"].fill_null(0.0).to_numpy() > 0
        size = np.where(broken, np.nan, np.sqrt(count) * np.hypot(mean, std))
        share = np.where(reach == 0, 1.0, np.divide(zeros, count, out=np.full(count.size, np.nan), where=count > 0))
        moments = np.column_stack([mean, std, low, high])
        yield Layer(
            str(metric), kind, part["step"].to_numpy(), size, share, reach, moments, part["source"][-1],
            np.full(count.size, -1),
        )  # fmt: skip

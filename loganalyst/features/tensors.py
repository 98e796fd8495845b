"""Layers of a network as they were logged: histograms of gradients, weights and activations, and norms by layer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.features.context import Context, first_level, last_level, seen
from loganalyst.model import Witness

Kind = Literal["gradient", "weight", "activation"]

# what a histogram is of, from its name; what says nothing of the kind is a weight where it names a parameter
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("gradient", re.compile(r"(^|[^a-z])(d?grads?|gradients?)([^a-z]|$)")),
    ("activation", re.compile(r"(^|[^a-z])(act|acts|activations?|outputs?|relu|gelu|silu|tanh|sigmoid)([^a-z]|$)")),
    ("weight", re.compile(r"(^|[^a-z])(weights?|kernel|bias|params?|parameters?|embeddings?)([^a-z]|$)")),
)
_SAID = re.compile(r"d?grads?|gradients?|parameters?|params?|histograms?|hist|norms?|train")
_SMALL = re.compile(r"(^|[^a-z])(bias(es)?|(batch|layer|group|rms)?_?norms?|[bl]n|gamma|beta|running|ln_\w+)([^a-z]|$)")
_GRADIENT_NORM = re.compile(r"grad(ient)?s?_?(l?\d(\.\d+)?_)?norms?")  # what was logged, no layer of normalisation
_SPARSE = re.compile(r"emb(ed(ding)?s?)?([^a-z]|$)|wte|wpe|lookup|vocab")  # most rows get no gradient in a step


@dataclass(frozen=True)
class Layer:
    """One tensor over n logged steps. `size` (n) is its norm; `zeros` (n) the share of its values that are 0, `reach`
    (n) the largest absolute value, both NaN where not known; `moments` (n, k) change with the tensor.
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
        """The norm where the run began."""
        return first_level(self.size)

    @property
    def last(self) -> float | None:
        """The norm over the last tenth."""
        return last_level(self.size)

    @property
    def tensor(self) -> str:
        """What remains of the name without the words that say what was logged of it: to find the same tensor again."""
        return ".".join(w for w in re.split(r"[^a-z0-9_]+", self.metric.lower()) if w and not _SAID.fullmatch(w))

    def seen(self, at: int | None = None) -> Witness:
        """The witness of a logged step, or of the layer as a whole."""
        if at is None:
            return Witness(self.metric, file=self.source)
        line = int(self.lines[at])
        return Witness(self.metric, int(self.steps[at]), self.source, line if line >= 0 else None)


def layers(context: Context, kind: Kind) -> list[Layer]:
    """The layers of a kind in order of depth: by number where the names differ in numbers alone, else as first logged.

    Of gradients that were logged as norms and as histograms, whichever has more layers.
    """
    told = [layer for layer in _histograms(context) if layer.kind == kind]
    if kind == "gradient":
        norms = list(_norms(context))
        told = norms if len(norms) >= len(told) else told
    return sorted(told, key=_depth) if len({re.sub(r"\d+", "#", t.metric) for t in told}) == 1 else told


def main(found: Sequence[Layer]) -> list[Layer]:
    """Without biases and scales of normalisation, whose gradients are small or zero by nature, where others are left."""
    large = [layer for layer in found if not _SMALL.search(_GRADIENT_NORM.sub("", layer.metric.lower()))]
    return large if len(large) >= 2 else list(found)


def dense(found: Sequence[Layer]) -> list[Layer]:
    """Without embeddings: of these only the rows that were looked up get a gradient."""
    return [layer for layer in found if not _SPARSE.search(layer.metric.lower())]


def _depth(layer: Layer) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", layer.metric))


def _norms(context: Context) -> Iterator[Layer]:
    order = {metric: i for i, metric in enumerate(c.metric for c in context.curves)}
    for c in sorted(context.of("layer_grad_norm"), key=lambda c: order[c.metric]):
        size = np.abs(c.values)
        unknown = np.full(size.size, np.nan)
        yield Layer(c.metric, "gradient", c.steps, size, unknown, unknown, size[:, None], seen(c).file, c.lines)


def _kind(metric: str) -> Kind | None:
    return next((kind for kind, pattern in _KINDS if pattern.search(metric.lower())), None)


def _histograms(context: Context) -> Iterator[Layer]:
    rows = context.run.distributions
    if not rows.height:  # as in most runs; this is asked for each kind of layers
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

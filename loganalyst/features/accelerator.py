"""Features of the kind of device that a log names, and its own terms for fixes (`rules/accelerators.yaml`)."""

from functools import cache

import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature
from loganalyst.rulefiles import Shape, Text, Texts, ours

NEEDS = "the job log (SLURM output, stdout or stderr), with an error of the device"
FEATURES = (
    Feature("accelerator", "text", "", "kind of device that the log names: cuda, rocm, hpu, neuron, xpu, mps, npu or tpu", NEEDS),
    Feature("accelerator_status", "text", "", "its command that shows memory and processes", NEEDS),
    Feature("accelerator_health", "text", "", "its commands that show faults of the device", NEEDS),
    Feature("accelerator_debug", "text", "", "its setting with which a traceback names the failing call", NEEDS),
    Feature("accelerator_peak", "text", "", "its way to measure the peak of the memory", NEEDS),
)  # fmt: skip


class _Accelerator(Shape, frozen=True):
    words: Texts
    status: Text
    health: Text
    debug: Text
    peak: Text


@cache
def _accelerators() -> dict[str, _Accelerator]:
    return ours("accelerators.yaml", dict[str, _Accelerator])


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if no line that a pattern knows names a device."""
    roots = pl.Series([row["text"] for row in context.roots.values() if row], dtype=pl.String)
    name = _first(roots) or _commonest(context.run.lines["text"])
    if name is None:
        return {}
    terms = _accelerators()[name]
    own = ("status", "health", "debug", "peak")
    return {"accelerator": name, **{f"accelerator_{term}": getattr(terms, term) for term in own}}


def _first(texts: pl.Series) -> str | None:
    """The first kind with a word in the texts: the libraries of the others print names of CUDA, too."""
    return next((name for name, a in _accelerators().items() if texts.str.contains_any(list(a.words)).any()), None)


def _commonest(texts: pl.Series) -> str | None:
    """The kind whose words are in most texts; None if there are none."""
    counts = {name: int(texts.str.contains_any(list(a.words)).sum()) for name, a in _accelerators().items()}
    commonest = max(counts, key=lambda name: counts[name])
    return commonest if counts[commonest] else None

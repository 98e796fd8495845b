"""Features of the kind of device that a log names, and its own terms for fixes (`rules/accelerators.yaml`)."""

from functools import cache

import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.features.namedinlogs import commonest
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
    name = _first(roots) or commonest(context.run.lines["text"], _words())
    if name is None:
        return {}
    terms = _accelerators()[name]
    own = ("status", "health", "debug", "peak")
    return {"accelerator": name, **{f"accelerator_{term}": getattr(terms, term) for term in own}}


def _first(texts: pl.Series) -> str | None:
    """The first kind with a word in the texts: the libraries of the others print names of CUDA, too."""
    return next((name for name, words in _words().items() if texts.str.contains_any(list(words)).any()), None)


def _words() -> dict[str, Texts]:
    return {name: accelerator.words for name, accelerator in _accelerators().items()}

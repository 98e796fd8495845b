"""The parameters of a model as its log prints them, for runs whose settings do not state them: the summaries of Lightning
(`1.2 K     Trainable params`), Keras and torchsummary (`Non-trainable params: 1,234`).
"""

import json

import polars as pl

from loganalyst.model import Run
from loganalyst.patterntraits import having

UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
TRAINED, REST = "trainable", "non-trainable"


def printed_parameters(run: Run) -> tuple[float, float] | None:
    """The trained parameters of the model and all of them; None if not both kinds are printed, or of several models."""
    rows = run.lines.filter(pl.col("pattern").is_in(having("parameters_printed")))["captures"].to_list()
    found: dict[str, set[float]] = {TRAINED: set(), REST: set()}
    for captures in map(json.loads, dict.fromkeys(rows)):
        kind = captures.get("before") or captures.get("after")
        number = _count(captures.get("count") or captures.get("number") or "")
        if kind and number is not None:
            found[kind.lower()].add(number)
    if any(len(numbers) != 1 for numbers in found.values()):
        return None
    trained, rest = min(found[TRAINED]), min(found[REST])
    return (trained, trained + rest) if trained + rest > 0 else None


def _count(text: str) -> float | None:
    """The number of `1.2 K`, `210 M` or `4,961,343`; None for other texts.

    >>> from loganalyst.features.printedparameters import _count
    >>> _count("1.2 K"), _count("4,961,343"), _count(".")
    (1200.0, 4961343.0, None)
    """
    digits = text.strip().rstrip("".join(UNITS)).replace(",", "")
    try:
        return float(digits) * UNITS.get(text.strip()[-1:], 1.0)
    except ValueError:
        return None

"""Writes `rules/weights.yaml`: the fitted weights and the runs that they were fitted on."""

from typing import Any

import polars as pl
import yaml

from loganalyst.diagnosis.catalogue import SCALES
from loganalyst.diagnosis.rule import Calibration, Weights
from loganalyst.evaluate.labelled import Labelled
from loganalyst.evaluate.ratios import MIN_RUNS, SPREAD

HEAD = """\
# Written by `python -m loganalyst.evaluate PLACE ... --fit FILE`; do not edit. See docs/benchmark.md.
# Log-likelihood ratios of evidence that answered in {seen} labelled runs or more, shrunk to the judged weights
# (spread {spread}), and the calibration of answers. All other items keep the weights of their rules.
"""
AGAIN = "# The calibration alone was fitted again on "


def text(weights: Weights, runs: Labelled, first_sight: int = 0) -> str:
    """The text of the file. The same runs and rules give the same bytes."""
    items = {
        rule: {item: {"if_true": true, "if_false": false} for item, (true, false) in some.items()}
        for rule, some in sorted(weights.items.items())
    }
    head = HEAD.format(seen=MIN_RUNS, spread=SPREAD) + "# Fitted on " + _counted(runs, first_sight)
    return head + _body(weights, items)


def calibrated_again(file: str, weights: Weights, runs: Labelled, first_sight: int = 0) -> str:
    """The text of a `file` with its weights of evidence and the calibration of `weights`."""
    head = [line for line in file.splitlines(keepends=True) if line.startswith("#")]
    kept = head[: next((k for k, line in enumerate(head) if line.startswith(AGAIN)), len(head))]
    items = {rule: some for rule, some in yaml.safe_load(file).items() if rule != "calibration"}
    return "".join(kept) + AGAIN + _counted(runs, first_sight) + _body(weights, items)


def _counted(runs: Labelled, first_sight: int) -> str:
    """How many runs of which sources were used, as two lines of a comment."""
    labels = runs.truths["labels"].list.first()
    counted = runs.truths.group_by("source").len()
    if first_sight:
        counted = counted.vstack(pl.DataFrame({"source": "answers at first sight", "len": first_sight}, counted.schema))
    healthy = int((labels == "healthy").sum())
    sources = ", ".join(f"{name} ({n})" for name, n in counted.sort("source").iter_rows())
    return f"{labels.len()} runs: {healthy} healthy, {labels.len() - healthy} sick.\n# Sources: {sources}.\n"


def _body(weights: Weights, items: dict[str, Any]) -> str:
    scales = {kind: _scale(weights.scales[kind]) for kind in SCALES}
    return yaml.safe_dump({"calibration": scales, **items}, sort_keys=False, default_flow_style=None, width=120)


def _scale(calibration: Calibration) -> dict[str, Any]:
    found: dict[str, Any] = {"slope": round(calibration.slope, 3), "offset": round(calibration.offset, 3)}
    found |= {"reach": calibration.reach} if calibration.reach != Calibration().reach else {}
    kinds = {kind: round(shift, 2) for kind, shift in calibration.kinds.items()}
    return found | ({"kinds": kinds} if kinds else {})

"""Writes `rules/weights.yaml`: the fitted weights and the runs that they were fitted on."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from loganalyst.diagnosis.catalogue import SCALES
from loganalyst.diagnosis.rule import Calibration, Weights
from loganalyst.evaluate.labelled import Labelled
from loganalyst.evaluate.ratios import MIN_RUNS, SPREAD

HEAD = """\
# Written by `python -m loganalyst.evaluate DIR ... --fit FILE`; do not edit. See docs/benchmark.md.
# Log-likelihood ratios of evidence that answered in {seen} labelled runs or more, shrunk to the judged weights
# (spread {spread}), and the calibration of causes and of "healthy". All other items keep the weights of their rules.
# Fitted on {runs} runs of {families} families: {healthy} healthy, {sick} sick. {places}
"""


def text(weights: Weights, runs: Labelled, places: Sequence[Path]) -> str:
    """The text of the file. The same runs and rules give the same bytes."""
    labels = runs.truths["labels"].list.first()
    healthy = int((labels == "healthy").sum())
    head = HEAD.format(
        seen=MIN_RUNS,
        spread=SPREAD,
        runs=labels.len(),
        families=runs.truths["family"].n_unique(),
        healthy=healthy,
        sick=labels.len() - healthy,
        places=", ".join(place.name for place in places),
    )
    items = {
        rule: {item: {"if_true": true, "if_false": false} for item, (true, false) in some.items()}
        for rule, some in sorted(weights.items.items())
    }
    scales = {kind: _scale(weights.scales[kind]) for kind in SCALES}
    return head + yaml.safe_dump({"calibration": scales, **items}, sort_keys=False, default_flow_style=None, width=120)


def _scale(calibration: Calibration) -> dict[str, float]:
    return {"slope": round(calibration.slope, 3), "offset": round(calibration.offset, 3)}

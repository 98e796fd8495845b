"""Weights and calibration learn from labels and from nothing else."""

import math
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from loganalyst import pipeline
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.confidence import calibrate
from loganalyst.diagnosis.rule import Calibration
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.fitting import Fitting, platt
from loganalyst.evaluate.labelled import recorded
from tests.evaluate.evaluatedruns import PUBLIC_LOGS, nan_runs, table


def test_the_scale_of_logs_is_fitted_on_public_logs(judged: Catalogue) -> None:
    """Every row has a cause that its log states. weights.yaml has the slope and offset that they give."""
    logs = recorded(PUBLIC_LOGS)
    answers = answered(judged, logs)
    fitted, shipped = platt(answers), pipeline.catalogue().calibration("logs")

    assert answers["kind"].unique().to_list() == ["logs"]
    assert (answers["first"].sum(), answers.height) == (116, 127)
    assert (round(fitted.slope, 3), round(fitted.offset, 3)) == (shipped.slope, shipped.offset)


def test_answers_at_first_sight_count_like_labelled_runs(judged: Catalogue) -> None:
    """Each counts as much as the answer for a run. A scale without answers stays as it is."""
    (said,) = answered(judged, nan_runs("any"))["said"].to_list()
    every, none = np.array([True] * 40), Calibration()

    def scales(right: bool, kind: str) -> Mapping[str, Calibration]:
        first_sight = pl.DataFrame({"confidence": [0.8] * 60, "first": [right] * 60, "kind": [kind] * 60})
        return Fitting(judged, nan_runs(*said[:1] * 40), items=False, first_sight=first_sight).weights(every).scales

    right, wrong, other = scales(True, "causes"), scales(False, "causes"), scales(True, "circumstantial")
    assert calibrate(0.8, right["causes"]) > calibrate(0.8, wrong["causes"]) + 0.1
    assert (right["circumstantial"], other["circumstantial"] == none, right["healthy"]) == (none, False, none)


def test_platt_finds_the_truth() -> None:
    """Answers stated at 0.7 and 0.9 that are right in 90 and 99 of 100; without answers, the identity."""
    rows = [("a", "a", i < right, p) for p, right in ((0.7, 900), (0.9, 990)) for i in range(1000)]
    found = platt(table(*rows))

    for p, true in ((0.7, 0.9), (0.9, 0.99)):
        stated = found.slope * math.log(p / (1 - p)) + found.offset
        assert 1 / (1 + math.exp(-stated)) == pytest.approx(true, abs=0.01)
    assert platt(table().filter(pl.lit(value=False))) == Calibration()


def test_a_family_is_judged_by_weights_of_the_others(judged: Catalogue) -> None:
    """The labels of a family do not change its answers."""
    labels = ["lr_too_high", "bad_data", "lr_too_high"] * 14
    turned = [label if i % 3 else "log_of_zero" for i, label in enumerate(labels)]  # all of family a
    said = [Fitting(judged, nan_runs(*some)).crossed().filter(family="a") for some in (labels, turned)]

    assert said[0]["confidence"].to_list() == said[1]["confidence"].to_list()
    assert said[0]["ids"].to_list() == said[1]["ids"].to_list()

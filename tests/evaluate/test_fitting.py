"""Weights and calibration learn from labels and from nothing else."""

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.logodds import calibrate
from loganalyst.diagnosis.rule import Calibration
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.fitting import Fitting, Key, balance
from loganalyst.evaluate.labelled import Labelled, recorded
from tests.evaluate.evaluatedruns import PUBLIC_LOGS, nan_runs

pytestmark = pytest.mark.takes_long


def test_public_logs_have_the_scale_of_logs(judged: Catalogue) -> None:
    """Every row has a cause that its log states."""
    answers = answered(judged, recorded(PUBLIC_LOGS))

    assert answers["kind"].unique().to_list() == ["logs"]
    assert (answers["first"].sum(), answers.height) == (129, 140)


def test_answers_at_first_sight_count_like_labelled_runs(judged: Catalogue) -> None:
    """Each counts as often as its `count`. A scale without answers stays as it is."""
    (said,) = answered(judged, nan_runs("any"))["said"].to_list()
    every, none = np.array([True] * 40), Calibration()

    def scales(right: bool, kind: str, source: str = "elsewhere") -> Mapping[str, Calibration]:
        rows = {"stated": 0.8, "first": right, "kind": kind, "source": source, "count": 1.0, "group": "job"}
        first_sight = pl.DataFrame([rows] * 60)
        some = nan_runs(*said[:1] * 40)
        return Fitting(judged, some, items=False, first_sight=first_sight, key="source").weights(every).scales

    right, wrong, other = scales(True, "causes"), scales(False, "causes"), scales(True, "circumstantial")
    assert calibrate(0.8, right["causes"]) > calibrate(0.8, wrong["causes"]) + 0.1
    assert (right["circumstantial"], other["circumstantial"] == none, right["healthy"]) == (none, False, none)


@pytest.mark.parametrize("key", ["family", "source"])
@pytest.mark.parametrize("items", [True, False])
def test_a_part_is_judged_by_weights_of_the_others(judged: Catalogue, key: Key, items: bool) -> None:
    """The labels of a family, or of a source and its answers at first sight, do not change its answers."""
    labels = ["lr_too_high", "bad_data", "lr_too_high"] * 14
    turned = [label if i % 3 else "log_of_zero" for i, label in enumerate(labels)]  # all of family and source a
    row = {"stated": 0.8, "kind": "causes", "source": "a", "count": 1.0, "group": "job"}
    said = []
    for some, right in ((labels, True), (turned, False)):
        first_sight = pl.DataFrame([row | {"first": right}] * 9) if key == "source" else None
        said.append(Fitting(judged, nan_runs(*some), items, first_sight, key).crossed().filter(family="a"))

    assert said[0]["confidence"].to_list() == said[1]["confidence"].to_list()
    assert said[0]["ids"].to_list() == said[1]["ids"].to_list()


def test_healthy_is_calibrated_for_one_training_in_three_with_a_fault() -> None:
    """Two of three trainings have a fault here. Answers with a cause, and those of jobs, count as before."""
    rows = [
        ("bad_data", "healthy", "language"), ("bad_data", "causes", "language"),
        ("healthy", "healthy", "language"), ("bad_data", "healthy", "job"),
    ]  # fmt: skip
    answers = pl.DataFrame([{"labels": [label], "kind": kind, "group": group} for label, kind, group in rows])
    factors = balance(answers, np.ones(4))

    assert factors.tolist() == pytest.approx([0.5, 1.0, 2.0, 1.0])
    assert balance(answers[:2], np.ones(2)).tolist() == [1.0, 1.0]


def test_a_repository_and_a_source_count_up_to_a_limit(judged: Catalogue) -> None:
    """Six runs of one repository count as three, 400 runs of one source as 200."""
    some = nan_runs(*["bad_data"] * 406)
    repo = pl.Series(["one"] * 6 + [None] * 400)
    source = pl.Series(["few"] * 6 + ["many"] * 400)
    runs = Labelled(some.truths.with_columns(repo=repo, source=source), some.features, some.witnesses)

    assert Fitting(judged, runs).counts.tolist() == [0.5] * 6 + [0.5] * 400

"""Evidence that is as in healthy runs does not count, and unusual evidence says how few of them have it."""

from dataclasses import replace
from pathlib import Path

import pytest

from loganalyst.diagnosis import diagnose, healthy_places
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import answer, feature_table
from loganalyst.diagnosis.healthyruns import HealthyRuns, Range, Reference
from loganalyst.model import Evidence, Features, FeatureValue, HealthyPlace
from loganalyst.pipeline import catalogue as ours

LARGE: dict[str, FeatureValue] = {
    "grad_norm_points": 500, "grad_norm_metric": "grad_norm", "grad_norm_median": 200.0, "grad_norm_max": 2000.0,
    "grad_norm_late_max_ratio": 10.0, "training_kind": "supervised", "training_kind_probability": 0.95,
    "run_kind": "training",
}  # fmt: skip
LARGE_ALL_ALONG = 1  # position of the item


def healthy(median: float, largest: float, *, kind: str = "supervised", ratio: float = 1.0) -> Catalogue:
    """Our rules with healthy runs whose values go up to these."""
    limits = {"grad_norm_median": median, "grad_norm_max": largest, "grad_norm_late_max_ratio": ratio}
    ranges = {name: {kind: Range(212, 23, 60, (0, high / 2, high))} for name, high in limits.items()}
    reference = Reference(212, 23, (0.005, 0.5, 0.995), ranges)
    return replace(ours(), healthy_runs=HealthyRuns({Path("reference.yaml"): reference}))


def holds(known: Catalogue, values: dict[str, FeatureValue]) -> bool | None:
    [answers] = answer(known, feature_table(known, [values]), [{}])
    assert ours().rules["exploding-gradients"].evidence[LARGE_ALL_ALONG].id == "large-all-along"
    return answers.items["exploding-gradients"][LARGE_ALL_ALONG]


@pytest.mark.parametrize(
    ("median", "largest", "expected"),
    [(200, 2000, None), (199, 2000, True), (200, 1999, True), (1e6, 1e6, None)],
)
def test_evidence_counts_if_one_of_its_sizes_is_beyond_healthy_runs(
    median: float, largest: float, expected: bool | None
) -> None:
    assert holds(healthy(median, largest), LARGE) is expected


def test_only_healthy_runs_of_its_kind_speak_for_a_run() -> None:
    assert holds(healthy(1e6, 1e6, kind="any"), LARGE) is True
    assert holds(healthy(1e6, 1e6, kind="detection"), LARGE) is True
    assert holds(healthy(1e6, 1e6, kind="training"), LARGE) is None
    assert holds(healthy(1e6, 1e6), {**LARGE, "training_kind": None, "run_kind": None}) is True


def test_an_answer_of_no_stays() -> None:
    assert holds(healthy(1e6, 1e6), {**LARGE, "grad_norm_median": 50.0}) is False


def shown(known: Catalogue, values: dict[str, FeatureValue]) -> dict[str, Evidence]:
    """The evidence for exploding gradients after a report of its symptom, by its id."""
    found = diagnose(known, Features({**values, "train_loss_points": 500, "train_loss_nonfinite_count": 1}))
    [cause] = [c for c in found.causes if c.id == "exploding-gradients"]
    return {e.id: e for e in cause.evidence}


def test_a_report_says_that_healthy_runs_have_such_values() -> None:
    known, values = healthy(1e6, 1e6, ratio=1e6), {**LARGE, "grad_norm_late_max_ratio": 80.0, "grad_norm_max": 2e7}
    found = shown(known, values)

    assert found["orders-of-magnitude"].text == "after the start, grad_norm rose to 80 times its usual level"
    values["grad_norm_max"] = 2e5
    unsure = shown(known, {**values, "grad_norm_max_ratio": 20000.0, "grad_norm_start_share": 0.1})
    assert unsure["orders-of-magnitude"].holds is None
    assert unsure["orders-of-magnitude"].weight == 0
    assert unsure["orders-of-magnitude"].text == (
        "after the start, grad_norm rose to 80 times its usual level; within the range of 212 healthy supervised runs"
    )


@pytest.mark.parametrize(
    ("ratio", "clause"),
    [
        (20, " (larger than in 99 % of 212 healthy supervised runs)"),
        (82, " (larger than in 97 % of 212 healthy supervised runs)"),
        (100, ""),
    ],
)
def test_a_report_says_how_few_healthy_runs_have_such_a_value(ratio: float, clause: str) -> None:
    """Only for the direct evidence whose sentence names one size, and only from `unusual` on."""
    found = shown(healthy(1, 1, ratio=ratio), {**LARGE, "grad_norm_late_max_ratio": 80.0})

    assert found["orders-of-magnitude"].text == f"after the start, grad_norm rose to 80 times its usual level{clause}"
    assert "healthy" not in found["large-all-along"].text  # its sentence names two


def test_the_places_of_all_features() -> None:
    known = healthy(400, 1000)
    features = Features({**LARGE, "grad_norm_late_max_ratio": None})

    assert healthy_places(known, features) == {
        "grad_norm_median": HealthyPlace("supervised", 212, 23, 0.5, 0.5),
        "grad_norm_max": HealthyPlace("supervised", 212, 23, 0.995, 0),
    }

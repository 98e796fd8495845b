"""The kind of run whose answers share a calibration."""

import pytest

from loganalyst.diagnosis.calibrationkind import KINDS, calibration_kind
from loganalyst.model import TRAINING_KINDS


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("fine-tuning", "language"),
        ("verifiable-rewards", "preference"),
        ("reinforcement", "reinforcement"),
        ("diffusion", "generative"),
        ("detection", "supervised"),
        (None, "supervised"),
    ],
)
def test_kinds_of_training_are_grouped(kind: str | None, expected: str) -> None:
    assert calibration_kind({"run_kind": "training", "training_kind": kind}) == expected


def test_a_log_without_curves_is_a_job_and_every_group_is_used() -> None:
    found = {calibration_kind({"training_kind": kind}) for kind in TRAINING_KINDS}

    assert calibration_kind({"run_kind": "job", "training_kind": "diffusion"}) == "job"
    assert found | {"job"} == set(KINDS)

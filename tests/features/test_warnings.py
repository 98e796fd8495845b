"""Features of warnings in the job log."""

from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.features import warnings

WARNING = (
    "UserWarning: {}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor.\n"
)


@pytest.mark.parametrize("operation", ["var", "std"])
def test_a_variance_of_too_few_values_is_counted(tmp_path: Path, operation: str) -> None:
    (tmp_path / "job.log").write_text("step 1 loss 2.0\n" + 2 * WARNING.format(operation) + "step 2 loss 1.9\n")
    found = la.diagnose(tmp_path / "job.log").features

    assert found.values["variance_warning_count"] == 2
    assert found.values["variance_warning_operation"] == operation
    assert found.witnesses["variance_warning_count"].line == 2


def test_a_log_without_the_warning_has_none(tmp_path: Path) -> None:
    """0 with a log, NULL without one."""
    (tmp_path / "job.log").write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
    (tmp_path / "metrics.csv").write_text("step,loss\n1,2.0\n2,1.9\n")

    assert la.diagnose(tmp_path / "job.log").features.values["variance_warning_count"] == 0
    values = la.diagnose(tmp_path / "metrics.csv").features.values
    assert [values[feature.name] for feature in warnings.FEATURES] == [None, None]

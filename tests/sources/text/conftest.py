"""What tests of job logs share."""

from pathlib import Path

import pytest


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a test writes the output of job 4711."""
    return tmp_path / "slurm-4711.out"

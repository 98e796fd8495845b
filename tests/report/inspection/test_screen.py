"""Checkpoints on a terminal."""

from pathlib import Path

import pytest

from loganalyst.model import CheckpointScan, Inspection, InspectionFinding, TensorStats
from loganalyst.report.inspection import screen


def tensor(name: str, nan: int = 0, norm: float = 1.0) -> TensorStats:
    return TensorStats(name, (2, 2), "float32", 4, nan, 0, 1, 1, -1.0, 2.0, 0.5, 1.0, norm)


def inspection(*tensors: TensorStats, finding: InspectionFinding | None = None) -> Inspection:
    scan = CheckpointScan(Path("a.pt"), "torch", 2048, tensors, (), 8, None, (), (), None, (0.1, 0.1), None, 1500)
    return Inspection((scan,), (), (finding,) if finding else ())


@pytest.mark.parametrize(
    ("severity", "verdict"),
    [
        (None, "✓ Everything is finite"),
        ("note", "✓ Everything is finite"),
        ("warning", "✗ Everything is finite, but 1 thing is wrong"),
        ("unusable", "✗ Unusable: values that are not finite"),
    ],
)
def test_the_worst_finding_is_the_verdict(severity, verdict):
    """A note is no fault."""
    finding = InspectionFinding("zeros", severity, Path("a.pt"), "x") if severity else None

    assert screen.render(inspection(finding=finding)).splitlines()[0] == verdict


def test_the_most_notable_tensors_come_first():
    """Non-finite values come before large norms; the others are counted."""
    lines = screen.render(
        inspection(tensor("small"), tensor("large", norm=9.0), tensor("bad", nan=1)), top=2
    ).splitlines()

    assert [line.split()[0] for line in lines[-4:-1]] == ["tensor", "bad", "large"]
    assert lines[-1] == "  … and 1 more tensor (--top)"
    assert "  State      step 1,500 · rate 0.1" in lines

"""Which curves share a panel, the held-out gap, and thinning."""

import numpy as np
import pytest

from loganalyst import model
from loganalyst.model import Role
from loganalyst.report.diagnosis.html.curves import GAP, held_out_gap, panels, thinned
from tests.report.conftest import GRAD, LOSS, RATE, VAL, curve


def test_curves_are_grouped_by_role():
    """Training and held-out loss share a panel. Readings of the machine come last, other step axes are separate."""
    steps = np.arange(100)
    memory = Role("gpu_memory", "memory", "up", False)
    curves = [
        curve("gpu", memory, steps, np.ones(100)),
        curve("lr", RATE, steps, np.ones(100)),
        curve("loss", LOSS, steps, np.ones(100)),
        curve("val_loss", VAL, steps[::10], np.ones(10)),
        curve("epoch_norm", GRAD, [1, 2, 3], [1, 1, 1]),
    ]
    found = panels(model.Diagnosis(run=model.Run(), status="healthy", confidence=1, curves=curves))

    assert [(p.title, [c.metric for c in p.curves], p.shared, p.machine) for p in found] == [
        ("Loss", ["loss", "val_loss"], True, False),
        ("Learning rate", ["lr"], True, False),
        (GAP, ["val_loss − loss"], True, False),
        ("Gradient norm", ["epoch_norm"], False, False),
        ("Memory of the GPU", ["gpu"], True, True),
    ]


def test_a_monitor_that_counts_its_readings_has_its_own_axis():
    """Ten times as many readings as steps would press the curves against the left edge."""
    memory = Role("gpu_memory", "memory", "up", False)
    curves = [curve("loss", LOSS, range(100), np.ones(100)), curve("gpu", memory, range(1000), np.ones(1000))]
    found = panels(model.Diagnosis(run=model.Run(), status="healthy", confidence=1, curves=curves))

    assert [(p.title, p.shared) for p in found] == [("Loss", True), ("Memory of the GPU", False)]


def test_curves_of_different_sizes_do_not_share_a_panel():
    """A term of 100 would flatten one of 0.01."""
    term = Role("loss_component", "a term", "up", True)
    curves = [curve(name, term, range(9), np.full(9, size)) for name, size in (("a", 0.01), ("b", 100), ("c", 0.02))]
    found = panels(model.Diagnosis(run=model.Run(), status="healthy", confidence=1, curves=curves))

    assert [[c.metric for c in p.curves] for p in found] == [["a", "c"], ["b"]]


def test_the_gap_is_validation_minus_training():
    """The gap is given at validation steps. There is none where training was not logged around them."""
    train = curve("loss", LOSS, range(101), np.linspace(2, 1, 101))
    val = curve("val_loss", VAL, [0, 50, 100, 150], [2.5, 2.0, 1.75, 1.0])
    gap = held_out_gap([train, val])

    assert gap is not None
    assert gap.steps.tolist() == [0, 50, 100]
    assert gap.values == pytest.approx([0.5, 0.5, 0.75])
    assert held_out_gap([train]) is None
    assert held_out_gap([train, curve("val_loss", VAL, [0, 1], [1, 1])]) is None


def test_thinning_keeps_extremes_ends_and_missing_values():
    """Of 10,000 values about 100 are left, among them the single spike, the dip and both edges of the NaN."""
    values = np.sin(np.arange(10_000) / 500)
    values[1234], values[5678] = 50, -50
    values[8000:8005] = np.nan
    kept = thinned(values, 100)

    assert {0, 1234, 5678, 7999, 8000, 8004, 8005, 9999} <= set(kept.tolist())
    assert len(kept) <= 110
    assert (np.diff(kept) > 0).all()
    assert thinned(values, 10_000).tolist() == list(range(10_000))

"""The findings that are marked on a curve, and the peak of a spike."""

import numpy as np

from loganalyst.model import Curve, Role, table
from loganalyst.report.common.curvemarks import COLOURS, MARKS, findings_on, spike_peak

FINDINGS = table(
    "findings",
    {"metric": ["m", "m", "other", "m"], "kind": ["spike", "variance", "spike", "level_up"], "step": [1, 1, 1, None]},
)


def curve(values: list[float], role: str = "train_loss") -> Curve:
    n = len(values)
    nan = np.full(n, np.nan)
    of = Role(role, "", "up", judged=True)
    return Curve("m", of, np.arange(n) * 10, np.array(values), nan, nan, np.zeros(n, np.int32), np.full(n, -1))


def test_only_findings_with_a_mark_and_a_step_are_kept():
    """A change of noise has no mark; a finding without a step has no place; a learning rate has no marks."""
    assert findings_on(curve([1.0]), FINDINGS)["kind"].to_list() == ["spike"]
    assert findings_on(curve([1.0], "learning_rate"), FINDINGS).height == 0


def test_the_peak_is_the_value_farthest_from_the_median():
    """Within the span of the spike, with NaN left out; None where nothing finite is there."""
    values = [1.0, 1.0, 3.0, np.nan, -4.0, 1.0, 99.0]

    assert spike_peak(curve(values), {"step": 10, "end_step": 40}) == 4
    assert spike_peak(curve(values), {"step": 20, "end_step": None}) == 2
    assert spike_peak(curve(values), {"step": 30, "end_step": 30}) is None


def test_every_mark_has_a_colour():
    """The names of colours in MARKS exist."""
    assert {name for name, _, _ in MARKS.values()} <= COLOURS.keys()

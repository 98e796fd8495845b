"""The shared part of counterfactuals."""

import math

from loganalyst.replaying.bench import Change
from loganalyst.replaying.counterfactual import compare, describe_rise
from tests.replaying import entries


def test_a_change_that_removes_the_fault_is_named_with_its_rise(bench, limits):
    there = bench(entries.rate_too_high(), start=50, limits=limits("lr_counterfactual"))
    found = compare(there, 0, {"tenth": Change(rate=0.01)})

    assert (found.outcome, found.reproduced, found.start) == ("vanished", True, 50)
    assert found.values["rise tenth"] < there.limits["vanished"]
    assert len(found.series["tenth"]) == 40
    assert compare(there, 0, {"nothing": Change()}).outcome == "stayed"


def test_a_rise_in_words():
    words = [describe_rise(rise) for rise in (1.5, math.inf, math.nan)]

    assert words == ["1.5 times its level", "not finite", "no level to compare with"]

"""Differences that chance may explain."""

from dataclasses import replace

from loganalyst.comparing.comparisonresult import Regression, SeedGroup, Seeds, Versus
from loganalyst.report.comparison.differences import scaling_part, seed_part, set_part


def test_groups_of_seeds_are_compared(small):
    """The sentence says how many seeds would decide."""
    groups = (SeedGroup("g1", {"lr": "0.1"}, ("a", "b"), 2.0, 0.1), SeedGroup("g2", {"lr": "1"}, ("c",), 2.2, 0.1))
    versus = Versus("g1", "g2", 0.2, -0.1, 0.5, 0.2, False, 6)
    (part,) = seed_part(replace(small, seeds=Seeds(0.1, 1, groups, (versus,))))

    assert part.rows == (("g1", "2 ± 0.1", "2", "lr 0.1"), ("g2", "2.2 ± 0.1", "1", "lr 1"))
    assert part.notes[0] == "Another seed changes the objective by 0.1 (standard deviation, 1 degree of freedom)"
    assert part.notes[1].endswith("not decided; 6 seeds each would likely decide a difference of this size")


def test_two_sets_are_compared_metric_by_metric(small):
    """Without sets there is no section; a scaling law is a sentence."""
    worse = Regression("val", "val_loss", 2.0, 2.5, 3, 4, 0, 0.5, 0.4, 0.6, 0.01, "worse")
    (part,) = set_part(replace(small, sets=("old", "new"), regressions=(worse,), changed={"lr": ("0.1", "0.2")}))

    assert part.title == "new against old"
    assert part.rows == (("✗ worse", "val", "2", "2.5", "+0.5 (+0.4 to +0.6)", "0.01", "3 + 4"),)
    assert part.notes == ("Changed in all new runs: lr 0.1 → 0.2",)
    assert [*set_part(small)] == []
    assert [part.notes for part in scaling_part(small)] == [
        ("E + A x^-a over tokens (3 runs, a factor of 8): it falls",)
    ]

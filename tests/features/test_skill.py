"""Features of scores compared with those of a constant answer."""

from collections.abc import Callable

import pytest

from loganalyst.features import skill
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


@pytest.mark.parametrize(
    ("metric", "values", "best", "score", "of_chance"),
    [
        ("val_r2", [-9.0, -0.5, -2.0], -0.5, -0.5, 0.0),
        ("val_auc", [0.5, 0.75, 0.6], 0.5, 0.75, 0.5),
        ("val_auc", [50.0, 75.0, 60.0], 0.5, 75.0, 50.0),
        ("val_mcc", [0.0, 0.2], 0.2, 0.2, 0.0),
    ],
)
def test_the_way_from_a_constant_answer(
    features_of: FeaturesOf, metric: str, values: list[float], best: float, score: float, of_chance: float
) -> None:
    """R² and MCC begin at 0, an AUC at 1/2, in per cent at 50."""
    row = features_of({metric: values}).values

    assert row["val_skill_best"] == pytest.approx(best)
    assert (row["val_skill_metric"], row["val_skill_points"]) == (metric, len(values))
    assert (row["val_skill_score"], row["val_skill_of_chance"]) == (score, of_chance)


def test_the_score_with_the_highest_share_counts(features_of: FeaturesOf) -> None:
    """One score that shows skill is enough."""
    row = features_of({"val_r2": [-1.0, -0.5], "val_pearson": [0.1, 0.4]}).values

    assert (row["val_skill_metric"], row["val_skill_best"]) == ("val_pearson", 0.4)


def test_scores_without_a_known_chance_have_no_values(context_of: Callable[..., Context]) -> None:
    """A constant answer may have any F1, and an area under the precision-recall curve depends on the classes."""
    assert skill.compute(context_of({"val_f1": [0.0, 0.1], "val_pr_auc": [0.1, 0.2]})) == {}


def test_an_area_far_below_chance_is_of_another_curve(context_of: Callable[..., Context]) -> None:
    """MMPose's AUC is over the distance of key points, and begins near 0."""
    assert skill.compute(context_of({"val_auc": [0.01, 0.07, 0.3]})) == {}
    assert skill.compute(context_of({"val_auc": [0.41, 0.48, 0.45]}))["val_skill_points"] == 3

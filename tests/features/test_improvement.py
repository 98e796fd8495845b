"""Features of the objectives: whether anything got better."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import improvement
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0).normal(0, 0.05, 60)


@pytest.mark.parametrize(
    ("metric", "values", "improved", "kept"),
    [
        ("train_loss", 1 - np.arange(60) / 100 + NOISE, True, False),
        ("train_loss", 1 + NOISE, False, False),
        ("train_loss", 1 + np.arange(60) / 100 + NOISE, False, False),
        ("val_acc", 0.3 + np.arange(60) / 150 + NOISE / 5, True, True),
        ("val_acc", 0.6 - np.arange(60) / 150 + NOISE / 5, False, False),
        ("reward", np.where(np.arange(60) < 40, np.arange(60) / 10.0, 0.5) + NOISE, True, False),
    ],
)
def test_improvements(features_of: FeaturesOf, metric: str, values: np.ndarray, improved: bool, kept: bool) -> None:
    """A loss improves downwards, a score upwards; only a score that stays at its best is kept."""
    found = features_of({metric: values.tolist()}).values

    assert (found["objective_improved"], found["score_improved"]) == (improved, kept)
    assert (found["objective_points"], found["objective_best_metric"]) == (60, metric)


def test_a_loss_that_fell_at_once_and_rose_later_improved(features_of: FeaturesOf) -> None:
    """Its first values count, not only the level of its first tenth."""
    values = [0.8, 0.5, 0.2, *[0.1] * 5, *np.linspace(0.1, 0.3, 25), *[0.2] * 27] + NOISE / 10

    assert features_of({"loss": values.tolist()}).values["objective_improved"] is True


def test_terms_stand_for_a_loss_that_is_not_logged(features_of: FeaturesOf) -> None:
    """With the loss itself, they do not count."""
    term, still = (1 - np.arange(60) / 100 + NOISE).tolist(), (1 + NOISE).tolist()

    assert features_of({"cls_loss": term, "reg_loss": still}).values["objective_improved"] is True
    assert features_of({"cls_loss": term, "loss": still}).values["objective_improved"] is False


def test_too_few_values(features_of: FeaturesOf) -> None:
    """Below six values nothing is known."""
    found = features_of({"train_loss": [3.0, 2.0, 1.0]}).values

    assert found["objective_improved"] is None
    assert found["objective_points"] == 3


@pytest.mark.parametrize(
    ("metric", "values", "steady"),
    [
        ("train_loss", [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], True),
        ("train_loss", [6.0, 5.0, 4.0, 2.0, 3.0, 1.0], False),
        ("val_acc", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], True),
        ("val_acc", [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], False),
        ("train_loss", [5.0, 4.0, 3.0, 2.0, 1.0], False),  # chance orders five values too often
        ("train_loss", [40.0 - n for n in range(30)], False),  # enough for a standard error
    ],
)
def test_few_values_improve_one_by_one(features_of: FeaturesOf, metric: str, values: list[float], steady: bool) -> None:
    """In the direction that is better."""
    assert features_of({metric: values}).values["objective_steady"] is steady


@pytest.mark.parametrize(
    ("metric", "values", "best"),
    [
        ("loss", [2.38, 2.35, 2.51, 2.36], False),
        ("loss", [2.38, 2.35, 2.51, 2.34], True),
        ("val_acc", [0.6, 0.5, 0.7], True),
        ("reward", [0.0, 0.0, 0.0, 0.0], False),  # nothing got better
        ("loss", [2.0, 1.0], False),  # two values are in order by chance
        ("loss", [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], False),  # as many as a trend needs
    ],
)
def test_three_to_five_values_may_end_at_their_best(
    features_of: FeaturesOf, metric: str, values: list[float], best: bool
) -> None:
    """In the direction that is better."""
    assert features_of({metric: values}).values["objective_ends_best"] is best


def test_a_log_that_starts_late_does_not_show_that_nothing_improved(features_of: FeaturesOf) -> None:
    """The end of a run may be flat. A rise counts wherever the log starts."""

    def late(values: list[float]) -> object:
        steps = list(range(4000, 4000 + len(values)))
        points = table("points", {"session": 0, "metric": "val_acc", "step": steps, "value": values, "source": "m.csv"})
        return features_of({}, points=points).values["objective_improved"]

    assert late([0.555] * 40) is None
    assert late([0.5 + 0.01 * n for n in range(40)]) is True
    assert features_of({"val_acc": [0.555] * 40}).values["objective_improved"] is False


def test_a_run_without_objectives_has_no_values(context_of: Callable[..., Context]) -> None:
    """A learning rate is no objective."""
    assert improvement.compute(context_of({"lr": [1.0] * 20})) == {
        "objective_known": False,
        "objective_steady": False,
        "objective_ends_best": False,
    }
    assert improvement.compute(context_of({"reward": [1.0, 2.0]}))["objective_known"] is True


@pytest.mark.parametrize(
    ("metric", "slope", "fell"),
    [
        ("recon_loss", -0.01, True),
        ("val_loss", -0.01, True),
        ("recon_loss", -0.002, False),  # by 12 %
        ("val_loss", 0.01, False),
        ("learning_rate", -0.01, False),
    ],
)
def test_a_part_that_falls_shows_that_the_model_learns(
    features_of: FeaturesOf, metric: str, slope: float, fell: bool
) -> None:
    """Of a loss that rises, the reconstruction or the held-out value may fall; no other part counts."""
    steps = np.arange(60)
    rising, part = 1 + 0.005 * steps + NOISE / 5, 1 + slope * steps + NOISE / 5

    assert features_of({"train_loss": rising.tolist(), metric: part.tolist()}).values["part_fell"] is fell
    assert features_of({"train_loss": rising.tolist()}).values["part_fell"] is False


@pytest.mark.parametrize(
    ("curves", "names"),
    [
        ({"train_loss": NOISE, "val_loss": NOISE}, "loss"),
        ({"train_loss": NOISE, "val_acc": NOISE}, "loss or score"),
        ({"reward": NOISE, "success_rate": NOISE}, "reward or success rate"),
        ({"fid": 40 + NOISE}, "distance of samples"),
    ],
)
def test_the_objectives_have_names(features_of: FeaturesOf, curves: dict[str, np.ndarray], names: str) -> None:
    """Each kind once."""
    found = features_of({name: values.tolist() for name, values in curves.items()}).values

    assert found["objective_names"] == names

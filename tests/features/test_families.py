"""The feature row: known values are exact and typed, unknown values are None."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst import features
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NAN = float("nan")
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()


def test_nothing_logged_is_nothing_known(features_of: FeaturesOf) -> None:
    """Without metrics, only facts about the run itself are known, and none is a made-up 0."""
    known = {k for k, v in features_of({}).values.items() if v is not None}

    assert known <= {
        "run_status", "run_is_running", "run_longest_metric", "run_evaluated", "run_log_expected", "run_end_told",
        "end_is_regular", "run_stopped_early", "end_by_time_limit", "device_seen_idle", "batches_scatter",
        "objective_ends_best", "training_boosts", "run_counted_to_plan",
        "objective_known", "objective_steady", "run_end_line_missing", "run_steps_are_rows", "scores_may_be_separate",
        "lr_known", "rl_loss_ran_away", "val_accuracy_never_learned", "val_score_begins_good", "val_loss_swings",
    }  # fmt: skip


def test_every_declared_feature_has_a_column(features_of: FeaturesOf) -> None:
    """The row has exactly the declared features, in order, and no NaN."""
    row = features_of({"loss": DECAY, "grad_norm": [1.0] * 200, "lr": [0.1] * 200})

    assert list(row.values) == list(features.declared())
    assert not any(isinstance(v, float) and np.isnan(v) for v in row.values.values())


def test_declared_types(features_of: FeaturesOf) -> None:
    """A value has the type its declaration says."""
    kinds = {"float": (float, int), "int": int, "bool": bool, "text": str}
    row = features_of({"loss": DECAY, "val_loss": DECAY, "reward": DECAY, "lr": DECAY, "kl": DECAY, "grad_norm": DECAY})
    wrong = {
        name: value
        for name, value in row.values.items()
        if value is not None and not isinstance(value, kinds[features.declared()[name].dtype])
    }

    assert wrong == {}


@pytest.mark.parametrize("values", [[NAN] * 20, [1.0], [float("inf")] * 5, [1e308] * 10 + [-1e308] * 10, [5e-324] * 20])
def test_any_curve_gives_a_row(features_of: FeaturesOf, values: list[float]) -> None:
    """Curves without finite values, with one value, or near the float limits give a row without warnings."""
    names = (
        "loss", "val_loss", "val_acc", "train_acc", "grad_norm", "lr", "loss_cls", "loss_box", "kl", "recon_loss",
        "codebook_perplexity", "d_loss", "g_loss", "reward", "entropy", "approx_kl", "loss_scale", "skipped_steps",
    )  # fmt: skip
    row = features_of(dict.fromkeys(names, values))

    assert not any(isinstance(v, float) and np.isnan(v) for v in row.values.values())

"""Which of the held-out accuracies, scores and error rates are judged."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import loganalyst
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_precision_and_recall_count_only_without_f1(features_of: FeaturesOf) -> None:
    """Recall given up for precision is no loss if F1 shows both."""
    falls = {"Recall": [0.99, 0.9, 0.8, 0.7], "Precision": [0.2, 0.3, 0.4, 0.5]}

    assert features_of({**falls, "F1 Score": [0.3, 0.4, 0.5, 0.6]}).values["val_score_metric"] == "F1 Score"
    assert features_of(falls).values["val_score_metric"] == "Recall"
    average = {"average_precision": [0.2, 0.3, 0.4, 0.5], "val_recall": [0.9] * 4}
    assert features_of(average).values["val_score_metric"] == "average_precision"


def test_the_score_of_the_set_with_the_judged_loss_comes_first(tmp_path: Path) -> None:
    """Not the first one in the file."""
    logged = pl.DataFrame(
        {
            "step": np.arange(20),
            "train_loss": np.linspace(1.5, 0.3, 20),
            "val_ood/loss": np.linspace(1.4, 1.7, 20),
            "val_id/loss": np.linspace(1.1, 0.4, 20),
            "val_ood/acc": np.linspace(0.5, 0.4, 20),
            "val_id/acc": np.linspace(0.6, 0.9, 20),
        }
    )
    logged.write_csv(tmp_path / "metrics.csv")
    row = loganalyst.diagnose(tmp_path).features.values

    assert (row["val_loss_metric"], row["val_score_metric"]) == ("val_id/loss", "val_id/acc")

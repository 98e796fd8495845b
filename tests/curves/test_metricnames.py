"""What the words of a metric's name say."""

from loganalyst.curves.metricnames import measure, names_held_out, names_split, normalise, score_of_chance


def test_normalised_names() -> None:
    """Anything that separates words becomes one underscore."""
    assert normalise("metrics/mAP_0.5:0.95 (avg)") == "metrics_map_0_5_0_95_avg"


def test_words_for_the_data_are_no_measure() -> None:
    """Capitals begin words, and a value of chance is known for some scores only."""
    assert measure("valSSIM") == measure("train/ssim") == "ssim"
    assert [names_split(name) for name in ("valLoss", "loss", "train_x")] == [True, False, True]
    assert [names_held_out(name) for name in ("dev_loss", "train_loss")] == [True, False]
    assert [score_of_chance(name) for name in ("val_r2", "roc_auc", "pr_auc", "acc")] == [0.0, 0.5, None, None]

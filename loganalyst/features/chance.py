"""Features of guessing: does a loss begin or end at ln K, or an accuracy stay at 1/K, as a model that knows nothing has?"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, seen
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("config_classes", "int", "classes", "largest number of classes or tokens in the config", "config"),
    Feature("train_loss_chance_classes", "int", "classes", "K if the training loss ends pinned at ln K, the loss of guessing among K classes (K: 2 to 20, 100, 1000, or from the config); 0 otherwise", "train_loss"),
    Feature("train_loss_first_chance_ratio", "float", "ratio", "first level of the training loss divided by ln K, with K from the config; only where no loss terms are logged", "train_loss"),
    Feature("train_loss_last_chance_ratio", "float", "ratio", "last level of the training loss divided by ln K, with K from the config; only where no loss terms are logged", "train_loss"),
    Feature("train_loss_floor", "float", "loss", "lowest possible cross-entropy with the label smoothing and the classes of the config", "config"),
    Feature("train_loss_floor_ratio", "float", "ratio", "last level of the training loss divided by train_loss_floor", "train_loss"),
    Feature("val_score_chance_classes", "int", "classes", "K if the held-out accuracy stays at 1/K, the accuracy of guessing among K classes (K: 2 to 20, or from the config); 0 otherwise", "val_accuracy"),
)  # fmt: skip

ANY = tuple(range(2, 21))  # classes that are tried where none are told
COMMON = (100, 1000)  # and of the usual data sets, where the loss begins there, too
KEYS = (
    "num_classes",
    "n_classes",
    "nb_classes",
    "nclasses",
    "num_labels",
    "vocab_size",
    "n_vocab",
    "padded_vocab_size",
)
FEWEST = 8  # values of a loss that tell


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    told = told_classes(context)
    out: Computed = {"config_classes": max(told, default=None)}
    return out | _loss(context, told) | _floor(context, told) | _score(context, told)


def told_classes(context: Context) -> list[int]:
    """The numbers of classes that the config tells."""
    return [int(k) for key in KEYS if (k := context.number(key)) is not None and k >= 2 and k == int(k)]


def _floor(context: Context, told: list[int]) -> Computed:
    """The entropy of smoothed labels: 1 - s + s/K for the right class, s/K for each other one."""
    smoothing = context.number("label_smoothing", "label_smoothing_factor")
    if smoothing is None or not 0 < smoothing < 1 or not told:
        return {}
    rest = smoothing / max(told)
    right = 1 - smoothing + rest
    floor = -right * float(np.log(right)) - (max(told) - 1) * rest * float(np.log(rest))
    curves = context.of("train_loss")
    if not curves or context.of("loss_component"):
        return {"train_loss_floor": floor}
    return {
        "train_loss_floor": floor,
        "train_loss_floor_ratio": (ratio(last_level(curves[0].values), floor), seen(curves[0])),
    }


def _loss(context: Context, told: list[int]) -> Computed:
    curves = context.of("train_loss")
    if not curves:
        return {}
    x = curves[0].values[np.isfinite(curves[0].values)]
    out: Computed = {"train_loss_chance_classes": _pinned(x, told)} if x.size >= FEWEST else {}
    if told and not context.of("loss_component"):  # a sum of terms is no cross-entropy
        chance = float(np.log(max(told)))
        out["train_loss_first_chance_ratio"] = (ratio(first_level(x), chance), seen(curves[0]))
        out["train_loss_last_chance_ratio"] = (ratio(last_level(x), chance), seen(curves[0]))
    return out


def _pinned(x: NDArray[np.float64], told: list[int]) -> int:
    """K where half of the last 30 % and their median lie near ln K, else 0.

    A loss that came down to ln K step by step is no guess, whatever it ends at: an untrained model guesses. So the
    loss either begins there and never left (or was lost again after it had learned), or lies there from the first
    tenth of the run on, thrown away at once.
    """
    n = x.size
    tail, start, early = x[int(0.7 * n) :], float(x[:3].min()), float(np.median(x[n // 10 : max(n // 5, 2)]))
    classes = np.array([*ANY, *COMMON, *told])
    level = float(np.median(tail))
    k = int(classes[np.argmin(np.abs(np.log(classes) - level))])
    chance = float(np.log(k))
    spread = np.median(np.abs(tail - chance))
    pinned = (
        abs(level - chance) < feature_limit("chance_level_near") * chance
        and spread < feature_limit("chance_spread_near") * chance
    )
    if k in COMMON and k not in told:
        return k if pinned and abs(start - chance) < feature_limit("chance_start_near") * chance else 0
    highest = "chance_start_few" if k <= feature_limit("few_classes") else "chance_start_many"
    began = start < feature_limit(highest) * chance
    stayed = abs(early - chance) < feature_limit("chance_early_near") * chance
    lost = began and float(np.median(x[n // 3 : n // 2])) < feature_limit("loss_below_chance") * chance
    return k if pinned and (stayed or lost) else 0


def _score(context: Context, told: list[int]) -> Computed:
    curves = [c for c in context.of("val_accuracy") if np.isfinite(c.values).any()]
    if not curves:
        return {}
    x = curves[0].values[np.isfinite(curves[0].values)]
    return {"val_score_chance_classes": _guessed(x / 100 if x.max() > 1.5 else x, told)} if x.size >= 3 else {}


def _guessed(shares: NDArray[np.float64], told: list[int]) -> int:
    """K where all `shares` lie within 0.03 of 1/K and most within 0.01 (of a told K above 20: 1/K and half of it)."""
    level = float(np.median(shares))
    for k in (k for k in told if k > max(ANY)):
        if abs(shares - 1 / k).max() < 1 / k and abs(level - 1 / k) < 0.5 / k:
            return k
    k = int(np.clip(np.round(1 / max(level, 1e-9)), min(ANY), max(ANY)))
    off = np.abs(shares - 1 / k)
    return k if off.max() < 0.03 and np.median(off) < 0.01 else 0

"""Features of guessing: does a loss begin or end at ln K, or an accuracy stay at 1/K, as in an untrained model?"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.features.setup import configured_batch
from loganalyst.features.shares import as_shares, of_tokens, share
from loganalyst.model import Feature
from loganalyst.signals.standarderror import trend_z
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("config_classes", "int", "classes", "largest number of classes or tokens in the config", "config"),
    Feature("train_loss_chance_classes", "int", "classes", "K if the training loss ends pinned at ln K, the loss of guessing among K classes; 0 otherwise (K: from the config, or one at whose 1/K an accuracy ends; not known without such a K)", "train_loss"),
    Feature("train_loss_first_chance_ratio", "float", "ratio", "first level of the training loss, or its first value if that is lower, divided by ln K, with K from the config; only where no loss terms are logged", "train_loss"),
    Feature("train_loss_samples_summed", "float", "samples", "batch size, if the first training loss is ln K times the batch size (a sum over the batch); 0 otherwise (not known without both sizes)", "train_loss"),
    Feature("train_loss_after_first_ratio", "float", "ratio", "median of the second to fifth training loss divided by the first (large: the first update broke the model)", "train_loss"),
    Feature("train_loss_last_chance_ratio", "float", "ratio", "last level of the training loss divided by ln K, with K from the config; only where no loss terms are logged", "train_loss"),
    Feature("train_loss_floor", "float", "loss", "lowest possible cross-entropy with the label smoothing and the classes of the config", "config"),
    Feature("train_loss_floor_ratio", "float", "ratio", "last level of the training loss divided by train_loss_floor", "train_loss"),
    Feature("val_score_chance_classes", "int", "classes", "K if the held-out accuracy (not that of tokens) stays at 1/K, the accuracy of guessing among K classes (K: 2 to 20, or from the config); 0 otherwise", "val_accuracy"),
)  # fmt: skip

SMALL_CLASS_COUNTS = tuple(range(2, 21))  # tried if the config names none
DATASET_CLASS_COUNTS = (100, 1000)  # of common data sets; they count only if the loss also begins at ln K
CLASS_KEYS = (
    "num_classes",
    "n_classes",
    "nb_classes",
    "nclasses",
    "num_labels",
    "vocab_size",
    "n_vocab",
    "padded_vocab_size",
)
DEFAULT_LABELS = ("LABEL_0", "LABEL_1")  # of every Hugging Face model that was given none
AFTER_FIRST = 4  # losses after the first
MIN_SUMMED = 8.0  # samples from which a sum cannot be mistaken for large initial weights
SUM_TOLERANCE = 0.1  # of the ratio of a sum to the loss of guessing


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    configured = configured_classes(context)
    out: Computed = {"config_classes": max(configured, default=None)}
    return out | _loss(context, configured) | _smoothing_floor(context, configured) | _score(context, configured)


def configured_classes(context: Context) -> list[int]:
    """The numbers of classes in the config. A model with named labels chooses among those, not among its tokens."""
    labels = _named_labels(context)
    if labels is not None:
        return [labels] if labels >= 2 else []
    return [int(k) for key in CLASS_KEYS if (k := context.number(key)) is not None and k >= 2 and k == int(k)]


def _named_labels(context: Context) -> int | None:
    """The number of labels that a Hugging Face config names; None without names or with the default pair, which models
    without labels have too.
    """
    if context.text("id2label.0") is None:
        return None
    numbers = pl.col("key").str.extract(r"\bid2label\.([0-9]+)$").alias("label")  # `model_config.id2label.0`
    named = context.run.config.select(numbers, "value").drop_nulls("label").unique("label")
    default = named.height == len(DEFAULT_LABELS) and named["value"].is_in(DEFAULT_LABELS).all()
    return None if default else named.height


def _smoothing_floor(context: Context, configured: list[int]) -> Computed:
    """The entropy of smoothed labels: 1 - s + s/K for the right class, s/K for each other class."""
    smoothing = context.number("label_smoothing", "label_smoothing_factor")
    if smoothing is None or not 0 < smoothing < 1 or not configured:
        return {}
    rest = smoothing / max(configured)
    right = 1 - smoothing + rest
    floor = -right * float(np.log(right)) - (max(configured) - 1) * rest * float(np.log(rest))
    curves = context.with_role("train_loss")
    if not curves or context.with_role("loss_component"):
        return {"train_loss_floor": floor}
    return {
        "train_loss_floor": floor,
        "train_loss_floor_ratio": (ratio(last_level(curves[0].values), floor), witness_at(curves[0])),
    }


def _begin(x: NDArray[np.float64]) -> float | None:
    """The level before training: of the first value and the first level the lower one. A loss that rises at once, as with
    too high a rate, begins at its first value.
    """
    level = first_level(x)
    return None if level is None else min(level, float(x[0]))


def _samples_summed(context: Context, times_guessing: float | None) -> float | None:
    """The batch size if the first loss is that of guessing times it, 0 if not; None where either is not known."""
    batch = configured_batch(context)
    if batch is None or times_guessing is None:
        return None
    return batch if batch >= MIN_SUMMED and abs(times_guessing / batch - 1) < SUM_TOLERANCE else 0.0


def _loss(context: Context, configured: list[int]) -> Computed:
    curves = context.with_role("train_loss")
    if not curves:
        return {}
    x = curves[0].values[np.isfinite(curves[0].values)]
    known = [*configured, *_classes_of_accuracies(context)]
    out: Computed = {}
    if x.size > AFTER_FIRST and x[0] > 0:
        out["train_loss_after_first_ratio"] = (float(np.median(x[1 : 1 + AFTER_FIRST]) / x[0]), witness_at(curves[0]))
    if x.size >= feature_limit("chance_loss_points") and known:
        classes = _pinned_classes(x, known, configured)
        out["train_loss_chance_classes"] = 0 if classes and _more_right(context, classes) else classes
    if configured and not context.with_role("loss_component"):  # a sum of terms is no cross-entropy
        chance = float(np.log(max(configured)))
        out["train_loss_first_chance_ratio"] = (ratio(_begin(x), chance), witness_at(curves[0]))
        out["train_loss_samples_summed"] = _samples_summed(context, float(x[0]) / chance if x.size else None)
        out["train_loss_last_chance_ratio"] = (ratio(last_level(x), chance), witness_at(curves[0]))
    return out


def _classes_of_accuracies(context: Context) -> list[int]:
    """Each common K at whose 1/K an accuracy ends: the median of its last 30 % is near 1/K."""
    found = []
    for curve in (c for c in context.with_role("val_accuracy", "train_accuracy") if not of_tokens(c)):
        shares = share(curve)[np.isfinite(curve.values)]
        if shares.size >= feature_limit("chance_accuracy_points"):
            level = float(np.median(shares[int(0.7 * shares.size) :]))
            tolerance = feature_limit("chance_accuracy_share")
            found += [k for k in (*SMALL_CLASS_COUNTS, *DATASET_CLASS_COUNTS) if abs(level * k - 1) < tolerance]
    return found


def _more_right(context: Context, classes: int) -> bool:
    """Whether an accuracy ended clearly above that of guessing among few classes, so that the loss is at ln K by chance.

    Of many classes the most frequent may be right so often.
    """
    if classes > max(SMALL_CLASS_COUNTS):
        return False
    levels = (last_level(share(c)) for role in ("train_accuracy", "val_accuracy") for c in context.with_role(role))
    return any(x is not None and x > feature_limit("chance_accuracy_above") / classes for x in levels)


def _pinned_classes(x: NDArray[np.float64], known: list[int], configured: list[int]) -> int:
    """K if the median of the last 30 % and half of its values lie near ln K, for a `known` K; otherwise 0.

    An untrained model guesses, so a loss that came down to ln K step by step does not count. A loss counts if it began
    at ln K and never left it, or began there and lost what it had learned. It also counts if it reached ln K within the
    first tenth of the run.
    """
    n = x.size
    tail, start, early = x[int(0.7 * n) :], float(x[:3].min()), float(np.median(x[n // 10 : max(n // 5, 2)]))
    classes = np.array(known)
    level = float(np.median(tail))
    k = int(classes[np.argmin(np.abs(np.log(classes) - level))])
    chance = float(np.log(k))
    spread = np.median(np.abs(tail - chance))
    pinned = (
        abs(level - chance) < feature_limit("chance_level_near") * chance
        and spread < feature_limit("chance_spread_near") * chance
    )
    if k in DATASET_CLASS_COUNTS and k not in configured:
        return k if pinned and abs(start - chance) < feature_limit("chance_start_near") * chance else 0
    highest = "chance_start_few" if k <= feature_limit("few_classes") else "chance_start_many"
    began = start < feature_limit(highest) * chance
    stayed = abs(early - chance) < feature_limit("chance_early_near") * chance
    lost = began and float(np.median(x[n // 3 : n // 2])) < feature_limit("loss_below_chance") * chance
    return k if pinned and (stayed or lost) else 0


def _score(context: Context, configured: list[int]) -> Computed:
    curves = [c for c in context.with_role("val_accuracy") if np.isfinite(c.values).any() and not of_tokens(c)]
    if not curves:
        return {}
    x = curves[0].values[np.isfinite(curves[0].values)]
    if x.size < 3:
        return {}
    begun = None if configured else _classes_of_first_loss(context)
    return {"val_score_chance_classes": _guessed_classes(as_shares(x), configured, begun)}


def _classes_of_first_loss(context: Context) -> int | None:
    """The K at whose ln K a loss begins and stays for its first level; None where no K up to 20 fits so well."""
    tolerance = feature_limit("chance_start_near")
    for curve in context.with_role("train_loss", "val_loss"):
        level = first_level(curve.values[np.isfinite(curve.values)])
        fitting = (k for k in SMALL_CLASS_COUNTS if level and abs(level / np.log(k) - 1) < tolerance)
        if found := next(fitting, None):
            return found
    return None


def _rose(shares: NDArray[np.float64]) -> bool:
    """Whether the shares rose steadily, and ended clearly above their first level.

    >>> _rose(np.linspace(0.06, 0.095, 30)), _rose(np.full(30, 0.0667))
    (True, False)
    """
    rising, first, last = trend_z(shares), first_level(shares), last_level(shares)
    above = 1 + feature_limit("chance_accuracy_share")
    steady = rising is not None and rising > feature_limit("chance_accuracy_trend")
    return steady and first is not None and last is not None and last > above * first


def _guessed_classes(shares: NDArray[np.float64], configured: list[int], begun: int | None = None) -> int:
    """K if all `shares` lie near 1/K and most very near, and they do not rise. For a configured K above 20 the limits
    are 1/K and half of it. Where a K up to 20 is configured, or a loss has `begun` at its ln K, no other up to 20 counts.
    """
    level = float(np.median(shares))
    if _rose(shares):
        return 0
    for k in (k for k in configured if k > max(SMALL_CLASS_COUNTS)):
        if abs(shares - 1 / k).max() < 1 / k and abs(level - 1 / k) < 0.5 / k:
            return k
    few = [k for k in configured if k in SMALL_CLASS_COUNTS] or ([begun] if begun else [])
    k = min(few or SMALL_CLASS_COUNTS, key=lambda k: abs(k - 1 / max(level, 1e-9)))
    off = np.abs(shares - 1 / k)
    near, usual = feature_limit("chance_accuracy_near"), feature_limit("chance_accuracy_usual")
    apart = feature_limit("chance_accuracy_apart") / (k * (k + 1))
    usual = max(usual, feature_limit("chance_accuracy_share") / k) if k == begun else usual
    is_near = k in (*configured, begun) or abs(level - 1 / k) < apart
    return k if is_near and off.max() < near and np.median(off) < usual else 0

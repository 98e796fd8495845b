"""Features of single classes and single input lengths of the held-out data."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

import polars as pl

from loganalyst.curves.metricnames import measure, normalise
from loganalyst.curves.rolefile import role_file
from loganalyst.features.context import Computed, Context, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

CLASS, LOSS, ACCURACY = "class_score", "length_loss", "length_accuracy"
FEATURES = (
    Feature("class_score_count", "int", "classes", "classes with a score of their own", CLASS),
    Feature("class_score_low", "float", "score", "last level of the class with the lowest score", CLASS),
    Feature("class_score_low_metric", "text", "", "metric of this class", CLASS),
    Feature("class_score_low_name", "text", "", "this class: its number in the name of the metric, with the name that the settings give it", CLASS),
    Feature("class_score_high_name", "text", "", "the class with the highest score", CLASS),
    Feature("class_score_high", "float", "score", "last level of the class with the highest score", CLASS),
    Feature("one_class_score", "float", "score", "last level of the score of one class, where no other class has one", CLASS),
    Feature("one_class_metric", "text", "", "metric of this class", CLASS),
    Feature("accuracy_over_class", "float", "score", "held-out accuracy minus one_class_score", CLASS),
    Feature("macro_score_last", "float", "score", "last level of a held-out score that weights all classes equally (macro F1, balanced accuracy, recall)", "val_score"),
    Feature("macro_score_metric", "text", "", "name of this score", "val_score"),
    Feature("accuracy_over_macro", "float", "score", "held-out accuracy minus macro_score_last (large where a few classes make up most of the data; NULL: that score may be the one of a class that the model finds)", "val_score"),
    Feature("length_count", "int", "lengths", "input lengths with a loss or accuracy of their own", LOSS),
    Feature("length_longest", "int", "tokens", "longest of these lengths", LOSS),
    Feature("length_longest_metric", "text", "", "metric of the longest length", LOSS),
    Feature("length_loss_ratio", "float", "ratio", "loss at the longest length divided by the lowest loss of any length", LOSS),
    Feature("length_accuracy_fall", "float", "score", "highest accuracy of any length minus the accuracy at the longest length", ACCURACY),
)  # fmt: skip
# the length in a name such as "val_loss_len_4096" or "acc/ctx-8k"
LENGTH = re.compile(r"(?:len|length|ctx|context|seq_?len)[^a-z0-9]?(\d+)(k?)", re.I)
# a class by its number, as in "recall/class0" or "f1_cls_3"
ONE_CLASS = re.compile(r"(?:^|[^a-z])(?:class|cls|label)[^a-z0-9]?\d+(?:$|[^0-9])", re.I)
# what follows the word, in "recall_class_1", "ap/category-person", "per_class_cat"
CLASS_NAME = re.compile(r"(?:class|cls|label|category)[^a-z0-9]?([a-z0-9].*)", re.I)
# settings with the names of classes: "id2label.1", "data.class_names.1"
NAMED_CLASS = r"(?i)(?:^|\.)(?:id2label|names|class_names|classes|label_names)\.([0-9]+)$"
# a mean over classes by its name: "macro_f1", "bal_acc", "mean_recall", "UAR"
CLASS_MEAN = re.compile(r"macro|balanced|mean|avg|(?<![a-z])(?:bal_?acc|bacc|uar)(?![a-z])", re.I)
# such a mean, or a score that is one in many programs: "val_f1", "recall"
MACRO = re.compile(r"macro|balanced|(?<![a-z])(?:bal_?acc|bacc|uar)(?![a-z])|recall|f1", re.I)
MIN_PARTS = 2  # classes or lengths to compare


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    named = _named_classes(context) | _sharing_a_measure(context.with_role("val_score", "val_accuracy"))
    return _classes(context, named) | _macro(context, named) | _lengths(context)


def _levels(curves: Sequence[Curve]) -> dict[str, float]:
    levels = {c.metric: last_level(c.values) for c in curves}
    return {metric: level for metric, level in levels.items() if level is not None}


def _classes(context: Context, named: Mapping[str, str]) -> Computed:
    scores = [c for c in context.with_role("val_score", "val_accuracy") if _of_one_class(c.metric, named)]
    known = _levels([*context.with_role(CLASS), *scores])
    if len(known) < MIN_PARTS:
        return _one_class(context, *known.popitem(), named) if known else {}
    low, high = min(known, key=lambda m: known[m]), max(known, key=lambda m: known[m])
    return {
        "class_score_count": len(known),
        "class_score_low": known[low],
        "class_score_low_metric": low,
        "class_score_low_name": _class_name(low, named),
        "class_score_high_name": _class_name(high, named),
        "class_score_high": known[high],
    }


def _one_class(context: Context, metric: str, level: float, named: Mapping[str, str]) -> Computed:
    """The score of the only class that has one, beside the accuracy on all classes."""
    whole = [c for c in context.with_role("val_accuracy") if c.metric != metric and not _of_one_class(c.metric, named)]
    accuracy = last_level(whole[0].values) if whole else None
    both = accuracy is not None and max(level, accuracy) <= 1
    return {
        "one_class_score": level,
        "one_class_metric": metric,
        "accuracy_over_class": accuracy - level if both and accuracy is not None else None,
    }


def _named_classes(context: Context) -> dict[str, str]:
    """The names of the classes in the settings, by their numbers."""
    numbers = pl.col("key").str.extract(NAMED_CLASS).alias("number")
    rows = context.run.config.select(numbers, "value").drop_nulls().unique("number", keep="first")
    return dict(rows.filter(pl.col("value").str.contains("[A-Za-z]")).iter_rows())


def _sharing_a_measure(scores: Sequence[Curve]) -> dict[str, str]:
    """Scores that differ in one word only, which names their class (`recall_fraud`, `recall_legit`), with that word."""
    classes: dict[str, dict[str, str]] = {}
    for curve in scores:
        words = [word for word in measure(curve.metric).split("_") if word]
        own = [word for word in words if word not in role_file().words["class_measures"]]
        if len(own) == 1 and len(words) == len(own) + 1 and own[0].isalpha() and own[0] not in _no_class():
            classes.setdefault((set(words) - set(own)).pop(), {})[curve.metric] = own[0]
    return {metric: name for names in classes.values() if len(names) >= MIN_PARTS for metric, name in names.items()}


@cache
def _no_class() -> frozenset[str]:
    """Words beside a measure that name no class: averages, sizes, and other measures."""
    words = role_file().words
    return words["aggregate"] | words["averages"] | words["class_measures"]


def _of_one_class(metric: str, named: Mapping[str, str]) -> bool:
    """Whether a score is that of one class, by its number, by a name that the settings have, or by a name beside a
    measure that other classes have too.
    """
    words = normalise(metric)
    return (
        metric in named
        or bool(ONE_CLASS.search(metric))
        or any(words.endswith(f"_{normalise(name)}") for name in named.values())
    )


def _class_name(metric: str, named: Mapping[str, str]) -> str:
    """The class of a metric: `1 (cat)` for `recall_class_1`, `cat` for `f1/cat`, else the metric itself."""
    if metric in named:
        return named[metric]
    hit = CLASS_NAME.search(metric)
    own = next((name for name in named.values() if normalise(metric).endswith(f"_{normalise(name)}")), None)
    if hit is None:
        return own or metric
    return f"{hit[1]} ({named[hit[1]]})" if hit[1] in named else hit[1]


def _macro(context: Context, named: Mapping[str, str]) -> Computed:
    scores = [c for c in context.with_role("val_score", "val_accuracy") if not _of_one_class(c.metric, named)]
    macro = next((c for c in scores if MACRO.search(c.metric)), None)
    if macro is None:
        return {}
    level = last_level(macro.values)
    plain = [c for c in scores if c.role.name == "val_accuracy" and not MACRO.search(c.metric)]
    accuracy = last_level(plain[0].values) if plain else None
    return {
        "macro_score_last": (level, witness_at(macro)),
        "macro_score_metric": macro.metric,
        "accuracy_over_macro": _over_macro(accuracy, level, macro.metric),
    }


def _over_macro(accuracy: float | None, level: float | None, metric: str) -> float | None:
    """NULL for a plain F1 or recall that is not low: it is that of one class, and half of that class is found."""
    if accuracy is None or level is None or max(level, accuracy) > 1:
        return None
    of_all_classes = CLASS_MEAN.search(metric) or level < feature_limit("one_class_found")
    return accuracy - level if of_all_classes else None


def _lengths(context: Context) -> Computed:
    """Features by length. Where losses and accuracies are logged, the losses set the common features."""
    out: Computed = {}
    for role in (ACCURACY, LOSS):
        known = {_length(metric): (metric, level) for metric, level in _levels(context.with_role(role)).items()}
        if len(known) < MIN_PARTS:
            continue
        longest, levels = max(known), [level for _, level in known.values()]
        metric, level = known[longest]
        out |= {"length_count": len(known), "length_longest": longest, "length_longest_metric": metric}
        if role == LOSS:
            out["length_loss_ratio"] = ratio(level, min(levels))
        else:
            out["length_accuracy_fall"] = max(levels) - level
    return out


def _length(metric: str) -> int:
    hit = LENGTH.search(metric)
    return 0 if hit is None else int(hit[1]) * (1024 if hit[2] else 1)

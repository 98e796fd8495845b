"""Of which data a metric is whose name does not say it: by its file, or by a metric of the same kind that says it."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import measure, names_held_out, names_split, normalise
from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.model import Curve

HELD_OUT = {  # by the role of a metric that does not say its data: the role of the same measure on held-out data
    "train_loss": "val_loss",
    "loss_component": "val_loss_component",
    "train_accuracy": "val_accuracy",
    "train_perplexity": "val_perplexity",
}
OF_TRAINING = ("train_loss", "train_accuracy", "train_perplexity")
MAX_RATIO = 3.0  # between the held-out and the training values of one measure, mostly
SCORES = (
    "val_score",
    "val_error_rate",
)  # roles of names that do not say their data, because they are held out as a rule
MIN_ABOVE = 0.9  # share of points at which a held-out loss lies above the training loss
MIN_SHARED = 4  # steps that two metrics share, to compare them
MIN_TIMES_AS_OFTEN = 2  # points of the training loss for each point of a metric logged at evaluations only
MIN_POINTS_OF_OTHERS = 10  # points of the longest judged curve, where one point is a final value
MIN_DIFFERING = 0.5  # share of points at which two metrics of the same steps differ if they are two


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics whose names do not say of which data they are, with the role that other witnesses show."""
    held_out = [c for c in found if claims[c.metric].role.name in HELD_OUT]
    asked = [c for c in held_out if not names_split(c.metric)]
    of_training = [c for c in held_out if names_split(c.metric) and claims[c.metric].role.name != "loss_component"]
    longest = max((c.values.size for c in found if claims[c.metric].role.judged), default=0)
    once = [c for c in asked if c.values.size == 1 and longest >= MIN_POINTS_OF_OTHERS]
    by_neighbour = dict(_by_neighbour(found, [*of_training, *asked], claims))
    by_training = dict(_by_training(asked, of_training, claims)) | by_neighbour
    by_steps = dict(_by_evaluations(asked, found, claims)) | by_training
    return dict(_by_held_out(found, claims)) | dict(_final(once, claims)) | by_steps | dict(_by_file(asked, claims))


def _by_held_out(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Scores of the training data: the run logs the same score with a word for held-out data, as Keras does. A result
    at the end says nothing of the scores before it.
    """
    scores = {metric: claimed for metric, claimed in claims.items() if claimed.role.name in SCORES}
    several = {c.metric for c in found if c.values.size > 1}
    held_out = {measure(metric) for metric in scores.keys() & several if names_held_out(metric)}
    for metric, claimed in scores.items():
        if not names_split(metric) and measure(metric) in held_out:
            yield metric, claim("other", f"{claimed.why}, but held out under another name", 1.0)


def _by_neighbour(found: Sequence[Curve], measured: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Metrics named only after held-out data, as in `accuracy Train=96 Val=83`: the measure is the neighbour's, of
    several that of the neighbour with like values.
    """
    neighbours = [c for c in measured if claims[c.metric].role.name in OF_TRAINING]
    for curve in found:
        if claims[curve.metric].role.name == "other" and names_held_out(curve.metric) and not measure(curve.metric):
            beside = [c for c in neighbours if np.array_equal(c.steps, curve.steps)]
            named = [c for c in beside if names_split(c.metric)]
            twins = named if len(named) == 1 else [c for c in named or beside if _is_like(curve, c)]
            if len(twins) == 1:
                role = HELD_OUT[claims[twins[0].metric].role.name]
                yield curve.metric, claim(role, f"logged with {twins[0].metric}", role_file().certainty.doubted)


def _is_like(curve: Curve, other: Curve) -> bool:
    """Whether the curve moves as the other does at the same steps, mostly within MAX_RATIO of it."""
    finite = np.isfinite(curve.values) & np.isfinite(other.values)
    ours, others = curve.values[finite], other.values[finite]
    if ours.size < MIN_SHARED or not ours.any() or not others.all() or np.ptp(ours) == 0 or np.ptp(others) == 0:
        return False
    ratio = float(np.median(ours / others))
    return 1 / MAX_RATIO <= ratio <= MAX_RATIO and float(np.corrcoef(ours, others)[0, 1]) > 0


def _final(once: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Accuracies that a long run logs once: the final evaluation."""
    for curve in once:
        if claims[curve.metric].role.name == "train_accuracy":
            why = f"{claims[curve.metric].why}, but logged once"
            yield curve.metric, claim("val_accuracy", why, role_file().certainty.doubted)


def _by_evaluations(asked: Sequence[Curve], found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Accuracies logged at the steps of held-out values only, where training values are logged in between."""
    held_out = [c for c in found if names_held_out(c.metric)]
    most = max((c.values.size for c in found if claims[c.metric].role.name == "train_loss"), default=0)
    measures = {measure(c.metric) for c in held_out}
    for curve in asked:
        often = most < MIN_TIMES_AS_OFTEN * curve.values.size
        if claims[curve.metric].role.name != "train_accuracy" or measure(curve.metric) in measures or often:
            continue
        beside = [c for c in held_out if np.array_equal(c.steps, curve.steps)]
        if curve.values.size >= MIN_SHARED and beside:
            why = f"{claims[curve.metric].why}, logged only with {beside[0].metric}"
            yield curve.metric, claim("val_accuracy", why, role_file().certainty.doubted)


def _by_file(asked: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Metrics of a file or folder for held-out data, such as Keras' `validation/`."""
    for curve in asked:
        word = next((w for w in _path_words(curve.source) if w in role_file().words["val_folder"]), None)
        if word:
            why = f"{claims[curve.metric].why}, in {word}"
            held_out = HELD_OUT[claims[curve.metric].role.name]
            yield curve.metric, claim(held_out, why, role_file().certainty.confirmed)


def _path_words(source: str | None) -> list[str]:
    """The names of the folders and of the file, each as one word."""
    path = PurePath(source or "")
    return [normalise(part) for part in (*path.parent.parts, path.stem)]


def _by_training(asked: Sequence[Curve], of_training: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Metrics logged with one of the same measure that says it is of the training data, and has other values."""
    for curve in asked:
        role = claims[curve.metric].role.name
        twins = [c for c in of_training if claims[c.metric].role.name == role and _is_sampled_with(curve, c)]
        if twins and all(_is_other_data(curve, twin, role) for twin in twins):
            why = f"{claims[curve.metric].why}, but it differs from {twins[0].metric}"
            yield curve.metric, claim(HELD_OUT[role], why, role_file().certainty.doubted)


def _is_sampled_with(curve: Curve, twin: Curve) -> bool:
    """Whether both were logged at the same steps, once a step, the curve perhaps at fewer of them."""
    ordered = bool((np.diff(curve.steps) > 0).all()) and bool((np.diff(twin.steps) > 0).all())
    return ordered and curve.steps.size >= MIN_SHARED and bool(np.isin(curve.steps, twin.steps).all())


def _is_other_data(curve: Curve, training: Curve, role: str) -> bool:
    """Whether the values are of other data: they differ, and losses are higher than on the training data."""
    trained = training.values[np.searchsorted(training.steps, curve.steps)]
    if role != "train_accuracy":
        return float((curve.values > trained).mean()) >= MIN_ABOVE and not _is_sum(curve.values, trained)
    return float((curve.values != trained).mean()) >= MIN_DIFFERING


def _is_sum(values: NDArray[np.float64], trained: NDArray[np.float64]) -> bool:
    """Whether the values are the training's times a number, such as that of the batches of an epoch: at the start,
    losses of other data are alike.
    """
    first = slice(0, MIN_SHARED)
    return bool(np.median(values[first]) > MAX_RATIO * np.median(trained[first]) > 0)

"""Values that a role cannot have: a share above 100 %, a loss term that is a count or dwarfs the total."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import MEASURE_WORDS, measure, normalise
from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import Entry, role_file
from loganalyst.model import Curve

LOSSES = ("train_loss", "val_loss", "loss_component", "val_loss_component")
TRAINING_LOSSES = ("train_loss", "loss_component")
TIMES = ("step_time", "data_time")
ACCURACY_OF = {"train_loss": "train_accuracy", "val_loss": "val_accuracy"}
NEVER_NEGATIVE = MEASURE_WORDS - {"nll"}  # a density above 1 makes a negative log-likelihood
_LOST, _WINS, _DRAWS = {"loss", "losses"}, {"win", "wins"}, {"draw", "draws", "tie", "ties"}
MAX_SAMPLED = 64  # points of a curve that are looked at, evenly spaced
MAX_OUTSIDE = 0.1  # share of values outside the range that glitches of a log may explain
MIN_PER_CENT = 10.0  # last value from which a rising metric between 0 and 100 is no loss
MIN_COUNT = 2.0  # median of whole numbers from which they are counts; 0 and 1 may be rounded losses
MIN_COUNTS = 3  # different whole numbers that make a count
MIN_PLACEHOLDERS = 5  # values that are all 0
MIN_CLOCK_POINTS = 10  # so many growing times in a row are no chance
MIN_RUNNING_SHARE = 0.95  # of the rows that a clock must grow at; it begins anew at a restart
ROUNDING = 1e-6  # share of a limit by which a value may exceed it


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics whose values contradict their role, with the role that it is instead."""
    entries = role_file().roles
    proposed = [(c, entries.get(claims[c.metric].role.name)) for c in found]
    asked = [(c, entry, _sampled(c)) for c, entry in proposed if entry and (entry.range or entry.total)]
    totals = _totals(found, claims, {entry.total for _, entry, _ in asked if entry.total})
    changed = {c.metric: _contradiction(entry, values, totals) for c, entry, values in asked if values.size}
    contradicted = {
        metric: claim(role, f"{claims[metric].why}, but {why}", role_file().certainty.named)
        for metric, (role, why) in changed.items()
        if why
    }
    corrected = (_negative_measures, _rising_splits, _boosted_scores, _running_clocks, _placeholders, _lost_games)
    return contradicted | {metric: to for changed in corrected for metric, to in changed(found, claims)}


def _running_clocks(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Times of a step that grow from row to row, as a clock that runs since the start does."""
    for curve in (c for c in found if claims[c.metric].role.name in TIMES):
        values = curve.values[np.isfinite(curve.values)]
        if values.size >= MIN_CLOCK_POINTS and np.mean(np.diff(values) > 0) >= MIN_RUNNING_SHARE:
            why = f"{claims[curve.metric].why}, but it grows from row to row"
            yield curve.metric, claim("wall_time", why, role_file().certainty.named)


def _rising_splits(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Metrics named only after their data that are no losses: shares that rise, as in `Acc: Train=0.96 Val=0.84`."""
    named_after = [c for c in found if claims[c.metric].role.name in ACCURACY_OF and not measure(c.metric)]
    shares = [c for c in named_after if _rises(_sampled(c))]
    for curve in shares if len(shares) == len(named_after) else ():
        role = ACCURACY_OF[claims[curve.metric].role.name]
        yield curve.metric, claim(role, f"{claims[curve.metric].why}, but it rises", role_file().certainty.doubted)


def _boosted_scores(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Boosting's `test` beside `learn` that begins at its lowest: CatBoost prints any score there, and the first trees
    lower every loss.
    """
    named = {normalise(c.metric): c for c in found if claims[c.metric].role.name in ACCURACY_OF}
    if "learn" in named and (test := named.get("test")) and test.values.size >= MIN_CLOCK_POINTS:
        begins_lowest = int(np.argmin(test.values)) == 0
        if begins_lowest and _rises(_sampled(test)) and not _rises(_sampled(named["learn"])):
            why = f"{claims[test.metric].why}, but it rises from the first tree on"
            yield test.metric, claim("val_score", why, role_file().certainty.doubted)


def _placeholders(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Training losses that are 0 at every step although the weights move, as a held-out loss with ever new values
    shows: the program logs 0 in the place of the loss.
    """
    losses = [c for c in found if claims[c.metric].role.name in TRAINING_LOSSES and c.values.size >= MIN_PLACEHOLDERS]
    held_out = [_sampled(c) for c in found if claims[c.metric].role.name == "val_loss"]
    moving = any(values.size and np.unique(values).size > values.size / 2 for values in held_out)
    for curve in (c for c in losses if moving and not c.values.any()):
        why = f"{claims[curve.metric].why}, but it is always 0 while the held-out loss moves"
        yield curve.metric, claim("other", why, role_file().certainty.named)


def _lost_games(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Losses that stand beside wins and draws of the same name, such as `eval_loss` beside `eval_win` and `eval_draw`:
    they count games.
    """
    names = {tuple(normalise(metric).split("_")) for metric in claims}
    for curve in (c for c in found if claims[c.metric].role.name in LOSSES):
        words = normalise(curve.metric).split("_")
        beside = [_WINS & _words_instead(words, names), _DRAWS & _words_instead(words, names)]
        if all(beside):
            why = f"{claims[curve.metric].why}, but it counts lost games, beside wins and draws"
            yield curve.metric, claim("other", why, role_file().certainty.named)


def _words_instead(words: list[str], names: set[tuple[str, ...]]) -> set[str]:
    """The words that other names have in the place of `loss`."""
    at = [k for k, word in enumerate(words) if word in _LOST]
    same = [name for name in names if len(name) == len(words)]
    return {name[k] for k in at for name in same if [*name[:k], *name[k + 1 :]] == [*words[:k], *words[k + 1 :]]}


def _rises(values: NDArray[np.float64]) -> bool:
    """Whether these are shares or per cent that end higher than they begin. A loss seldom ends as high as per cent."""
    if values.size < 2 or float(values[-1]) <= float(values[0]):
        return False
    return not _outside(values, 0.0, 1.0) or (not _outside(values, 0.0, 100.0) and float(values[-1]) > MIN_PER_CENT)


def _negative_measures(found: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """Losses named after a measure that cannot be negative, such as scikit-learn's `neg_mean_squared_error`."""
    losses = [c for c in found if claims[c.metric].role.name in LOSSES]
    measures = [c for c in losses if NEVER_NEGATIVE.intersection(normalise(c.metric).split("_"))]
    for curve in measures:
        values = _sampled(curve)
        if values.size and _outside(values, 0.0, math.inf):
            yield curve.metric, claim("other", f"{claims[curve.metric].why}, but its values are negative", 1.0)


def _sampled(curve: Curve) -> NDArray[np.float64]:
    """At most MAX_SAMPLED finite values, evenly spaced."""
    values = curve.values[:: -(-curve.values.size // MAX_SAMPLED)]
    return values[np.isfinite(values)]


def _totals(found: Sequence[Curve], claims: Claims, asked: set[str]) -> Mapping[str, NDArray[np.float64]]:
    """The values of the longest curve of each total's role."""
    totals = dict[str, Curve]()
    for curve in found:
        role = claims[curve.metric].role.name
        if role in asked and (role not in totals or curve.values.size > totals[role].values.size):
            totals[role] = curve
    return {role: _sampled(curve) for role, curve in totals.items()}


def _contradiction(
    entry: Entry, values: NDArray[np.float64], totals: Mapping[str, NDArray[np.float64]]
) -> tuple[str, str]:
    """The role instead and the reason; an empty reason where the values fit."""
    if entry.range and _outside(values, *entry.range):
        low, high = entry.range
        return entry.otherwise, f"values are not within {low:g} and {high:g}"
    total = totals.get(entry.total or "")
    if entry.total and _counts(values) and (total is None or not _whole(total)):
        return "instance_count", "values are whole numbers"
    if total is not None and total.size and _dwarfs(values, total):
        return entry.otherwise, "it dwarfs the total"
    return "", ""


def _outside(values: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether more values lie outside than glitches explain."""
    wrong = (values < low - ROUNDING * abs(low)) | (values > high + ROUNDING * abs(high))
    return float(wrong.mean()) > MAX_OUTSIDE


def _counts(values: NDArray[np.float64]) -> bool:
    """Whether all values are whole numbers, and large and different enough for a count."""
    return _whole(values) and float(np.median(values)) >= MIN_COUNT and np.unique(values).size >= MIN_COUNTS


def _whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.rint(values)).all())


def _dwarfs(term: NDArray[np.float64], total: NDArray[np.float64]) -> bool:
    return float(np.median(np.abs(term))) > role_file().dwarfs * float(np.median(np.abs(total)))

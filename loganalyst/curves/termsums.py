"""Metrics that add up to another one: the terms of a loss, the parts of a reward."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import MEASURE_WORDS, normalise
from loganalyst.curves.roleclaims import Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.model import OF_FILE, Curve

MAX_POINTS = 256  # points at which a sum is compared
MAX_TERMS = 12  # terms of one total that are tried
MAX_TOTALS = 4  # totals of one role that are tried
MIN_POINTS_PER_TERM = 4  # so that a weighted sum does not fit by chance
MAX_MISFIT = 1e-3  # of a sum, as a share of the spread of the total: printed values are rounded
MIN_BELOW = 0.5  # share of points at which a term is smaller than the total as printed
MIN_SHARE = 1e-5  # of the total, that each term adds
# role of a total: the role of its terms, and other roles that terms may have
_SUMS = {
    "train_loss": ("loss_component", {"recon_loss", "quantisation_loss", "kl", "regularisation_loss"}),
    "val_loss": ("val_loss_component", {"val_kl"}),
    "reward": ("reward_component", set[str]()),
}


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The terms of each total: their names' roles are confirmed, and what a name makes a total too becomes a term."""
    changed = {metric: (total, 1.0) for metric, total in _below_total(found, claims).items()}
    for total_role, (term_role, others) in _SUMS.items():
        candidates = [c for c in found if claims[c.metric].role.name in {total_role, term_role, *others}]
        totals = [c for c in candidates if claims[c.metric].role.name == total_role][:MAX_TOTALS]
        changed |= next((added for total in totals if (added := terms(total, candidates))), {})
    roles = {metric: claims[metric].role.name for metric in changed}
    return {
        metric: claim(
            _SUMS[role][0] if (role := roles[metric]) in _SUMS else role,
            f"{claims[metric].why}, and adds to {total}",
            role_file().certainty.confirmed,
        )._replace(weight=weight)
        for metric, (total, weight) in changed.items()
    }


def _below_total(found: Sequence[Curve], claims: Claims) -> dict[str, str]:
    """Losses named after a measure (`ce`) that never exceed the training loss, if the run logs another term too."""
    losses = [c for c in found if claims[c.metric].role.name == "train_loss"]
    if len(losses) < 2 or not any(claims[c.metric].role.name in _SUMS["train_loss"][1] for c in found):
        return {}
    measures = [c for c in losses if MEASURE_WORDS.intersection(normalise(c.metric).split("_"))]
    totals = [c for c in losses if c not in measures]
    return {c.metric: t.metric for t in totals[:1] for c in measures if _is_below(c, t)}


def _is_below(term: Curve, total: Curve) -> bool:
    if not np.array_equal(term.steps, total.steps):
        return False
    return bool((term.values <= total.values).all()) and float((term.values < total.values).mean()) >= MIN_BELOW


def terms(total: Curve, candidates: Sequence[Curve]) -> dict[str, tuple[str, float]]:
    """The metrics that add up to the total, with its name and their weights above 0; at least two, or none."""
    # the same metric of another rank's file is no term
    shared = [c for c in candidates if _name(c) != _name(total) and np.array_equal(c.steps, total.steps)]
    shared = [c for c in shared if not np.array_equal(c.values, total.values, equal_nan=True)][:MAX_TERMS]
    if len(shared) < 2:
        return {}
    rows = np.stack([total.values, *(c.values for c in shared)])[:, :: -(-total.values.size // MAX_POINTS)]
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    weights = _weights(rows[0], rows[1:].T) if rows.shape[1] >= MIN_POINTS_PER_TERM * len(shared) else {}
    return {shared[k].metric: (total.metric, weight) for k, weight in weights.items()}


def _name(curve: Curve) -> str:
    """The name without the file."""
    return curve.metric.rpartition(OF_FILE)[2]


def _weights(total: NDArray[np.float64], terms: NDArray[np.float64]) -> dict[int, float]:
    """The weight of each column that adds to the total; none if there is a misfit or a negative weight."""
    spread, scale = float(np.ptp(total)), np.abs(terms).max(axis=0)
    if not spread or not scale.any():
        return {}
    scale[scale == 0] = 1.0
    if _misfit(total, terms, np.ones(len(scale))) <= MAX_MISFIT * spread:
        return {k: 1.0 for k in range(len(scale)) if terms[:, k].any()}
    weights = np.linalg.lstsq(terms / scale, total, rcond=1e-9)[0] / scale
    shares = weights * np.median(np.abs(terms), axis=0) / float(np.median(np.abs(total)) or 1.0)
    used = np.flatnonzero(np.abs(shares) > MIN_SHARE)
    fits = _misfit(total, terms[:, used], weights[used]) <= MAX_MISFIT * spread and bool((weights[used] > 0).all())
    return {k: float(weights[k]) for k in used.tolist()} if fits and used.size > 1 else {}


def _misfit(total: NDArray[np.float64], terms: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(terms @ weights - total)))

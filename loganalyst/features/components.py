"""Features of the terms of a loss: which one dominates, and which one never fell."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

TERM_ROLES = ("loss_component", "recon_loss", "kl", "quantisation_loss")

FEATURES = (
    Feature("component_count", "int", "terms", "loss terms logged at the same steps", "loss_component"),
    Feature("component_top_metric", "text", "", "largest term at the end", "loss_component"),
    Feature("component_top_share", "float", "share", "its share of the sum of the terms at the end", "loss_component"),
    Feature("component_stuck_metric", "text", "", "largest stuck term at the end; a term is stuck if it never fell below 30 % of its first level", "loss_component"),
    Feature("component_stuck_share", "float", "share", "share of all stuck terms in the sum at the end", "loss_component"),
    Feature("component_stuck_ratio", "float", "ratio", "last level of the largest stuck term divided by its first level", "loss_component"),
    Feature("component_best_ratio", "float", "ratio", "last level divided by first level, of the term that fell most", "loss_component"),
    Feature("component_best_metric", "text", "", "this term", "loss_component"),
    Feature("component_top_weight_ratio", "float", "ratio", "weight of the largest term in the logged total divided by the median weight of the others", "loss_component"),
    Feature("component_drowned_count", "int", "terms", "loss terms below 2 % of the sum over most of the run that did not fall", "loss_component"),
    Feature("component_drowned_metric", "text", "", "the first of these terms", "loss_component"),
    Feature("component_zero_count", "int", "terms", "loss terms that are 0 throughout the last half", "loss_component"),
    Feature("component_zero_metric", "text", "", "the first of these terms", "loss_component"),
    Feature("component_constant_count", "int", "terms", "loss terms with one constant value other than 0 throughout the last half", "loss_component"),
    Feature("component_constant_metric", "text", "", "the first of these terms", "loss_component"),
    Feature("loss_beyond_terms_ratio", "float", "ratio", "total loss minus all logged terms: last level divided by first level", "loss_component"),
)  # fmt: skip

MIN_HALF_POINTS = 5  # points of a half to see whether it moves


def compute(context: Context) -> Computed:
    """All of FEATURES that at least two positive loss terms allow."""
    terms = [c for c in _one_axis(context.with_role(*TERM_ROLES)) if _in_total(context, c)]
    out = _unexplained(context, terms) | _constant_terms(context, context.with_role(*TERM_ROLES))
    if len(terms) < 2 or not all(map(_never_negative, terms)):
        return out
    sizes = np.array([c.weight * np.abs(c.values) for c in terms])
    first = np.array([first_level(x) or 0.0 for x in sizes])
    last = np.array([last_level(x) or 0.0 for x in sizes])
    out["component_count"] = len(terms)
    if last.sum() > 0 and (first > 0).any():
        out |= _shares(terms, first, last, sizes)
    return out


def _never_negative(term: Curve) -> bool:
    """Whether the levels of the loss are not negative. Next to a term that goes below 0, such as a critic's, no term
    has a share.
    """
    levels = first_level(term.values), last_level(term.values)
    return all(level is not None and level >= 0 for level in levels)


def _in_total(context: Context, term: Curve) -> bool:
    """Whether the term can be part of the logged total: it is not far above anything the total ever was."""
    total = next((c for c in context.with_role("train_loss") if np.array_equal(c.steps, term.steps)), None)
    size = last_level(np.abs(term.weight * term.values))
    if total is None or size is None:
        return True
    levels = [level for level in (first_level(np.abs(total.values)), last_level(np.abs(total.values))) if level]
    return not levels or size <= feature_limit("term_only_watched") * max(levels)


def _constant_terms(context: Context, curves: list[Curve]) -> Computed:
    """Terms that do not move at all: their weight is 0, their gradient is cut off, or they are not computed. A term that
    fell below its last printed digit is none of them.
    """
    halves = [(c, c.values[len(c.values) // 2 :]) for c in curves if len(c.values) >= 2 * MIN_HALF_POINTS]
    if not halves:
        return {}
    still = [(c, x[0]) for c, x in halves if (x == x[0]).all()]
    zero = [c for c, x in still if x == 0 and (context.counts_as_zero(c) or not c.values.any())]
    constant = [c for c, x in still if x != 0]
    out: Computed = {"component_zero_count": len(zero), "component_constant_count": len(constant)}
    for name, found in (("zero", zero), ("constant", constant)):
        if found:
            out[f"component_{name}_metric"] = (found[0].metric, witness_at(found[0]))
    return out


def _shares(
    terms: list[Curve],
    first: NDArray[np.float64],
    last: NDArray[np.float64],
    sizes: NDArray[np.float64],
) -> Computed:
    """The features of terms with these levels; `sizes` are their absolute values (terms by points)."""
    moved = np.divide(last, first, out=np.full_like(last, np.inf), where=first > 0)
    moved[(first == 0) & (last == 0)] = np.nan
    stuck = (moved > feature_limit("term_stuck")) & (last > 0) & (_lowest(sizes) > feature_limit("term_stuck") * first)
    top = int(np.argmax(last))
    out: Computed = {
        "component_top_metric": terms[top].metric,
        "component_top_share": (float(last[top] / last.sum()), witness_at(terms[top])),
        "component_stuck_share": float(last[stuck].sum() / last.sum()),
        "component_best_ratio": float(np.nanmin(moved)) if np.isfinite(moved).any() else None,
        "component_best_metric": terms[int(np.nanargmin(moved))].metric if np.isfinite(moved).any() else None,
    }
    out["component_top_weight_ratio"] = _weight_ratio(terms, top)
    return out | _drowned(terms, moved, last, sizes) | (_worst_stuck(terms, moved, stuck, last) if stuck.any() else {})


def _drowned(
    terms: list[Curve], moved: NDArray[np.float64], last: NDArray[np.float64], sizes: NDArray[np.float64]
) -> Computed:
    """The terms that are too small beside the others to be learned, and did not fall."""
    # the others may rise by nature, as a divergence does
    plain = np.array([c.role.name == "loss_component" for c in terms])
    small = _usual_share(sizes) < feature_limit("term_drowned")
    drowned = np.flatnonzero((moved > feature_limit("term_not_fallen")) & (last > 0) & small & plain)
    return {
        "component_drowned_count": int(drowned.size),
        "component_drowned_metric": terms[drowned[0]].metric if drowned.size else None,
    }


def _worst_stuck(
    terms: list[Curve], moved: NDArray[np.float64], stuck: NDArray[np.bool_], last: NDArray[np.float64]
) -> Computed:
    """The largest of the terms that are `stuck`, and the share of its first level that it kept."""
    worst = int(np.argmax(np.where(stuck, last, -1.0)))
    kept = float(moved[worst]) if np.isfinite(moved[worst]) else None
    return {
        "component_stuck_metric": terms[worst].metric,
        "component_stuck_ratio": (kept, witness_at(terms[worst])),
    }


def _weight_ratio(terms: list[Curve], top: int) -> float | None:
    """The weight of the largest term, as the logged total shows it, divided by the median weight of the others; None
    without others, or if they have none.
    """
    others = [c.weight for k, c in enumerate(terms) if k != top]
    return ratio(terms[top].weight, float(np.median(others)) if others else None)


def _lowest(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest level of each term: the smallest median of its tenths; NaN if its weight made all values infinite."""
    finite = [x[np.isfinite(x)] for x in sizes]
    tenths = [np.array_split(x, min(10, x.size)) if x.size else [] for x in finite]
    return np.array([min((float(np.median(part)) for part in parts), default=np.nan) for parts in tenths])


def _usual_share(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The usual share of each term in the sum: its median over the points where all are finite; 1 if there are none."""
    whole = sizes[:, np.isfinite(sizes).all(axis=0)]
    whole = whole[:, whole.sum(axis=0) > 0]
    return np.median(whole / whole.sum(axis=0), axis=1) if whole.size else np.ones(len(sizes))


def _one_axis(curves: list[Curve]) -> list[Curve]:
    """The largest group of curves of equal length. Among equal groups (terms by step and by epoch) the one that begins
    first.
    """
    finite = [c for c in curves if np.isfinite(c.values).sum() >= 3]
    by_length: dict[int, list[Curve]] = {}
    for curve in finite:
        by_length.setdefault(len(curve.values), []).append(curve)
    return max(by_length.values(), key=lambda group: (len(group), -int(group[0].steps[0])), default=[])


def _unexplained(context: Context, terms: list[Curve]) -> Computed:
    """The growth of the total minus the logged terms, if the total and at least one term share their steps."""
    total = context.with_role("train_loss")
    same = [t for t in terms or context.with_role(*TERM_ROLES) if total and np.array_equal(t.steps, total[0].steps)]
    if not same or len(total[0].values) < 6:
        return {}
    unexplained = total[0].values - np.sum([t.weight * t.values for t in same], axis=0)
    first, last, whole = first_level(unexplained), last_level(unexplained), last_level(np.abs(total[0].values))
    if first is None or last is None or whole is None or first <= 0:
        return {}
    if max(first, last) < feature_limit("unexplained_loss") * whole:
        return {}
    return {"loss_beyond_terms_ratio": (last / first, witness_at(total[0]))}

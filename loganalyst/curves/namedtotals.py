"""Losses named only `total`, beside the terms that add up to them: `Epoch,total,pde,ic,bc`.

The name alone may mean a count, a time or a reward. So the values must show that it is a loss.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import measure, names_held_out, names_split
from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.curves.termsums import terms
from loganalyst.model import Curve

NAMES = {"total", "overall", "total_mean", "mean_total", "total_avg", "avg_total", "total_epoch", "epoch_total"}
TERMS = (
    "loss_component",
    "val_loss_component",
    "recon_loss",
    "quantisation_loss",
    "regularisation_loss",
    "kl",
    "val_kl",
)
UNKNOWN = (
    "other",
    "val_score",
)  # roles of terms whose names are no words for a loss: `pde`; `ic` is also a correlation
MAX_LAST = 0.9  # of the first values, that a loss ends at
MIN_POINTS = 6
OF_TRAINING, HELD_OUT = ("train_loss", "loss_component"), ("val_loss", "val_loss_component")


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics named as a total that are a loss, and the terms that their names do not show."""
    roles = {claims[c.metric].role.name for c in found}
    if not roles.isdisjoint(role_file().company["agent"].roles):  # a total of an agent may be its reward
        return {}
    asked = [c for c in found if claims[c.metric].role.name == "other" and measure(c.metric) in NAMES]
    changed = dict[str, Claim]()
    for curve in asked:
        if OF_TRAINING[0] not in roles or names_held_out(curve.metric):
            changed |= dict(_total(curve, _beside(curve, found, claims), claims))
    mistaken = [c for c in found if claims[c.metric].role.name == "val_score" and not names_split(c.metric)]
    for curve in (c for c in found if mistaken and claims[c.metric].role.name == OF_TRAINING[0]):
        added = terms(curve, _beside(curve, found, claims))
        changed |= {c.metric: _term(c, curve, claims) for c in mistaken if c.metric in added}
    return changed


def _beside(curve: Curve, found: Sequence[Curve], claims: Claims) -> list[Curve]:
    """The metrics of the same file and data that may be terms."""
    may_be = {*TERMS, *UNKNOWN}
    beside = [c for c in found if c.source == curve.source and claims[c.metric].role.name in may_be]
    return [c for c in beside if c is not curve and names_held_out(c.metric) == names_held_out(curve.metric)]


def _total(curve: Curve, beside: Sequence[Curve], claims: Claims) -> Iterator[tuple[str, Claim]]:
    """The total as a loss, and its terms."""
    finite = curve.values[np.isfinite(curve.values)]
    if finite.size < MIN_POINTS or not (finite != np.rint(finite)).any():
        return
    added = terms(curve, beside)
    known = [c for c in beside if claims[c.metric].role.name in TERMS and np.array_equal(c.steps, curve.steps)]
    if added and (known or finite.size < curve.values.size or _falls(finite)):
        certainty, why = role_file().certainty.confirmed, f"the sum of {', '.join(added)}"
    elif known:
        certainty, why = role_file().certainty.doubted, f"a total beside {known[0].metric}"
    else:
        return
    yield curve.metric, claim((HELD_OUT if names_held_out(curve.metric) else OF_TRAINING)[0], why, certainty)
    yield from ((c.metric, _term(c, curve, claims)) for c in beside if c.metric in added and c not in known)


def _term(curve: Curve, total: Curve, claims: Claims) -> Claim:
    role = (HELD_OUT if names_held_out(curve.metric) else OF_TRAINING)[1]
    return claim(role, f"{claims[curve.metric].why}, but it adds to {total.metric}", role_file().certainty.confirmed)


def _falls(values: NDArray[np.float64]) -> bool:
    """Whether the last third is positive, and well below the first third."""
    third = values.size // 3
    return 0 < float(np.median(values[-third:])) <= MAX_LAST * float(np.median(values[:third]))

"""Outputs of a discriminator that are named like losses: `d_real` and `d_fake` are probabilities in many scripts, and
terms of the loss in others.
"""

from collections.abc import Sequence

import numpy as np

from loganalyst.curves.metricnames import normalise
from loganalyst.curves.roleclaims import Claims, claim
from loganalyst.curves.rolefile import role_file
from loganalyst.model import OF_FILE, Curve

LOSS, SCORE = "discriminator_loss", "discriminator_score"
PAIRS = (("d_real", "d_fake"),)
MAX_MISFIT = 0.05  # share of the total by which the sum of two terms may miss it


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics of a pair that are scores: both stay between 0 and 1, and they do not add up to a loss."""
    losses = {_name(c): c for c in found if claims[c.metric].role.name == LOSS}
    named = {name for pair in PAIRS for name in pair}
    totals = [c for name, c in losses.items() if name not in named]
    return {
        losses[name].metric: claim(
            SCORE, f"{claims[losses[name].metric].why}, but both are probabilities", role_file().certainty.confirmed
        )
        for pair in PAIRS
        if all(name in losses for name in pair) and totals and _are_scores(losses[pair[0]], losses[pair[1]], totals)
        for name in pair
    }


def _name(curve: Curve) -> str:
    return normalise(curve.metric.rpartition(OF_FILE)[2])


def _are_scores(real: Curve, fake: Curve, totals: Sequence[Curve]) -> bool:
    both = np.concatenate([real.values, fake.values])
    both = both[np.isfinite(both)]
    if not both.size or both.min() < 0 or both.max() > 1:
        return False
    return not any(_add_up(real, fake, total) for total in totals)


def _add_up(real: Curve, fake: Curve, total: Curve) -> bool:
    """Whether the sum or the mean of both is the total."""
    if not (np.array_equal(real.steps, total.steps) and np.array_equal(fake.steps, total.steps)):
        return True  # not comparable, so the name decides
    terms = real.values + fake.values
    finite = np.isfinite(terms) & np.isfinite(total.values)
    level = np.abs(total.values[finite])
    return any(
        bool((np.abs(w * terms[finite] - total.values[finite]) <= MAX_MISFIT * level).mean() > 0.5) for w in (1.0, 0.5)
    )

"""Outputs of a discriminator that are named like losses."""

import numpy as np
import pytest
from numpy.typing import NDArray

from loganalyst.curves.discriminatorscores import changes
from tests.curves.curvesof import claims_of, curves_of

STEPS = 60
FALLS, RISES = np.linspace(0.5, 0.1, STEPS), np.linspace(0.5, 0.9, STEPS)
G_LOSS = np.linspace(0.7, 2.3, STEPS)


def roles_of(logged: dict[str, NDArray[np.float64]]) -> dict[str, str]:
    """The role of each metric."""
    curves = curves_of({metric: values.tolist() for metric, values in logged.items()})
    claims = claims_of(*logged)
    return {metric: claim.role.name for metric, claim in (claims | dict(changes(curves, claims))).items()}


@pytest.mark.parametrize(
    ("real", "fake", "total", "role"),
    [
        (RISES, FALLS, -np.log(RISES) - np.log(1 - FALLS), "discriminator_score"),
        (FALLS, FALLS, 2 * FALLS, "discriminator_loss"),
        (FALLS, FALLS, FALLS, "discriminator_loss"),
        (3 * FALLS, FALLS, 1.0 + FALLS, "discriminator_loss"),
    ],
    ids=["probabilities", "terms of a sum", "terms of a mean", "above one"],
)
def test_d_real_and_d_fake(
    real: NDArray[np.float64], fake: NDArray[np.float64], total: NDArray[np.float64], role: str
) -> None:
    """Both are scores if they stay between 0 and 1 and do not add up to the discriminator's loss."""
    found = roles_of({"d_loss": total, "g_loss": G_LOSS, "d_real": real, "d_fake": fake})

    assert (found["d_real"], found["d_fake"]) == (role, role)
    assert found["d_loss"] == "discriminator_loss"


def test_without_a_total_the_name_decides() -> None:
    """Nothing contradicts the name where no loss of the discriminator is logged."""
    assert roles_of({"g_loss": G_LOSS, "d_real": RISES, "d_fake": FALLS})["d_real"] == "discriminator_loss"

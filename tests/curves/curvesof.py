"""Curves and claims of metrics made of arrays."""

from collections.abc import Mapping, Sequence

import numpy as np

from loganalyst.curves.roleclaims import Claim, named
from loganalyst.curves.roles import all_roles, proposed
from loganalyst.curves.rolewitnesses import weighed
from loganalyst.model import Curve

Logged = Mapping[str, Sequence[float]]


def curves_of(
    logged: Logged, source: str | None = None, steps: Mapping[str, Sequence[int]] | None = None
) -> list[Curve]:
    """One curve of each metric, logged at steps 0, 1, 2, … or at its `steps`; all of `source`."""
    found = []
    for metric, values in logged.items():
        count = len(values)
        none, zeros = np.full(count, np.nan), np.zeros(count, np.int32)
        at = np.array((steps or {}).get(metric, range(count)), np.int64)
        found.append(
            Curve(
                metric,
                all_roles()["other"],
                at,
                np.array(values, float),
                none,
                none,
                zeros,
                zeros.astype(np.int64),
                source,
            )
        )
    return found


def claims_of(*metrics: str) -> dict[str, Claim]:
    """What the names alone propose."""
    return {metric: named(role, why, sure=False) for metric, (role, why) in proposed(metrics).items()}


def weighed_of(
    logged: Logged, *settings: str, known: Mapping[str, str] | None = None
) -> dict[str, tuple[str, float | None]]:
    """Role and confidence of each metric after all witnesses; `known` are the roles that a trainer says."""
    roles = proposed(logged) | {metric: (all_roles()[role], "") for metric, role in (known or {}).items()}
    found = weighed(curves_of(logged), roles, (known or {}).keys(), (), settings)
    return {metric: (claim.role.name, claim.confidence) for metric, claim in found.items()}

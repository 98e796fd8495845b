"""Second witnesses of roles: a name proposes a role, and the run confirms, changes or doubts it.

Witnesses are the values of the metric, other metrics with related values, the company that a role needs, and settings.
`rules/roles.yaml` says for each role what its values may be and what it needs. What the trainer or the user says needs
no witness.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from loganalyst.curves import (
    datasplits,
    discriminatorscores,
    filemeasures,
    namedtotals,
    relatedmetrics,
    rolecompany,
    rolevalues,
    termsums,
    unnamedmeasures,
)
from loganalyst.curves.roleclaims import Claim, Claims, claim, named
from loganalyst.curves.rolefile import role_file
from loganalyst.curves.roles import turned
from loganalyst.model import Curve, Role

_Check: TypeAlias = Callable[[Sequence[Curve], Claims], Claims]
_CHECKS: tuple[_Check, ...] = (
    namedtotals.changes,
    relatedmetrics.changes,
    datasplits.changes,
    termsums.changes,
    discriminatorscores.changes,
    filemeasures.changes,
    unnamedmeasures.changes,
)


def weighed(
    found: Sequence[Curve],
    proposed: Mapping[str, tuple[Role, str]],
    known: Collection[str],
    stated: Collection[str],
    settings: Collection[str],
) -> dict[str, Claim]:
    """The role of each metric, why, and how sure it is. The roles of metrics in `known` come from the trainer, of
    those in `stated` from the user; `settings` are the keys of the run's settings.

    A contradiction changes a role, a missing witness makes it unsure. Roles that follow from another role of the run
    (`turns` in `rules/roles.yaml`) follow only from a sure one.
    """
    sure = {*known, *stated}
    claims = {metric: named(role, why, sure=metric in sure) for metric, (role, why) in proposed.items()}
    with_values = [curve for curve in found if curve.values.size]
    claims |= _unless(sure, rolevalues.changes(with_values, claims))
    claims |= _unless(sure, rolecompany.changes(claims, settings))
    for check in _CHECKS:  # after the company, because a doubted role takes that of a metric with the same values
        claims |= _unless(sure, check(with_values, claims))
    present = {c.role.name for c in claims.values() if not c.unsure}
    keys = {key.rpartition(".")[2].lower() for key in settings}
    turns = turned({metric: (c.role, c.why) for metric, c in claims.items() if metric not in stated}, present, keys)
    certain = role_file().certainty.named
    return claims | {
        m: claim(role.name, why, max(claims[m].confidence or 1.0, certain)) for m, (role, why) in turns.items()
    }


def _unless(sure: Collection[str], changed: Claims) -> dict[str, Claim]:
    """The changes of metrics other than those."""
    return {metric: change for metric, change in changed.items() if metric not in sure}

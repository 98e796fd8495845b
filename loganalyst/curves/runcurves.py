"""The curves of a run: each metric with its role, corrected by the user's settings."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from loganalyst.curves.effective import curves, metrics
from loganalyst.curves.heldoutsets import TOTAL, WHY_SET, held_out_sets, held_out_total
from loganalyst.curves.lasttraining import last_training
from loganalyst.curves.ratesearch import without_searches
from loganalyst.curves.roleclaims import Claim
from loganalyst.curves.roles import all_roles, corrected, proposed
from loganalyst.curves.rolewitnesses import weighed
from loganalyst.curves.separaterows import without_course
from loganalyst.curves.severaltrainings import Roles, Training, of_the_worst, trainings
from loganalyst.curves.standins import stand_ins
from loganalyst.curves.trainers import Trainer, known_roles
from loganalyst.curves.valuemeanings import with_meanings
from loganalyst.model import Curve, Metric, Run

__all__ = ["run_curves"]


def run_curves(
    run: Run,
    corrections: Mapping[str, str],
    direction: Mapping[str, str],
    weights: Mapping[str, float],
    trainer: Trainer | None = None,
) -> tuple[list[Curve], tuple[Metric, ...]]:
    """The effective curves of a run with stand-ins for metrics it did not log, and all its metrics with their roles. Of
    several trainings in one file only the one that ended worst has curves.

    `corrections` maps globs of metrics to roles, `direction` to `up` or `down` (of harm), `weights` to the weight of a
    loss term. The `trainer` names metrics too. Raises RuleError for a role that does not exist.
    """
    names = run.points["metric"].unique(maintain_order=True)
    known, stated = known_roles(trainer, names), corrected(names, {**run.roles, **corrections})
    proposals = proposed(names)
    several = [] if known else trainings(run.points, proposals)
    for training in several:
        proposals |= training.proposals()
    proposals |= known | stated
    found = curves(run, proposals)
    claims = _claims(
        found,
        several,
        partial(weighed, known=known.keys(), stated=stated.keys(), settings=run.config["key"].unique()),
        proposals,
    )
    claims |= {m: claims[m]._replace(confidence=p) for m, p in run.role_confidence.items() if m in claims}
    found = [_claimed(curve, claims[curve.metric], direction, weights) for curve in found]
    found, separate = without_course(with_meanings(last_training(found), all_roles()), run, all_roles())
    found, searched = without_searches(found, all_roles())
    reasons = {m: c.why for m, c in claims.items()} | separate | searched
    sets = frozenset[str]() if several else held_out_sets(found)
    found = [replace(curve, role=all_roles()[TOTAL]) if curve.metric in sets else curve for curve in found]
    judged = of_the_worst(found, several)
    added = [*stand_ins(judged, all_roles()), *held_out_total(judged, all_roles())]
    return [*judged, *added], metrics(found, reasons | dict.fromkeys(sets, WHY_SET))


def _claims(
    found: Sequence[Curve], several: Sequence[Training], weigh: Callable[..., dict[str, Claim]], proposals: Roles
) -> dict[str, Claim]:
    """The claim of each metric. The metrics of one of several trainings are no witnesses for those of another."""
    claims = dict[str, Claim]()
    for training in several:
        claims |= weigh(*_only(training.metrics, found, proposals))
    return claims | weigh(*_only(proposals.keys() - claims.keys(), found, proposals))


def _only(metrics: Collection[str], found: Sequence[Curve], proposals: Roles) -> tuple[list[Curve], Roles]:
    return [c for c in found if c.metric in metrics], {m: role for m, role in proposals.items() if m in metrics}


def _claimed(curve: Curve, claim: Claim, direction: Mapping[str, str], weights: Mapping[str, float]) -> Curve:
    """The curve with its role, the direction of harm and the weight of the first globs that fit."""
    worse = next((worse for glob, worse in direction.items() if fnmatchcase(curve.metric, glob)), None)
    role = claim.role if worse is None else replace(claim.role, worse="up" if worse == "up" else "down")
    weight = next((weight for glob, weight in weights.items() if fnmatchcase(curve.metric, glob)), claim.weight)
    return replace(curve, role=role, role_confidence=claim.confidence, weight=weight)

"""The curves of a run: each metric with its role, corrected by the user's settings."""

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from loganalyst.curves import roles as role_names
from loganalyst.curves.effective import curves, last_training, metrics, stand_ins
from loganalyst.curves.heldoutsets import TOTAL, WHY_SET, held_out_sets, held_out_total
from loganalyst.curves.trainers import Trainer, known_roles
from loganalyst.curves.valuemeanings import with_meanings
from loganalyst.model import Curve, Metric, Role, Run

__all__ = ["run_curves"]


def run_curves(
    run: Run,
    corrections: Mapping[str, str],
    direction: Mapping[str, str],
    weights: Mapping[str, float],
    trainer: Trainer | None = None,
) -> tuple[list[Curve], tuple[Metric, ...]]:
    """The effective curves of a run with stand-ins for metrics it did not log, and all its metrics with their roles.

    `corrections` maps globs of metrics to roles, `direction` to `up` or `down` (of harm), `weights` to the weight of a
    loss term. The `trainer` names metrics too. Raises RuleError for a role that does not exist.
    """
    names = run.points["metric"].unique(maintain_order=True)
    known = known_roles(trainer, names)
    roles = {
        metric: (_turned(metric, role, direction), why)
        for metric, (role, why) in role_names.assign(names, {**run.roles, **corrections}, known).items()
    }
    found = curves(run, roles)
    if weights:
        found = [replace(curve, weight=_weight(curve.metric, weights)) for curve in found]
    every = role_names.all_roles()
    found = with_meanings(last_training(found), every)
    sets = held_out_sets(found)
    found = [replace(curve, role=every[TOTAL]) if curve.metric in sets else curve for curve in found]
    roles |= dict.fromkeys(sets, (every[TOTAL], WHY_SET))
    return [*found, *stand_ins(found, every), *held_out_total(found, every)], metrics(found, roles)


def _turned(metric: str, role: Role, direction: Mapping[str, str]) -> Role:
    """The role with the direction of harm of the first glob that fits."""
    worse = next((worse for glob, worse in direction.items() if fnmatchcase(metric, glob)), None)
    return role if worse is None else replace(role, worse="up" if worse == "up" else "down")


def _weight(metric: str, weights: Mapping[str, float]) -> float:
    return next((weight for glob, weight in weights.items() if fnmatchcase(metric, glob)), 1.0)

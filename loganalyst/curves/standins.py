"""Curves that stand in for a loss, a reward or a margin that was not logged."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from loganalyst.model import Curve, Role

_NEAR_REFERENCE = 0.1  # nats of implicit reward, in which a policy still is its reference
_TERM_ROLES = {"train_loss": "loss_component", "val_loss": "val_loss_component"}
_NON_LANGUAGE_ROLES = ("recon_loss", "quantisation_loss", "kl", "codebook_usage", "reward", "value_loss", "rl_loss",
                "discriminator_loss", "generator_loss")  # fmt: skip
_AVERAGE = re.compile(r"mean|avg|average")  # "Avg_Fitness"


def stand_ins(found: list[Curve], roles: Mapping[str, Role]) -> list[Curve]:
    """Curves that were not logged, made of others: a loss as the sum of all terms or the logarithm of a perplexity, the
    fitness of a population as the reward, and the margin of two implicit rewards.
    """
    train = _sum_of_terms(found, roles["train_loss"]) or _log_perplexity(found, "train_perplexity", roles["train_loss"])
    held_out = _log_perplexity(found, "val_perplexity", roles["val_loss"])
    added = [*train, *held_out, *_margins(found, roles["preference_margin"])]
    return [*added, *_fitness([*found, *added], roles["reward"])]


def _margins(found: list[Curve], role: Role) -> list[Curve]:
    """The reward of chosen answers less that of rejected ones, if both begin at 0 as those of a policy do: it is then
    its own reference. Scores of a reward model begin anywhere. Empty if a margin is logged.
    """
    chosen, rejected = (
        [c for c in found if c.role.name == name and len(c.values)] for name in ("chosen_reward", "rejected_reward")
    )
    if not chosen or not rejected or any(c.role.name == role.name for c in found):
        return []
    won, lost = chosen[0], rejected[0]
    begins = max(abs(float(won.values[0])), abs(float(lost.values[0])))
    if not begins < _NEAR_REFERENCE or not np.array_equal(won.steps, lost.steps):
        return []
    return [replace(won, metric=f"{won.metric} - {lost.metric}", role=role, values=won.values - lost.values)]


def _fitness(found: list[Curve], role: Role) -> list[Curve]:
    """The average fitness of a population, else the best one, as a curve of `role`. Empty next to a loss or a reward,
    because detectors call a score of the model its fitness.
    """
    named = [c for c in found if c.role.name == "fitness" and len(c.values)]
    if not named or any(c.role.name == role.name or "loss" in c.role.name for c in found):
        return []
    curve = next((c for c in named if _AVERAGE.search(c.metric.lower())), named[0])
    return [replace(curve, metric=f"reward: {curve.metric}", role=role)]


@np.errstate(divide="ignore", invalid="ignore")  # a perplexity of 0 or less is invalid
def _log_perplexity(found: list[Curve], given: str, role: Role) -> list[Curve]:
    """The logarithm of the longest perplexity as a curve of `role`.

    Empty if the run logs such a loss itself, or if the perplexity may be that of a codebook.
    """
    known = {c.role.name for c in found if len(c.values)}
    curves = [c for c in found if c.role.name == given and len(c.values)]
    if not curves or known & {role.name, _TERM_ROLES[role.name], *_NON_LANGUAGE_ROLES}:
        return []
    curve = max(curves, key=lambda c: len(c.values))
    return [replace(curve, metric=f"ln {curve.metric}", role=role, values=np.log(np.maximum(curve.values, 0)))]


@np.errstate(over="ignore", invalid="ignore")  # a sum beyond the largest float is infinite
def _sum_of_terms(found: list[Curve], role: Role) -> list[Curve]:
    """The weighted sum of the logged loss terms as one more curve of `role`.

    Empty if a curve has that role, or if the terms do not share their steps.
    """
    terms = [c for c in found if c.role.name == "loss_component" and len(c.values)]
    shared = [c for c in terms if np.array_equal(c.steps, terms[0].steps)]
    if len(shared) < 2 or len(shared) < len(terms) or any(c.role.name == role.name for c in found):
        return []
    name = " + ".join(c.metric for c in shared) if len(shared) < 4 else f"sum of {len(shared)} loss terms"
    return [replace(shared[0], metric=name, role=role, values=np.sum([c.weight * c.values for c in shared], axis=0))]

"""Curves in place of those that were not logged."""

import math
from collections.abc import Sequence

import polars as pl

from loganalyst.curves.effective import curves
from loganalyst.curves.roles import all_roles, assign
from loganalyst.curves.standins import stand_ins
from tests.curves.loggedpoints import points, run_of


def test_terms_without_a_total_are_summed() -> None:
    """Loss terms at the same steps make a training loss if none was logged."""
    frame = pl.concat([points(0, range(2), [1, 2], "train/box_loss"), points(0, range(2), [10, 20], "train/cls_loss")])
    found = curves(run_of(frame), assign(["train/box_loss", "train/cls_loss"]))
    (summed,) = stand_ins(found, all_roles())

    assert summed.values.tolist() == [11.0, 22.0]
    assert summed.metric == "train/box_loss + train/cls_loss"


def test_a_logged_total_is_not_replaced() -> None:
    """With a logged total nothing is summed."""
    names = ["loss", "box_loss", "cls_loss"]
    frame = pl.concat([points(0, range(2), [1, 2], n) for n in names])

    assert stand_ins(curves(run_of(frame), assign(names)), all_roles()) == []


def of_metrics(**logged: Sequence[float]) -> list[str]:
    """Names and roles of the curves that replace the losses missing in `logged`."""
    frame = pl.concat([points(0, range(len(v)), v, name) for name, v in logged.items()])
    return [f"{c.metric}: {c.role.name}" for c in stand_ins(curves(run_of(frame), assign(list(logged))), all_roles())]


def test_the_fitness_of_a_population_is_its_reward() -> None:
    """The average says more than the best; next to a loss the fitness is a score of a detector."""
    assert of_metrics(Best_Fitness=[1.0, 2.0], Avg_Fitness=[0.5, 1.0]) == ["reward: Avg_Fitness: reward"]
    assert of_metrics(best_fitness=[1.0, 2.0]) == ["reward: best_fitness: reward"]
    assert of_metrics(fitness=[1.0, 2.0], val_loss=[2.0, 1.0]) == []
    assert of_metrics(fitness=[1.0, 2.0], reward=[2.0, 1.0]) == []


def test_the_margin_of_two_implicit_rewards() -> None:
    """Rewards of a policy begin at 0; scores of a reward model do not, and a logged margin is not replaced."""
    policy = {"chosen_reward": [0.0, -1.0], "rejected_reward": [0.05, -3.0]}

    assert of_metrics(**policy) == ["chosen_reward - rejected_reward: preference_margin"]
    assert of_metrics(chosen_reward=[2.0, 3.0], rejected_reward=[1.0, 0.0]) == []
    assert of_metrics(**policy, margin=[0.0, 2.0]) == []


def test_a_perplexity_alone_is_a_loss() -> None:
    """Its logarithm, for training and held-out data; an infinite or zero perplexity has no finite one."""
    frame = pl.concat([points(0, range(3), [8.0, math.inf, 0.0], "ppl"), points(0, [0], [4.0], "val_ppl")])
    train, val = stand_ins(curves(run_of(frame), assign(["ppl", "val_ppl"])), all_roles())

    assert (train.metric, train.role.name, val.metric, val.role.name) == (
        "ln ppl",
        "train_loss",
        "ln val_ppl",
        "val_loss",
    )
    assert train.values.tolist() == [math.log(8), math.inf, -math.inf]
    assert val.values.tolist() == [math.log(4)]


def test_a_perplexity_with_its_loss_adds_no_curve() -> None:
    """A logged loss is not replaced, and the perplexity of codes is no loss."""
    assert of_metrics(loss=[1.0], ppl=[2.7], val_ppl=[3.0]) == ["ln val_ppl: val_loss"]
    assert of_metrics(loss=[1.0], val_loss=[1.0], ppl=[2.7], val_ppl=[3.0]) == []
    assert of_metrics(recon_loss=[1.0], perplexity=[300.0]) == []

"""Held-out losses without a total: terms of one loss, or whole losses of several held-out sets.

A term has a counterpart among the training terms: `val/box_loss` and `train/box_loss`. `eval_wiki_loss` and
`eval_news_loss` have none, so each is the whole loss of its own set.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from loganalyst.model import Curve, Role

TERM, TOTAL, TRAIN_TERMS = "val_loss_component", "val_loss", ("loss_component", "recon_loss", "kl", "quantisation_loss")
WHY_SET = "a whole loss of one of several held-out sets: no training term has its name"
SUM_OF_MANY = " held-out terms"  # ending of the name of a sum of many
MAX_NAMED_TERMS = 3  # terms that the name of their sum lists
# words for held-out data: "val", "validation", "eval", "test"
_HELD_OUT = re.compile(r"val(idation|id)?|eval(uation)?|test|dev")


def bare_name(metric: str) -> str:
    """The name without separators and the words for training, held-out data, epoch and step.

    >>> from loganalyst.curves.heldoutsets import bare_name
    >>> bare_name("val/box_loss"), bare_name("train/box_loss")
    ('boxloss', 'boxloss')
    """
    return re.sub(r"[^a-z0-9]|train(ing)?|epoch|step", "", _HELD_OUT.sub("", metric.lower()))


def held_out_sets(found: Sequence[Curve]) -> frozenset[str]:
    """The metrics that are whole losses of held-out sets although their names look like terms.

    There are some if two or more held-out losses have no counterpart among the training terms, a whole training loss is
    logged, and no held-out total.
    """
    roles = {c.role.name for c in found if len(c.values)}
    if TOTAL in roles or "train_loss" not in roles:
        return frozenset()
    train = {bare_name(c.metric) for c in found if c.role.name in TRAIN_TERMS}
    terms = [c.metric for c in found if c.role.name == TERM and len(c.values)]
    alone = frozenset(metric for metric in terms if bare_name(metric) not in train)
    return alone if 2 <= len(alone) == len(terms) else frozenset()


def is_sum(curve: Curve) -> bool:
    """Whether the held-out loss is the sum that `held_out_total` computed."""
    return " + " in curve.metric or curve.metric.endswith(SUM_OF_MANY)


@np.errstate(over="ignore", invalid="ignore")  # a sum beyond the largest float is infinite
def held_out_total(found: Sequence[Curve], roles: Mapping[str, Role]) -> list[Curve]:
    """The weighted sum of the held-out terms as a held-out loss.

    Empty if a held-out loss is logged, if fewer than two terms share all steps, or if a term has no counterpart in
    training.
    """
    terms = [c for c in found if c.role.name == TERM and len(c.values)]
    train = {bare_name(c.metric): c for c in found if c.role.name in TRAIN_TERMS}
    shared = [c for c in terms if np.array_equal(c.steps, terms[0].steps) and bare_name(c.metric) in train]
    if len(shared) < 2 or len(shared) < len(terms) or any(c.role.name == TOTAL for c in found):
        return []
    few = len(shared) <= MAX_NAMED_TERMS
    name = " + ".join(c.metric for c in shared) if few else f"sum of {len(shared)}{SUM_OF_MANY}"
    values = np.sum([train[bare_name(c.metric)].weight * c.values for c in shared], axis=0)
    return [replace(shared[0], metric=name, role=roles[TOTAL], values=values)]

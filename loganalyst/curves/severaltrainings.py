"""Several trainings in one file, each under a name of its own: `fold_1/train_loss`, `fold_1/val_loss`, `fold_2/…`.

Each name has a whole training loss and a whole held-out loss under the same words. The heads of one training
(`seg/loss`, `cls/loss`) have not, or stand beside a total.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst.curves.metricnames import names_held_out, names_split, normalise
from loganalyst.curves.rolefile import role_file
from loganalyst.curves.roles import proposed
from loganalyst.model import Curve, Role

LOSSES = ("train_loss", "val_loss")
MAX_DEPTH = 3  # parts of a name that may be the name of a training
LAST = 3  # points of the begin and the end of a loss
SHARE_OF_LEVEL = 0.5  # by which a loss that did not fall counts, beside one that rose

Roles = Mapping[str, tuple[Role, str]]


class Training(NamedTuple):
    """One of several trainings: its name, and what its metrics are called without it."""

    name: str
    metrics: Mapping[str, str]

    def proposals(self) -> dict[str, tuple[Role, str]]:
        """The role that the rest of each name proposes, and why."""
        found = proposed(self.metrics.values())
        return {
            m: (found[tail][0], f"{found[tail][1]}, of the training {self.name}") for m, tail in self.metrics.items()
        }


def trainings(points: pl.DataFrame, roles: Roles) -> list[Training]:
    """The trainings that the metrics with these points and `roles` are of, at least two; else none. Stages of one
    training, such as a warm-up, follow one another.
    """
    found = _by_names(roles.keys(), roles)
    return found if found and _are_side_by_side(found, points) else []


def _are_side_by_side(found: Sequence[Training], points: pl.DataFrame) -> bool:
    """Whether each of the trainings began before another one ended."""
    owners = {metric: training.name for training in found for metric in training.metrics}
    own = (
        points.lazy()
        .filter(pl.col("metric").is_in(list(owners)))
        .with_columns(pl.col("metric").replace_strict(owners, return_dtype=pl.String))
    )
    spans = own.group_by("metric").agg(pl.min("step").alias("first"), pl.max("step").alias("last")).collect()
    first, last = spans["first"].max(), spans["last"].min()
    return isinstance(first, int) and isinstance(last, int) and first < last


def _by_names(metrics: Collection[str], roles: Roles) -> list[Training]:
    for depth in range(1, MAX_DEPTH + 1):
        groups = _with_both_losses(_groups(metrics, depth))
        inside = {metric for names in groups.values() for metric in names}
        whole = any(roles[m][0].name in LOSSES for m in metrics if m not in inside)
        if len(groups) > 1 and not whole and not any(map(_is_part, groups)):
            return [Training(*group) for group in groups.items()]
    return []


def _groups(metrics: Collection[str], depth: int) -> dict[str, dict[str, str]]:
    """The metrics by the first parts of their names, each with the rest of its name."""
    groups: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for metric in metrics:
        parts = metric.split("/")
        numbered = _numbered().match(parts[0]) if depth == 1 else None
        if numbered and len(parts) == 1:
            groups[numbered[1]][metric] = numbered[2]
        elif len(parts) > depth:
            groups["/".join(parts[:depth])][metric] = "/".join(parts[depth:])
    return {name: tails for name, tails in groups.items() if not names_split(name)}


def _with_both_losses(groups: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """The groups with the most usual pair of a training and a held-out loss."""
    pairs = {name: pair for name, tails in groups.items() if (pair := _losses(tails.values()))}
    usual = max(pairs.values(), key=[*pairs.values()].count, default=None)
    return {name: groups[name] for name, pair in pairs.items() if pair == usual}


def _losses(tails: Collection[str]) -> tuple[str, str] | None:
    """The names of the first training loss and the first held-out loss."""
    roles = proposed(tails)
    train, val = (next((t for t in tails if roles[t][0].name == role), None) for role in LOSSES)
    return (train, val) if train and val and names_held_out(val) and not names_held_out(train) else None


@cache
def _numbered() -> re.Pattern[str]:
    words = "|".join(sorted(role_file().words["repetition"]))
    return re.compile(rf"(?i)((?:{words})[ _-]?\d{{1,6}})[ _.-](\w.*)")  # fold_1_train_loss


def _is_part(name: str) -> bool:
    return not role_file().words["network_part"].isdisjoint(normalise(name).split("_"))


def of_the_worst(found: Sequence[Curve], several: Sequence[Training]) -> list[Curve]:
    """The curves without those of other trainings than the one that ended worst, because rules judge one training."""
    if not several:
        return list(found)
    worst = max(several, key=lambda training: _badness(c for c in found if _name(c) in training.metrics))
    others = {metric for training in several if training is not worst for metric in training.metrics}
    return [replace(c, beside=len(several) - 1) for c in found if _name(c) not in others]


def _name(curve: Curve) -> str:
    """The metric as logged: a loss whose values are turned begins with a minus."""
    return curve.metric.removeprefix("-")


def _badness(curves: Iterator[Curve]) -> tuple[bool, float]:
    """Whether a loss ends as no number, and how far the losses rose from their least value or did not fall at all."""
    losses = [c.values for c in curves if c.role.name in LOSSES and c.values.size]
    broken = any(not np.isfinite(values[-1]) for values in losses)
    finite = [x for values in losses if (x := values[np.isfinite(values)]).any()]
    rises = [float(np.median(x[-LAST:]) - x.min()) / float(np.abs(x).max()) for x in finite]
    kept = [float(np.clip(np.median(x[-LAST:]) / np.median(x[:LAST]), 0, 1)) for x in finite if (x > 0).all()]
    return broken, max(rises, default=0.0) + SHARE_OF_LEVEL * max(kept, default=0.0)

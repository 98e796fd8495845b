"""Held-out losses without a total: terms of one loss, or whole losses of several sets."""

from dataclasses import replace

import polars as pl
import pytest

from loganalyst.curves.effective import curves
from loganalyst.curves.heldoutsets import bare_name, held_out_sets, held_out_total, is_sum
from loganalyst.curves.roles import all_roles, assign
from loganalyst.curves.runcurves import run_curves
from loganalyst.model import Curve, Run, Source, table


def run_of(*metrics: str) -> Run:
    """Each metric is 1, 2, 3 times its place at steps 0, 1, 2."""
    frames = [
        table("points", {"session": 0, "metric": m, "step": [0, 1, 2], "value": [k, 2 * k, 3 * k], "source": "m.csv"})
        for k, m in enumerate(metrics, 1)
    ]
    return Run(points=pl.concat(frames), sources=(Source("m.csv", "csv", 1),))


def curves_of(*metrics: str) -> list[Curve]:
    return curves(run_of(*metrics), assign(metrics))


@pytest.mark.parametrize("metric", ["val/box_loss", "train/box_loss", "eval_box_loss", "Box_Loss_epoch"])
def test_the_same_loss_on_both_sets_has_one_bare_name(metric: str) -> None:
    """Words for the set and the unit are left out."""
    assert bare_name(metric) == "boxloss"


@pytest.mark.parametrize(
    ("metrics", "sets"),
    [
        (("train_loss", "eval_wiki_loss", "eval_news_loss"), {"eval_wiki_loss", "eval_news_loss"}),
        (("train/loss", "eval/wikitext/loss", "eval/c4/loss"), {"eval/wikitext/loss", "eval/c4/loss"}),
        (("loss", "eval_loss", "eval_wiki_loss", "eval_news_loss"), set()),
        (("train/box_loss", "train/cls_loss", "val/box_loss", "val/cls_loss"), set()),
        (("train_loss", "val_G_L1"), set()),
    ],
)
def test_held_out_sets(metrics: tuple[str, ...], sets: set[str]) -> None:
    """Two or more losses without counterparts in training are sets; a total, or counterparts, make them terms."""
    assert held_out_sets(curves_of(*metrics)) == sets


def test_sets_are_whole_losses_of_the_run() -> None:
    """Their role and its reason change."""
    run = run_of("train_loss", "eval_wiki_loss", "eval_news_loss")
    values = [3.0, 2.0, 1.0, 4.0, 2.5, 2.0, 5.0, 4.5, 2.75]  # no curve is a multiple of another
    run = replace(run, points=run.points.with_columns(value=pl.Series(values)))
    found, metrics = run_curves(run, {}, {}, {})

    assert [c.metric for c in found if c.role.name == "val_loss"] == ["eval_wiki_loss", "eval_news_loss"]
    assert {m.role for m in metrics if m.name.startswith("eval")} == {"val_loss"}


def test_terms_are_added_up() -> None:
    """At each step; the sum is marked."""
    total = held_out_total(curves_of("train/box_loss", "train/cls_loss", "val/box_loss", "val/cls_loss"), all_roles())

    assert [(c.metric, c.role.name, c.values.tolist()) for c in total] == [
        ("val/box_loss + val/cls_loss", "val_loss", [7.0, 14.0, 21.0])
    ]
    assert is_sum(total[0])


@pytest.mark.parametrize(
    "metrics",
    [
        ("train/box_loss", "train/cls_loss", "val/box_loss"),
        ("train_loss", "eval_wiki_loss", "eval_news_loss"),
        ("train/box_loss", "train/cls_loss", "val_loss", "val/box_loss", "val/cls_loss"),
    ],
)
def test_no_sum_of_one_term_of_sets_or_beside_a_total(metrics: tuple[str, ...]) -> None:
    """One term is no total, sets are no terms, and a logged total needs no sum."""
    assert held_out_total(curves_of(*metrics), all_roles()) == []

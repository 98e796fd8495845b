"""Rules are tested by their own tests and by general tests, which find faults."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl
import pytest

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.ruletests import Outcome, check, texts, verdict
from loganalyst.diagnosis.texttemplate import Template
from loganalyst.errors import SourceError
from loganalyst.model import Features

LR = "optimisation/lr-too-high.yaml"
FREE = {
    "unknown where nothing is logged",
    "every text renders",
    "other runs change nothing",
    "more features reverse no answer",
}
SICK = {"train_loss_points": 100, "train_loss_divergence_count": 1, "lr_at_divergence_share": 1.0}
WELL = {"train_loss_points": 100, "train_loss_divergence_count": 0, "train_loss_nonfinite_count": 0}


def failed(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(o.rule, o.test) for o in outcomes if o.passed is False]


def test_good_rules_pass(catalogue: Catalogue) -> None:
    """Own and general tests of every rule; a test on a run needs a function that reads runs."""
    outcomes = check(catalogue)

    assert failed(outcomes) == []
    assert {o.test for o in outcomes if o.rule == "converged"} == FREE | {"fell far"}
    assert [(o.rule, o.test, o.detail) for o in outcomes if o.passed is None] == [
        ("lr-too-high", "healthy", "needs the run's files")
    ]


def test_tests_on_runs(catalogue: Catalogue) -> None:
    """A run named in a test is read by the caller's function and judged; every rule is asked about the healthy runs."""
    well = check(catalogue, lambda path: Features(WELL), healthy=["healthy/two"])
    sick = check(catalogue, lambda path: Features(SICK), healthy=["healthy/two"])

    assert failed(well) == []
    assert sum(o.test == "not likely for healthy/two" for o in well) == 3
    assert failed(sick) == [("lr-too-high", "healthy"), ("lr-too-high", "not likely for healthy/two")]


def test_unreadable_run_fails_its_test(catalogue: Catalogue) -> None:
    """A fixture that is missing is a failure with its reason, not an exception."""

    def missing(path: str) -> Features:
        raise SourceError(path, "no such run")

    outcomes = check(catalogue, missing)

    assert [(o.rule, o.detail) for o in outcomes if o.passed is False] == [("lr-too-high", "healthy/one: no such run")]


def test_wrong_verdict_is_explained(edited: Callable[[str, Mapping[str, str]], Catalogue]) -> None:
    """The detail of a failed test gives the answer to every question."""
    catalogue = edited(LR, {"verdict: likely": "verdict: unlikely"})
    [outcome] = [o for o in check(catalogue) if o.passed is False]

    assert outcome.test == "diverges at the peak"
    assert outcome.detail == (
        "likely (0.83), expected unlikely; applies: yes; symptoms divergence: yes, nan-loss: not known; evidence "
        "diverged-near-peak-lr: yes, large-rate: not known, no-clipping: not known"
    )


def test_rules_are_judged_without_their_rivals(catalogue: Catalogue) -> None:
    """A rule's test does not depend on which other rules exist."""
    row = {**SICK, "train_loss_nonfinite_count": 1, "config_precision": "fp16"}

    assert verdict(catalogue, catalogue.rules["lr-too-high"], row) == "likely"
    assert verdict(catalogue, catalogue.rules["fp16-overflow"], row) == "possible"


@pytest.mark.parametrize(
    ("expr", "test"),
    [
        (pl.col("lr_peak").is_null(), "unknown where nothing is logged"),
        (pl.col("lr_peak").is_null(), "more features reverse no answer"),
        (pl.col("train_loss_points") >= pl.col("train_loss_points").max(), "other runs change nothing"),
    ],
)
def test_general_tests_find_refused_questions(catalogue: Catalogue, expr: pl.Expr, test: str) -> None:
    """Questions that turn "not known" into an answer, or use other runs, would fail."""
    rule = catalogue.rules["lr-too-high"]
    ask = rule.evidence[1].ask
    let_in = replace(ask, features=tuple(expr.meta.root_names()))
    vars(let_in)["expr"] = expr.alias(ask.text)
    bad = replace(rule.evidence[1], ask=let_in)
    tests = (replace(rule.tests[0], features={**SICK, "lr_peak": 1.0, "train_loss_points": 2}),)
    broken = replace(rule, evidence=(rule.evidence[0], bad), tests=tests, applies_when=None)
    outcomes = check(replace(catalogue, rules={rule.id: broken}, settled={}))

    assert (rule.id, test) in failed(outcomes)


def test_text_that_renders_to_nothing_is_caught(catalogue: Catalogue) -> None:
    """An empty text fails."""
    rule = catalogue.rules["converged"]
    broken = replace(rule, evidence=(replace(rule.evidence[0], says=Template("", ())),))

    assert (rule.id, "every text renders") in failed(check(replace(catalogue, rules={rule.id: broken})))


def test_all_texts_are_checked(catalogue: Catalogue) -> None:
    """Every text of evidence and fixes."""
    assert len(list(texts(catalogue.rules["lr-too-high"]))) == 3 + 2 + 1 + 7

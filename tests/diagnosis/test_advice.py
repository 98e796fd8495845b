"""Fixes have the run's values, and ruled-out rules have their reasons."""

from dataclasses import replace

import pytest

from loganalyst.diagnosis import advice, confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import answer, feature_table
from loganalyst.diagnosis.rule import FixTemplate
from loganalyst.diagnosis.rulesql import ask
from loganalyst.diagnosis.texttemplate import Template, template
from loganalyst.model import Feature, FeatureValue, Fix

DECLARED = {name: Feature(name, "float", "", "", "") for name in ("old", "new")}


def text(value: str | None) -> Template | None:
    return None if value is None else template(value, DECLARED)


@pytest.mark.parametrize(
    ("change", "start", "goal", "otherwise", "known", "expected"),
    [
        ("lr", "{old:.2g}", "{new:.2g}", "divide by 3", {"old": 3e-3, "new": 1e-3}, "lr 0.003 → 0.001"),
        ("lr", "{old:.1e}", "{new:.1e}", None, {"old": 3e-3, "new": 1e-3}, "lr 3.0e-3 → 1.0e-3"),
        ("lr", "{old:.2g}", "{new:.2g}", "divide by 3", {"new": 1e-3}, "lr → 0.001"),
        ("lr", "{old:.2g}", "{new:.2g}", "divide by 3", {"old": 3e-3}, "divide by 3"),
        ("lr", "{old:.2g}", "{new:.2g}", None, {"old": 3e-3}, "lr 0.003"),
        ("lr", None, "1e-3", None, {}, "lr → 1e-3"),
        ("add clipping", None, None, None, {}, "add clipping"),
        ("clip at {new}", None, None, "clip at 1", {}, "clip at 1"),
        ("clip at {new}", None, None, "clip at {old}", {}, ""),
        ("clip at {new}", None, None, None, {}, ""),
    ],
)
def test_change_text(
    change: str,
    start: str | None,
    goal: str | None,
    otherwise: str | None,
    known: dict[str, FeatureValue],
    expected: str,
) -> None:
    """From and to as far as known; `otherwise` if the goal is not known; never a text with a gap."""
    plain = Template("", ())
    fix = FixTemplate(text(change) or plain, plain, plain, text(start), text(goal), text(otherwise))

    assert advice.change_text(fix, known) == expected


def judged(catalogue: Catalogue, rule: str, row: dict[str, FeatureValue]):  # type: ignore[no-untyped-def]
    [answers] = answer(catalogue, feature_table(catalogue, [row]), [{}])
    return confidence.judge(catalogue, answers)[rule], answers


def test_fixes_of_a_rule(catalogue: Catalogue) -> None:
    """All texts of a fix are filled."""
    _, answers = judged(catalogue, "lr-too-high", {"lr_peak": 0.003, "lr_suggested": 0.001})

    assert advice.fixes(catalogue.rules["lr-too-high"], answers) == (
        Fix("optimizer.lr 0.003 → 0.001", "no rise", "look again", "the data"),
    )


@pytest.mark.parametrize(
    ("condition", "row", "offered"),
    [
        ("when", {"lr_peak": 0.5}, 1),
        ("when", {"lr_peak": 0.001}, 0),
        ("when", {"train_loss_points": 3}, 0),
        ("unless", {"lr_peak": 0.5}, 0),
        ("unless", {"lr_peak": 0.001}, 1),
        ("unless", {"train_loss_points": 3}, 1),
    ],
)
def test_a_fix_is_offered_where_its_condition_allows_it(
    catalogue: Catalogue, condition: str, row: dict[str, FeatureValue], offered: int
) -> None:
    """What is not known neither calls for a fix with `when`, nor speaks against one with `unless`."""
    rule = catalogue.rules["lr-too-high"]
    fix = replace(rule.fix[0], **{condition: ask("lr_peak > 0.01", catalogue.declared)})
    known = replace(catalogue, rules={rule.id: replace(rule, fix=(fix,))})
    _, answers = judged(known, rule.id, row)

    assert len(advice.fixes(known.rules[rule.id], answers)) == offered


@pytest.mark.parametrize(
    ("rule", "row", "verdict", "why"),
    [
        (
            "fp16-overflow",
            {"train_loss_nonfinite_count": 1, "config_precision": "bf16"},
            "unlikely",
            "precision is bf16, which does not overflow",
        ),
        (
            "lr-too-high",
            {"train_loss_points": 3, "train_loss_divergence_count": 1},
            "not_applicable",
            "does not apply: train_loss_points >= 20 is not the case",
        ),
        (
            "lr-too-high",
            {"train_loss_points": 30, "train_loss_divergence_count": 0, "train_loss_nonfinite_count": 0},
            "unlikely",
            "none of its symptoms is seen (Loss left its trend, Loss is NaN)",
        ),
        ("lr-too-high", {}, "unknown", "needs train"),
        ("fp16-overflow", {"train_loss_nonfinite_count": 1}, "unknown", "needs config"),
        ("fp16-overflow", {"config_precision": "fp16"}, "unknown", "needs train"),
        (
            "lr-too-high",
            {"train_loss_points": 30, "train_loss_nonfinite_count": 1, "lr_peak": 0.001, "config_clip": 0.5},
            "unlikely",
            "clipping at 0.5 is on",
        ),
    ],
)
def test_why_it_was_ruled_out(
    catalogue: Catalogue, rule: str, row: dict[str, FeatureValue], verdict: str, why: str
) -> None:
    """Each verdict that is no cause has its reason."""
    found = advice.ruled_out(*judged(catalogue, rule, row), catalogue)

    assert (found.id, found.verdict, found.why) == (rule, verdict, why)


def test_a_rival_that_took_the_share_is_the_reason(catalogue: Catalogue) -> None:
    """A rule with nothing against it is ruled out by a likelier one."""
    row: dict[str, FeatureValue] = {"train_loss_points": 30, "train_loss_nonfinite_count": 1, "lr_peak": 0.1}
    row |= {"config_precision": "fp16"}
    rivals = {id_: replace(rule, explains=()) for id_, rule in catalogue.rules.items()}
    lr, answers = judged(replace(catalogue, rules=rivals), "lr-too-high", row)

    assert lr.verdict == "unlikely"
    assert advice.ruled_out(lr, answers, catalogue).why == "another cause of the same symptom is likelier"

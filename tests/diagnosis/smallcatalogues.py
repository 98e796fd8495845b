"""Catalogues of a few small rules, and answers to them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answer, Answers
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.logodds import logit
from loganalyst.diagnosis.rule import Item, Rule, SymptomRule
from loganalyst.diagnosis.rulesql import ask
from loganalyst.diagnosis.texttemplate import template
from loganalyst.model import Feature

YES = ask("x", {"x": Feature("x", "bool", "", "", "")})
TEXT = template("text", {})


def item(id_: str, if_true: float, if_false: float, group: str = "", kind: str = "circumstantial") -> Item:
    return Item(id_, kind, group or id_, YES, if_true, if_false, "judged", TEXT)  # type: ignore[arg-type]


def rule(id_: str, prior: float, *items: Item, symptoms: tuple[str, ...] = ("s",), **more: object) -> Rule:
    rest = {"title": id_, "status": "stable", "since": "0", "family": "f", "severity": "error", "summary": ""}
    texts = {"mechanism": "", "fix": (), "will_not_fix": "", "tests": (), "path": Path(), "label": "other"}
    return Rule(id=id_, prior=prior, symptoms=symptoms, evidence=items, **{**rest, **texts, **more})  # type: ignore[arg-type]


def answers(
    symptoms: Mapping[str, Answer], items: Mapping[str, tuple[Answer, ...]], applies: Mapping[str, Answer] | None = None
) -> Answers:
    return Answers({"run_kind": "training"}, {}, symptoms, dict.fromkeys(items, True) | (applies or {}), items)  # type: ignore[arg-type]


def catalogue_of(*rules: Rule, core: tuple[str, ...] = ()) -> Catalogue:
    ids = {s for r in rules for s in r.symptoms}
    symptoms = {s: SymptomRule(s, s, YES, TEXT, core=("training",) if s in core else ()) for s in sorted(ids)}
    return Catalogue({r.id: r for r in rules}, symptoms, {})


def direct(id_: str, p: float, **more: object) -> Rule:
    """A rule that, with its one item answered TRUE, is alone at exactly p."""
    return rule(id_, 0.01, item("a", logit(p) - logit(0.01), -1.0, kind="direct"), **more)  # type: ignore[arg-type]


def asking(feature: str, if_true: float, kind: str = "direct") -> Item:
    """An item that asks for one feature."""
    return replace(
        item(feature, if_true, -1.0, kind=kind), ask=ask(feature, {feature: Feature(feature, "bool", "", "", "")})
    )


def judged(catalogue: Catalogue, symptoms: Mapping[str, Answer]) -> dict[str, Judged]:
    """Every rule judged, each with all its items answered TRUE."""
    return confidence.judge(catalogue, answers(symptoms, dict.fromkeys(catalogue.rules, (True,))))

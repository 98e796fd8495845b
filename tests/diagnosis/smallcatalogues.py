"""Catalogues of a few small rules, and answers to them."""

from collections.abc import Mapping
from pathlib import Path

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answer, Answers
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

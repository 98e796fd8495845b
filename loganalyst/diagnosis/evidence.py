"""Asks every question of the catalogue over the whole feature table at once, and puts the answers into words.

An answer is True, False or None (not known). The answers of a run do not depend on the other runs in the table.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import polars as pl

from loganalyst.diagnosis import healthyrange
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.kindcap import foreigners
from loganalyst.diagnosis.rowanswers import holds
from loganalyst.diagnosis.rule import Item, Rule, SymptomRule
from loganalyst.diagnosis.rulesql import Ask
from loganalyst.diagnosis.texttemplate import Template
from loganalyst.model import Evidence, Feature, FeatureValue, Symptom, Witness, constant

Answer = bool | None
NOWHERE = Witness()
FEW = 16  # rows that are answered one by one


@dataclass(frozen=True)
class Answers:
    """The answers of one run. `items` holds the answers to each rule's evidence, in the rule's order.

    `conditions` are the answers to the conditions of fixes, by their texts. `usual` are items that do not count,
    because healthy runs have such values (`healthyrange.usual`). `if_reported` are the answers for those symptoms that
    are asked otherwise if the user reports them.
    """

    values: Mapping[str, FeatureValue]
    witnesses: Mapping[str, Witness]
    symptoms: Mapping[str, Answer]
    applies: Mapping[str, Answer]
    items: Mapping[str, tuple[Answer, ...]]
    notes: Mapping[str, Answer] = field(default_factory=dict)
    conditions: Mapping[str, Answer] = field(default_factory=dict)
    usual: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    if_reported: Mapping[str, Answer] = field(default_factory=dict)

    def with_reported(self, ids: Iterable[str]) -> "Answers":
        """The same answers for a user who reports the symptoms `ids`."""
        reported = {id_: self.if_reported[id_] for id_ in ids if id_ in self.if_reported}
        return replace(self, symptoms={**self.symptoms, **reported}) if reported else self

    def missing(self, asks: Iterable[Ask]) -> tuple[str, ...]:
        """The unknown features of these questions, each once."""
        return tuple(dict.fromkeys(f for ask in asks for f in ask.features if self.values.get(f) is None))

    def needed(self, features: Iterable[str], declared: Mapping[str, Feature]) -> str:
        """What must be logged to know these features, in words. What is logged and does not show them is no need."""
        if missing := sorted(self.to_log(features, declared)):
            return f"needs {', '.join(missing)}"
        names = sorted({declared[f].needs or f for f in features})
        return f"not shown by {', '.join(names)}" if names else "undecided"

    def to_log(self, features: Iterable[str], declared: Mapping[str, Feature]) -> tuple[str, ...]:
        """What must be logged to know these features, each once, without what is logged already."""
        logged = {declared[f].needs for f, value in self.values.items() if value is not None and f in declared}
        names = (declared[f].needs or f for f in features)
        return tuple(dict.fromkeys(name for name in names if name not in logged))

    def witness(self, at: str | None, ask: Ask) -> Witness:
        """Where the answer was seen: the witness of `at`, else of the first feature in the question that has one."""
        places = (*filter(None, (at,)), *ask.features)
        found = (self.witnesses[f] for f in places if f in self.witnesses and self.witnesses[f].placed)
        return next(found, NOWHERE)


def feature_table(catalogue: Catalogue, rows: Sequence[Mapping[str, FeatureValue]]) -> pl.DataFrame:
    """One row per run, with the features that are known for any run, in their types."""
    some = {name for row in rows for name, value in row.items() if value is not None}
    known = {name: dtype for name, dtype in catalogue.types.items() if name in some}
    known = known or dict(islice(catalogue.types.items(), 1))  # without a column there are no rows
    return pl.from_dicts([{name: row.get(name) for name in known} for row in rows], schema=known, strict=False)


def answer(
    catalogue: Catalogue, table: pl.DataFrame, witnesses: Sequence[Mapping[str, Witness]], few: int = FEW
) -> list[Answers]:
    """Ask everything of every run: `table` has one row per run, `witnesses` one mapping per run.

    Features without a column are not known. Columns that are no features are ignored. Up to `few` runs are answered
    one by one: polars plans for 50 ms, and Python answers a run in 2 ms.
    """
    normal = _normal(catalogue, table)
    nothing = dict.fromkeys(catalogue.types)
    values = normal.rows(named=True) or [{}] * table.height
    if len(values) > few:
        rows: Sequence[Mapping[str, Answer]] = _asked(catalogue, normal).rows(named=True) or [{}] * len(values)
    else:
        asks = _open(catalogue, normal)
        rows = [{ask.text: holds(ask.parts, row) for ask in asks} for row in values]
    runs = zip(rows, values, witnesses, strict=True)
    return [_answers(catalogue, {**catalogue.unanswered, **row}, nothing | known, seen) for row, known, seen in runs]


def put(catalogue: Catalogue, asks: Sequence[Ask], table: pl.DataFrame) -> pl.DataFrame:
    """These questions of every run, as Boolean columns named by their texts. A feature without a column is unknown."""
    absent = {name for ask in asks for name in ask.features}.difference(table.columns)
    unknown = [constant(None, table.height, catalogue.types[name]).alias(name) for name in absent]
    return table.hstack(unknown).select(ask.expr for ask in asks)


def _asked(catalogue: Catalogue, normal: pl.DataFrame) -> pl.DataFrame:
    return put(catalogue, _open(catalogue, normal), normal)


def _open(catalogue: Catalogue, normal: pl.DataFrame) -> list[Ask]:
    """The questions about features that some run knows. A run knows few features, and every question costs time."""
    known = frozenset(normal.columns)
    return [ask for ask in catalogue.questions if not known.isdisjoint(ask.features)]


def _normal(catalogue: Catalogue, table: pl.DataFrame) -> pl.DataFrame:
    """The declared columns that are known for any run, in their types. NaN becomes not known."""
    types = catalogue.types
    known = [c for c in table.get_columns() if c.name in types and c.null_count() < table.height]
    normal = pl.DataFrame([c if c.dtype == types[c.name] else c.cast(types[c.name]) for c in known])
    floats = [c.name for c in normal.get_columns() if c.dtype == pl.Float64 and (len(c) > FEW or _has_nan(c))]
    return normal.with_columns(pl.col(floats).fill_nan(None)) if floats else normal


def _has_nan(column: pl.Series) -> bool:
    return any(value is not None and math.isnan(value) for value in column.to_list())


def _answers(
    catalogue: Catalogue,
    row: Mapping[str, Answer],
    values: Mapping[str, FeatureValue],
    witnesses: Mapping[str, Witness],
) -> Answers:
    items = {id_: tuple(row[item.ask.text] for item in rule.evidence) for id_, rule in catalogue.rules.items()}
    symptoms, rules, notes = (
        foreigners(each, values) for each in (catalogue.symptoms, catalogue.rules, catalogue.notes)
    )
    usual = healthyrange.usual(catalogue, values, items)
    return Answers(
        values,
        witnesses,
        symptoms={id_: id_ not in symptoms and row[s.ask.text] for id_, s in catalogue.symptoms.items()},
        applies={id_: id_ not in rules and _applies(rule, row) for id_, rule in catalogue.rules.items()},
        items=healthyrange.withdrawn(items, usual),
        notes={id_: id_ not in notes and row[note.ask.text] for id_, note in catalogue.notes.items()},
        conditions={ask.text: row[ask.text] for ask in catalogue.conditions},
        usual=usual,
        if_reported={
            id_: id_ not in symptoms and row[s.if_reported.text]
            for id_, s in catalogue.symptoms.items()
            if s.if_reported
        },
    )


def _applies(rule: Rule, row: Mapping[str, Answer]) -> Answer:
    return row[rule.applies_when.text] if rule.applies_when else True


def evidence(
    rule: Rule, answers: Answers, counted: Sequence[float], declared: Mapping[str, Feature]
) -> tuple[Evidence, ...]:
    """The rule's items in words: those that hold, then unknown ones, then the others, each by weight.

    `counted` is the weight of each item in the confidence.
    """
    holds = answers.items[rule.id]
    worded = [_worded(*row, answers, declared) for row in zip(rule.evidence, holds, counted, strict=True)]
    order = {True: 0, None: 1, False: 2}
    return tuple(sorted(worded, key=lambda e: (order[e.holds], -abs(e.weight))))


def _worded(item: Item, holds: Answer, weight: float, answers: Answers, declared: Mapping[str, Feature]) -> Evidence:
    witness = answers.witness(item.at, item.ask)
    return Evidence(
        id=item.id,
        kind=item.kind,
        holds=holds,
        text=_text(item, holds, answers, declared),
        weight=weight,
        group=item.group,
        metric=witness.metric,
        step=step(item.at, answers, witness),
        file=witness.file,
        line=witness.line,
        metrics=_metrics(item, answers),
    )


def _metrics(item: Item, answers: Answers) -> tuple[str, ...]:
    """The metrics that its text names, then those in which the features of its question were seen."""
    named = [answers.values.get(f) for f in item.says.features if f.endswith("_metric")]
    seen = [answers.witnesses[f].metric for f in item.ask.features if f in answers.witnesses]
    return tuple(dict.fromkeys(m for m in (*named, *seen) if isinstance(m, str)))


def _text(item: Item, holds: Answer, answers: Answers, declared: Mapping[str, Feature]) -> str:
    if holds is None:
        names = answers.to_log(answers.missing([item.ask]), declared)
        return f"not known: needs {', '.join(sorted(names))}" if names else ""
    templates = (item.says, item.otherwise) if holds else (item.says_if_false,)
    return first_known(templates, answers.values)


def first_known(templates: Iterable[Template | None], values: Mapping[str, FeatureValue]) -> str:
    """The first text whose values are all known, or an empty text."""
    texts = (t.render(values) for t in templates if t is not None)
    return next((text for text in texts if text is not None), "")


def step(at: str | None, answers: Answers, witness: Witness) -> int | None:
    """The value of the feature `at` if it is a step, else the step of the witness."""
    value = answers.values.get(at) if at is not None and at.endswith("_step") else None
    return value if isinstance(value, int) else witness.step


def symptom(rule: SymptomRule, answers: Answers) -> Symptom:
    """An observed symptom in words, with its place."""
    witness = answers.witness(rule.at, rule.ask)
    metric = answers.values.get(rule.metric) if rule.metric else None
    return Symptom(
        id=rule.id,
        title=rule.title,
        metric=metric if isinstance(metric, str) else witness.metric,
        step=step(rule.at, answers, witness),
        text=first_known([rule.says], answers.values) or rule.title,
        origin=rule.origin,
    )

"""Runs the tests of rules: the tests in their files, and general tests that every rule must pass.

The general tests: without features the rule is unknown; no healthy run finds it likely; every text renders; other runs
in the batch change nothing; more features never reverse an answer (a question answered while some features are not
known keeps its answer when they become known).
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import FEW, Answers, answer, feature_table
from loganalyst.diagnosis.ownevidence import judge_alone
from loganalyst.diagnosis.rule import NoteRule, NoteTest, Rule, RuleTest
from loganalyst.diagnosis.texttemplate import SAMPLES, Template
from loganalyst.errors import LogAnalystError
from loganalyst.model import Features, FeatureValue, Verdict

Row = Mapping[str, FeatureValue]
FeaturesOf = Callable[[str], Features]
RANDOM_ROWS = 8  # random partial rows per test, in addition to leaving out each feature alone


class Outcome(msgspec.Struct, frozen=True):
    """One test of one rule. `passed` is None if it was not run. `detail` says why it failed or was not run."""

    rule: str
    test: str
    passed: bool | None
    detail: str = ""


def check(catalogue: Catalogue, features_of: FeaturesOf | None = None, healthy: Sequence[str] = ()) -> list[Outcome]:
    """Run all tests of all rules, each rule judged without its rivals.

    `features_of` gives the features of a run by its path as written in a test (None: such tests are not run).
    `healthy` are the paths of healthy runs.
    """
    known = {path: features_of(path) for path in healthy} if features_of else {}
    rules = [
        outcome for rule in catalogue.rules.values() for outcome in _rule_outcomes(catalogue, rule, features_of, known)
    ]
    return [*rules, *_note_outcomes(replace(catalogue, rules={}, symptoms={}))]


def _note_outcomes(catalogue: Catalogue) -> Iterator[Outcome]:
    """The tests of the notes: those in their files; without features none is shown; their texts render."""
    silent = NoteTest("silent where nothing is logged", False, {})
    tests = [(note, (*note.tests, silent)) for note in catalogue.notes.values()]
    answers = iter(_answers(catalogue, [test.features for _, each in tests for test in each]))
    for note, each in tests:
        both = {test.shown for test in note.tests} == {True, False}
        yield Outcome(note.id, "tests show it and do not", both, "" if both else "a test of each kind is needed")
        yield from (_shown(note, test, next(answers)) for test in each)


def _shown(note: NoteRule, test: NoteTest, answers: Answers) -> Outcome:
    shown = answers.notes[note.id] is True
    empty = shown and None in (note.says.render(test.features), note.change.render(test.features))
    fault = "a text is not filled" if empty else "" if shown is test.shown else f"shown: {shown}"
    return Outcome(note.id, test.name, not fault, fault)


def _rule_outcomes(
    catalogue: Catalogue, rule: Rule, features_of: FeaturesOf | None, healthy: Mapping[str, Features]
) -> Iterator[Outcome]:
    catalogue = catalogue.only([rule.id])
    rows: list[tuple[Row, Answers]] = []
    for test in rule.tests:
        if test.features is None:
            yield _on_run(catalogue, rule, test, features_of)
        else:
            rows.append((test.features, _answers(catalogue, [test.features])[0]))
            yield _judged(rule, test, rows[-1][1])
    for path, features in healthy.items():
        found = verdict(catalogue, rule, features.values)
        passed = rule.benign or found != "likely"
        yield Outcome(rule.id, f"not likely for {path}", passed, "" if passed else "likely for a healthy run")
    for name, fault in (
        ("unknown where nothing is logged", _unlogged(catalogue, rule)),
        ("every text renders", _unrendered(catalogue, rule)),
        ("other runs change nothing", _disturbed(catalogue, rows)),
        ("more features reverse no answer", _reversed(catalogue, rows)),
    ):
        yield Outcome(rule.id, name, not fault, fault)


def verdict(catalogue: Catalogue, rule: Rule, values: Row) -> Verdict:
    """The verdict of one rule on one row of features, without rivals."""
    answers = _answers(catalogue, [values])[0]
    return judge_alone(rule, answers).verdict


def _answers(catalogue: Catalogue, rows: Sequence[Row], few: int = FEW) -> list[Answers]:
    return answer(catalogue, feature_table(catalogue, rows), [{} for _ in rows], few)


def _on_run(catalogue: Catalogue, rule: Rule, test: RuleTest, features_of: FeaturesOf | None) -> Outcome:
    """A test that names a run."""
    if features_of is None or test.run is None:
        return Outcome(rule.id, test.name, None, "needs the run's files")
    try:
        values = features_of(test.run).values
    except LogAnalystError as error:
        return Outcome(rule.id, test.name, False, str(error))
    return _judged(rule, test, _answers(catalogue, [values])[0])


def _judged(rule: Rule, test: RuleTest, answers: Answers) -> Outcome:
    found = judge_alone(rule, answers).verdict
    passed = found in test.verdicts
    return Outcome(rule.id, test.name, passed, "" if passed else _explanation(rule, answers, test, found))


def _explanation(rule: Rule, answers: Answers, test: RuleTest, found: Verdict) -> str:
    """Why the verdict differs: the probability, and the answer to each question."""
    p = judge_alone(rule, answers).alone
    words = {True: "yes", False: "no", None: "not known"}
    symptoms = ", ".join(f"{s}: {words[answers.symptoms[s]]}" for s in rule.symptoms)
    items = ", ".join(f"{i.id}: {words[h]}" for i, h in zip(rule.evidence, answers.items[rule.id], strict=True))
    wanted = " or ".join(test.verdicts)
    applies = words[answers.applies[rule.id]]
    return f"{found} ({p:.2f}), expected {wanted}; applies: {applies}; symptoms {symptoms}; evidence {items}"


def _unlogged(catalogue: Catalogue, rule: Rule) -> str:
    found = verdict(catalogue, rule, {})
    return "" if found == "unknown" else f"{found} where nothing is known"


def _unrendered(catalogue: Catalogue, rule: Rule) -> str:
    """Every text is filled if all features are known, and left out if none is."""
    known = {name: SAMPLES[feature.dtype] for name, feature in catalogue.declared.items()}
    for template in texts(rule):
        if not (template.render(known) or "").strip():
            return f"empty with all features known: {template.text!r}"
        if template.features and template.render({}) is not None:
            return f"filled with no feature known: {template.text!r}"
    return ""


def texts(rule: Rule) -> Iterator[Template]:
    """Every text of a rule that may hold placeholders."""
    for item in rule.evidence:
        yield from filter(None, (item.says, item.says_if_false, item.otherwise))
    for fix in rule.fix:
        parts = (fix.change, fix.start, fix.goal, fix.otherwise, fix.expected_impact, fix.verify, fix.if_not)
        yield from filter(None, parts)


def _disturbed(catalogue: Catalogue, rows: Sequence[tuple[Row, Answers]]) -> str:
    """A row must give the same answers alone and among others: an empty row, a full row, the rule's other tests."""
    known: Row = {name: SAMPLES[feature.dtype] for name, feature in catalogue.declared.items()}
    together = _answers(catalogue, [{}, *(row for row, _ in rows), known], few=0)[1:-1]
    for (row, alone), answers in zip(rows, together, strict=True):
        if alone != answers:
            return f"answers differ with other runs in the batch: {dict(row)}"
    return ""


def _reversed(catalogue: Catalogue, rows: Sequence[tuple[Row, Answers]]) -> str:
    partial = [(row, _flat(full), less) for row, full in rows for less in _partial(row)]
    answers = _answers(catalogue, [less for _, _, less in partial], few=0) if partial else []
    for (row, full, less), given in zip(partial, answers, strict=True):
        changed = [place for place, a in _flat(given).items() if a is not None and a != full[place]]
        if changed:
            return f"{changed[0]} is reversed when {sorted(set(row) - set(less))} become known"
    return ""


def _partial(row: Row) -> Iterator[Row]:
    """The row without each feature in turn, then rows with a random half of the features."""
    for name in row:
        yield {k: v for k, v in row.items() if k != name}
    choose = random.Random(0)
    for _ in range(RANDOM_ROWS):
        yield {k: v for k, v in row.items() if choose.random() < 0.5}


def _flat(answers: Answers) -> dict[str, bool | None]:
    """All answers of a run, by their place in words."""
    items = {f"{id_} item {i + 1}": holds for id_, row in answers.items.items() for i, holds in enumerate(row)}
    applies = {f"{id_} applies": holds for id_, holds in answers.applies.items()}
    return {**{f"symptom {id_}": holds for id_, holds in answers.symptoms.items()}, **applies, **items}

"""Reads files of rules, symptoms, notes and experiments into checked ones. Every fault is noted with its line."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import msgspec

from loganalyst.diagnosis.rule import (
    ExperimentRule,
    FixTemplate,
    Item,
    NoteRule,
    NoteTest,
    OutcomeRule,
    Rule,
    RuleTest,
    SymptomRule,
)
from loganalyst.diagnosis.ruleentries import (
    ExperimentEntry,
    FixEntry,
    ItemEntry,
    NoteEntry,
    RuleEntry,
    SymptomEntry,
    TestEntry,
)
from loganalyst.diagnosis.rulereader import Reader, one_line
from loganalyst.diagnosis.rulesql import ask
from loganalyst.diagnosis.texttemplate import Template
from loganalyst.model import OURS, Feature
from loganalyst.model.labels import LABELS
from loganalyst.rulefiles import Keys, Shape, origin

T = TypeVar("T")
S = TypeVar("S", bound=Shape)

_QUESTIONS = ("expect", "when", "unless")  # of a fix; its other fields are texts
_EMPTY = Template("", ())
_NOTHING = ask("nothing", {"nothing": Feature("nothing", "bool", "", "", "")})


def _shared(target: type, source: Shape) -> dict[str, Any]:
    """The fields that a dataclass shares with a shape, texts on one line. The caller replaces those it converts."""
    values = {f.name: getattr(source, f.name) for f in fields(target) if f.name in source.__struct_fields__}
    return {name: one_line(value) if isinstance(value, str) else value for name, value in values.items()}


def rule(reader: Reader) -> Rule | None:
    """The rule of a file, which is sound if `reader.faults` is empty; None where the file is no mapping."""
    found, path = reader.fitted(RuleEntry), reader.file.path
    if not isinstance(reader.file.data, dict):
        return None
    if found.id and found.id != path.stem:
        reader.note(("id",), f"id is {found.id!r}", f"the file's name is needed: {path.stem!r}")
    _one_list_of_kinds(reader, (), found)
    for key in ("symptoms", "evidence", "fix", "tests"):
        if reader.file.data.get(key) == []:
            reader.note((key,), f"{key} is empty", "at least one is needed")
    if len({item.id for item in found.evidence}) < len(found.evidence):
        reader.note(("evidence",), "two items have the same id")
    own_weights = found.replay if isinstance(found.replay, dict) else {}
    converted = {
        "label": reader.known(("label",), found.label, sorted(LABELS)),
        "applies_when": reader.ask(("applies_when",), found.applies_when),
        "symptoms": reader.once(("symptoms",), found.symptoms),
        "explains": reader.once(("explains",), found.explains),
        "evidence": tuple(_item(reader, ("evidence", i), item) for i, item in enumerate(found.evidence)),
        "fix": tuple(_fix(reader, ("fix", i), fix) for i, fix in enumerate(found.fix)),
        "references": reader.once(("references",), found.references),
        "replay": reader.once(("replay",), tuple(found.replay)),
        "replay_weights": {name: weights for name, weights in own_weights.items() if weights},
        "tests": tuple(_test(reader, ("tests", i), test) for i, test in enumerate(found.tests)),
    }
    return Rule(**_shared(Rule, found) | converted, path=path)


def symptoms(reader: Reader) -> dict[str, SymptomRule]:
    """The sound symptoms of a symptoms.yaml, by id."""
    return _by_id(reader, _symptom, SymptomEntry)


def notes(reader: Reader) -> dict[str, NoteRule]:
    """The sound notes of a notes.yaml, by id."""
    return _by_id(reader, _note, NoteEntry)


def experiments(reader: Reader) -> dict[str, ExperimentRule]:
    """The sound experiments of a replay.yaml, by id."""
    return _by_id(reader, _experiment, ExperimentEntry)


def _by_id(reader: Reader, read: Callable[[Reader, str, S], T], shape: type[S]) -> dict[str, T]:
    """The sound entries of a file that holds several."""
    sound = {}
    for id_ in reader.fitted(dict[str, Any]):
        before = len(reader.faults)
        entry = read(reader, id_, reader.fitted(shape, (id_,)))
        if len(reader.faults) == before:
            sound[id_] = entry
    return sound


def _experiment(_: Reader, id_: str, found: ExperimentEntry) -> ExperimentRule:
    outcomes = {name: OutcomeRule(one_line(o.means), o.weights) for name, o in found.outcomes.items()}
    return ExperimentRule(id_, one_line(found.question), found.group or id_, found.limits, outcomes)


def _one_list_of_kinds(reader: Reader, at: Keys, found: RuleEntry | SymptomEntry | NoteEntry) -> None:
    """Note an entry that lists both the kinds of training that it is for and those that it is not for."""
    if found.kinds and found.excluded_kinds:
        reader.note((*at, "excluded_kinds"), "kinds and excluded_kinds are both given", "one of them is enough")


def _note(reader: Reader, id_: str, found: NoteEntry) -> NoteRule:
    _one_list_of_kinds(reader, (id_,), found)
    converted = {
        "ask": reader.ask((id_, "ask"), found.ask) or _NOTHING,
        "says": reader.template((id_, "says"), found.says) or _EMPTY,
        "change": reader.template((id_, "change"), found.change) or _EMPTY,
        "tests": tuple(
            NoteTest(test.name, test.shown, reader.features((id_, "tests", i, "features"), test.features))
            for i, test in enumerate(found.tests)
        ),
        "perhaps": reader.once((id_, "perhaps"), found.perhaps),
        "excuses": reader.once((id_, "excuses"), found.excuses),
        "unless_seen": reader.once((id_, "unless_seen"), found.unless_seen),
    }
    return NoteRule(id=id_, **_shared(NoteRule, found) | converted, path=reader.file.path)


def _symptom(reader: Reader, id_: str, found: SymptomEntry) -> SymptomRule:
    _one_list_of_kinds(reader, (id_,), found)
    return SymptomRule(
        id=id_,
        title=one_line(found.title),
        ask=reader.ask((id_, "ask"), found.ask) or _NOTHING,
        says=reader.template((id_, "says"), found.says) or _EMPTY,
        at=reader.feature((id_, "at"), found.at),
        metric=reader.feature((id_, "metric"), found.metric, text=True),
        core=reader.once((id_, "core"), found.core),
        told=reader.once((id_, "told"), found.told),
        if_reported=reader.ask((id_, "if_reported"), found.if_reported) if found.if_reported else None,
        kinds=found.kinds,
        excluded_kinds=found.excluded_kinds,
        origin=origin(reader.file.path) or OURS,
    )


def _item(reader: Reader, at: Keys, found: ItemEntry) -> Item:
    true, false = found.weight.if_true, found.weight.if_false
    if true * false > 0 or true == false == 0:  # NaN, which stands for a faulty weight, fails both
        hint = "one answer speaks for the cause, the other against it (or says nothing)"
        reader.note((*at, "weight"), f"weights {true:g} and {false:g}", hint)
    converted = {
        "group": one_line(found.group or found.id),
        "ask": reader.ask((*at, "ask"), found.ask) or _NOTHING,
        "says": reader.template((*at, "says"), found.says) or _EMPTY,
        "says_if_false": reader.template((*at, "says_if_false"), found.says_if_false),
        "otherwise": reader.template((*at, "otherwise"), found.otherwise),
        "at": reader.feature((*at, "at"), found.at),
    }
    return Item(**_shared(Item, found) | converted, if_true=true, if_false=false)


def _fix(reader: Reader, at: Keys, found: FixEntry) -> FixTemplate:
    keys = {f.name: f.encode_name for f in msgspec.structs.fields(FixEntry) if f.name not in _QUESTIONS}
    texts = {name: reader.template((*at, key), getattr(found, name)) for name, key in keys.items()}
    required = {name: texts[name] or _EMPTY for name in ("change", "expected_impact", "verify")}
    asks = {name: reader.ask((*at, name), getattr(found, name)) for name in _QUESTIONS}
    return FixTemplate(**texts | required | asks)  # type: ignore[arg-type]


def _test(reader: Reader, at: Keys, found: TestEntry) -> RuleTest:
    if (found.features is None) == (found.run is None):
        reader.note(at, "a test has either features or run")
    verdict = found.expect.verdict
    features = None if found.features is None else reader.features((*at, "features"), found.features)
    return RuleTest(one_line(found.name), (verdict,) if isinstance(verdict, str) else verdict, features, found.run)

"""Judges the settings of a run by the checks of all topics."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
import polars as pl

from loganalyst.checking.derived import WORKED_OUT_FROM
from loganalyst.checking.facts import Facts, known_facts
from loganalyst.checking.topics import Check, Topic, facts, looked_up, topics
from loganalyst.diagnosis.rowanswers import holds
from loganalyst.diagnosis.rulesql import Ask, schema
from loganalyst.model import (
    CheckedSetting,
    Diagnosis,
    FeatureValue,
    MissingSetting,
    SettingFinding,
    SettingsCheck,
    SettingSeverity,
    UsualSetting,
    amount,
)

ORDER: tuple[SettingSeverity, ...] = ("wrong", "unusual", "record")
# what describes a training, in the order of reports
DESCRIBING = (
    "model_size", "embedding_share", "adapters", "base_model", "optimizer_family", "learning_rate", "batch_total",
    "tokens_per_update", "tokens_planned", "tokens_per_parameter", "data_passes", "warmup_share", "precision_kind",
)  # fmt: skip
EXPECTED = ("learning_rate", "optimizer_family", "batch_total", "warmup_share", "seed")  # of each training
MAX_KEYS = 4  # names of a missing setting that are listed

Answer = Literal["wrong", "unusual", "record", "usual", "silent"]


class Judged(msgspec.Struct, frozen=True):
    """The answer of one check, and whether it was asked but its value is not known (`open`)."""

    topic: Topic
    check: Check
    answer: Answer
    open: bool = False


def check(found: Diagnosis) -> SettingsCheck:
    """What the settings of a diagnosed run say. Raises RuleError for a fault in `rules/settings/`.

    >>> import loganalyst as la
    >>> from loganalyst.checking import check
    >>> [finding.severity for finding in check(la.diagnose("fixtures/runs/nan-lr")).findings]
    ['record']
    """
    known = known_facts(found)
    judged = judge(known.values)
    described = (known.shown(name) for name in DESCRIBING)
    findings = [_finding(one, known) for one in judged if one.answer in ORDER]
    return SettingsCheck(
        path=found.run.path,
        settings=known.settings,
        kind=found.training_kind,
        facts=tuple(fact for fact in described if fact.value is not None and fact.value is not False),
        findings=tuple(sorted(findings, key=lambda finding: ORDER.index(finding.severity))),
        usual=tuple(_usual(one, known) for one in judged if one.answer == "usual"),
        missing=tuple(_missing(judged, known)),
    )


def judge(values: Mapping[str, FeatureValue]) -> list[Judged]:
    """The answer of every check for these facts; a name that is left out is not known."""
    asks = _asks()
    types = schema({name: facts()[name] for ask in asks for name in ask.features})
    table = pl.DataFrame({name: [values.get(name)] for name in types}, types)
    row = table.row(0, named=True)
    if any(isinstance(v, float) and math.isnan(v) for v in row.values()):  # polars puts it above every number
        answers = table.select(ask.expr for ask in asks).row(0, named=True)
    else:
        answers = {ask.text: holds(ask.parts, row) for ask in asks}
    return [_judged(topic, one, values, answers) for topic in topics() for one in topic.checks]


def _asks() -> Sequence[Ask]:
    """Every question, each text once."""
    found = (ask for topic in topics() for one in topic.checks for ask in (one.when, one.ask) if ask is not None)
    return tuple({ask.text: ask for ask in found}.values())


def _judged(topic: Topic, one: Check, values: Mapping[str, FeatureValue], answers: Mapping[str, bool | None]) -> Judged:
    if one.when is not None and not answers[one.when.text]:
        return Judged(topic, one, "silent")
    if one.ask is not None:
        said = answers[one.ask.text]
        texts = (one.says, one.change)
        known = all(values.get(name) is not None for text in texts if text for name in text.features)
        return Judged(topic, one, one.severity if said and known else "silent", open=said is None)
    value = values.get(one.of)
    if not isinstance(value, (int, float)) or not 0 <= value < math.inf:  # below 0 stands for "automatic"
        return Judged(topic, one, "silent", open=value is None)
    return Judged(topic, one, _place(float(value), one))


def _place(value: float, one: Check) -> Answer:
    if one.possible and not one.possible[0] <= value <= one.possible[1]:
        return "wrong"
    return "usual" if one.usual and one.usual[0] <= value <= one.usual[1] else "unusual"


def _finding(judged: Judged, known: Facts) -> SettingFinding:
    one, values = judged.check, known.values
    settings = tuple(known.shown(name) for name in one.names if values.get(name) is not None)
    text, why = _ranged(one, settings[0]) if one.of else ((one.says and one.says.render(values)) or one.title, one.why)
    return SettingFinding(
        id=one.id,
        topic=judged.topic.title,
        title=one.title,
        severity="record" if judged.answer == "record" else "wrong" if judged.answer == "wrong" else "unusual",
        text=text,
        usual=usual_range(one),
        why=why,
        change=one.change.render(values) or one.change.text,
        settings=settings,
        sources=one.sources,
    )


def _ranged(one: Check, setting: CheckedSetting) -> tuple[str, str]:
    """What was found beside the usual range, and what follows from it."""
    value = setting.value if isinstance(setting.value, (int, float)) else 0.0
    low = bool(one.usual) and value < one.usual[0]  # type: ignore[index]
    meaning = setting.meaning.partition(" (")[0].removesuffix(" in the config")
    name = setting.key if setting.key and setting.name in looked_up() else meaning
    return f"{name} is {amount(float(value))}", one.low if low else one.high


def usual_range(one: Check) -> str:
    """The usual range of a check in words: `1e-5 to 1e-3`."""
    return one.usually or (" to ".join(map(amount, one.usual)) if one.usual else "")


def _usual(judged: Judged, known: Facts) -> UsualSetting:
    one = judged.check
    return UsualSetting(one.id, judged.topic.title, one.title, usual_range(one), known.shown(one.of))


def _missing(judged: Sequence[Judged], known: Facts) -> Iterator[MissingSetting]:
    """The settings that checks for this kind of run asked about and did not find, and those that most configs have."""
    asked = dict.fromkeys(one.check.of for one in judged if one.open and one.check.of and one.check.when)
    for_each = known.values.get("batch_per_device") is not None and known.values.get("batch_global") is None
    devices = {"devices": None} if for_each else {}  # the effective batch size is then that of one device
    for name in {**dict.fromkeys(EXPECTED), **devices, **asked}:
        sources = WORKED_OUT_FROM.get(name, ())
        if known.values.get(name) is None and all(known.values.get(source) is None for source in sources):
            yield MissingSetting(name, facts()[name].meaning, _keys(name)[:MAX_KEYS])


def _keys(name: str) -> tuple[str, ...]:
    """The keys under which a fact is looked for; of a value that is worked out, the first keys of what it needs."""
    own = looked_up().get(name)
    sources = (looked_up().get(source) for source in WORKED_OUT_FROM.get(name, ()))
    return own.keys if own else tuple(setting.keys[0] for setting in sources if setting)


__all__ = ["Judged", "check", "judge", "usual_range"]

"""Whether a failed run should be started again, as it is or on other nodes (`rules/restart.yaml`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated

from loganalyst.diagnosis.attempts import Earlier, attempts_of, in_a_row
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import feature_table, put
from loganalyst.diagnosis.rulesql import Ask, faults, parsed
from loganalyst.diagnosis.texttemplate import Template, template
from loganalyst.model import Cause, Diagnosis, Feature, Restart, RestartVerdict
from loganalyst.model.labels import LABELS
from loganalyst.rulefiles import Shape, Text, Texts, load, needed, refuse_name, rules_dir, typed

# States of runs that ended before their work was done
_BROKEN_OFF = ("failed", "killed", "timeout", "preempted", "node_fail", "cancelled")


class Entry(Shape, frozen=True):
    """One entry of the file, as it stands there."""

    id: Text
    verdict: RestartVerdict
    reason: Text
    labels: Texts = ()
    not_labels: Texts = ()
    patterns: Texts = ()
    ask: Text | None = None
    in_a_row: Annotated[int, needed("a whole number from 1", ge=1)] = 1
    one_node: bool = False


def advised(found: Diagnosis, known: Catalogue, earlier: Sequence[Earlier] = ()) -> Diagnosis:
    """The diagnosis with its verdict on a restart, where the run was broken off. `earlier` are diagnoses of earlier
    attempts, in order of time.
    """
    cause = found.causes[0] if found.causes and found.causes[0].verdict == "likely" else None
    if not (cause and cause.ended_run) and found.run.status not in _BROKEN_OFF:
        return found
    return replace(found, restart=_verdict(found, cause, known, earlier))


def _verdict(found: Diagnosis, cause: Cause | None, known: Catalogue, earlier: Sequence[Earlier]) -> Restart:
    attempts = attempts_of(found, earlier)
    again = in_a_row(attempts)
    of_cause = [a for a in attempts[-max(again, 1) :] if a.same]
    nodes = {a.node for a in of_cause}
    every, asks, reasons = _read(None, tuple(known.declared.values()))
    here = [
        entry
        for entry in every
        if again >= entry.in_a_row
        and (not entry.one_node or (len(nodes) == 1 and None not in nodes))
        and _is_about(entry, found, cause)
    ]
    entry = next(iter(_holding(here, asks, found, known) if cause else here), None)
    node = cause.node if cause else None
    away = {n for n in (node, *nodes) if n} if entry and entry.verdict == "restart_elsewhere" else set()
    return Restart(
        verdict=entry.verdict if entry else "unknown",
        reason=_reason(entry, reasons, found) if entry else "the logs do not show why the run ended",
        entry=entry.id if entry else "none",
        cause=cause.id if cause else None,
        confidence=cause.confidence if cause else 0.0,
        exclude_nodes=tuple(sorted(away)),
        in_a_row=again,
        attempts=attempts,
    )


def _is_about(entry: Entry, found: Diagnosis, cause: Cause | None) -> bool:
    """Whether an entry is about the cause. A fault without a cause is judged by its repetition only."""
    if cause is None:
        return entry.in_a_row > 1 and not entry.labels
    if (entry.labels and cause.label not in entry.labels) or cause.label in entry.not_labels:
        return False
    return not entry.patterns or found.features.values.get("log_root_pattern") in entry.patterns


def _holding(
    here: Sequence[Entry], asks: Mapping[str, Ask | None], found: Diagnosis, known: Catalogue
) -> Iterator[Entry]:
    """Those of the entries without a question, or whose question is answered with yes. One query answers all."""
    questions = list(dict.fromkeys(question for entry in here if (question := asks[entry.id])))
    table = feature_table(known, [found.features.values]) if questions else None
    answers = {} if table is None else put(known, questions, table).row(0, named=True)
    return (entry for entry in here if (ask := asks[entry.id]) is None or answers[ask.text] is True)


def _reason(entry: Entry, reasons: Mapping[str, Template], found: Diagnosis) -> str:
    return reasons[entry.id].render(found.features.values) or entry.reason


def entries(declared: Mapping[str, Feature], folder: Path | None = None) -> tuple[Entry, ...]:
    """The checked entries of `rules/restart.yaml` (or of that file in `folder`), in order.

    Raises RuleError where an entry is not valid.
    """
    return _read(folder, tuple(declared.values()))[0]


@cache
def _read(
    folder: Path | None, features: tuple[Feature, ...]
) -> tuple[tuple[Entry, ...], Mapping[str, Ask | None], Mapping[str, Template]]:
    """The entries, and their questions and reasons by id."""
    file = load((folder or rules_dir()) / "restart.yaml")
    found = typed(file, tuple[Entry, ...])
    declared = {feature.name: feature for feature in features}
    for i, entry in enumerate(found):
        for name in (*entry.labels, *entry.not_labels):
            if name not in LABELS:
                refuse_name(file, (i, "labels"), name, LABELS)

    def question(i: int, text: str) -> Ask:
        return file.checked((i, "ask"), lambda where: parsed(text, declared, where))

    def reason(i: int, text: str) -> Template:
        return file.checked((i, "reason"), lambda where: template(text, declared, where))

    asks = {entry.id: question(i, entry.ask) if entry.ask else None for i, entry in enumerate(found)}
    for fault in faults(filter(None, asks.values()), declared).values():
        raise fault
    reasons = {entry.id: reason(i, entry.reason) for i, entry in enumerate(found)}
    return found, asks, reasons

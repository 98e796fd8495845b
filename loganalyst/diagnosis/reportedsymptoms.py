"""Symptoms the user tells (`--symptom "loss spikes every ~1000 steps"`): understood, then held against the logs."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, needs, symptom
from loganalyst.diagnosis.rule import SymptomRule
from loganalyst.diagnosis.symptomwords import Numbers, all_words, numbers, telling
from loganalyst.model import Told

__all__ = ["Complaint", "answered", "meant", "steering", "understood"]

CLEAR = 0.8  # a symptom is meant too if its score is this share of the best one's
MOST = 3  # symptoms one text may mean
CLOSE = 0.2  # share by which a number told from memory may differ from the logs


@dataclass(frozen=True)
class Complaint:
    """One text of the user, the symptoms (ids) it was understood as, and its numbers."""

    text: str
    symptoms: tuple[str, ...]
    numbers: Numbers


def understood(texts: Iterable[str], known: Mapping[str, SymptomRule]) -> tuple[Complaint, ...]:
    """Each text with what it means."""
    return tuple(Complaint(text, tuple(meant(text, known)), numbers(text)) for text in texts)


def steering(complaints: Iterable[Complaint], answers: Answers) -> frozenset[str]:
    """The symptoms told that the logs do not contradict: their causes get a higher prior."""
    told = {id_ for complaint in complaints for id_ in complaint.symptoms}
    return frozenset(id_ for id_ in told if answers.symptoms[id_] is not False)


def meant(text: str, known: Mapping[str, SymptomRule]) -> list[str]:
    """The symptoms (ids, best first) that a text means: by id, else by the most telling of the phrases by which people
    name them, else by the telling words it shares with their titles; none if nothing telling.
    """
    if text in known:
        return [text]
    words = all_words(text)
    named = {
        id_: max((len(p) for p in map(all_words, rule.told) if p <= words), default=0) for id_, rule in known.items()
    }
    if best := max(named.values(), default=0):
        return [id_ for id_, size in named.items() if size == best][:MOST]
    return _by_title(text, known)


def _by_title(text: str, known: Mapping[str, SymptomRule]) -> list[str]:
    words = {id_: telling(f"{id_} {rule.title}") for id_, rule in known.items()}
    count = Counter(word for of_one in words.values() for word in of_one)
    # A word in every symptom ("loss") tells nothing; the rarer, the more it tells
    scores = {
        id_: sum(math.log(len(words) / count[w]) for w in of_one & telling(text)) for id_, of_one in words.items()
    }
    best = max(scores.values(), default=0.0)
    if best < math.log(max(len(words), 2)) / 2:
        return []
    return sorted((id_ for id_, score in scores.items() if score >= CLEAR * best), key=lambda id_: -scores[id_])[:MOST]


def answered(complaints: Iterable[Complaint], catalogue: Catalogue, answers: Answers) -> tuple[Told, ...]:
    """Each complaint held against the logs: confirmed, contradicted, cannot be seen in them, or not understood."""
    return tuple(_answered(complaint, catalogue, answers) for complaint in complaints)


def _answered(complaint: Complaint, catalogue: Catalogue, answers: Answers) -> Told:
    ids = complaint.symptoms
    if not ids:
        known = ", ".join(catalogue.symptoms)
        return Told(complaint.text, "not_understood", None, f"not understood; known symptoms are {known}")
    shown = [id_ for id_ in ids if answers.symptoms[id_]]
    open_ = [id_ for id_ in ids if answers.symptoms[id_] is None]
    titles = " or ".join(f"“{catalogue.symptoms[id_].title}”" for id_ in shown or open_ or ids)
    told: dict[str, Any] = {"text": complaint.text, "symptoms": ids}
    told["evidence"] = tuple(_evidence(shown or ids, catalogue, answers))
    if shown:
        said = [s.text for s in (symptom(catalogue.symptoms[id_], answers) for id_ in shown)]
        agree = _agreement(complaint.numbers, shown, catalogue, answers)
        words = "; ".join([*said, *agree])
        return Told(verdict="confirmed", seen=True, answer=f"the logs show it: {words}", **told)
    if open_:
        missing = needs(answers.missing([catalogue.symptoms[id_].ask for id_ in open_]), catalogue.declared)
        answer = f"cannot be seen in the logs: {titles} {missing}"
        return Told(verdict="not_visible", seen=None, answer=answer, **told)
    return Told(verdict="contradicted", seen=False, answer=f"the logs do not show it (looked for {titles})", **told)


def _evidence(ids: Sequence[str], catalogue: Catalogue, answers: Answers) -> Iterable[dict[str, Any]]:
    """The values the symptoms were judged by, with their places."""
    for name in dict.fromkeys(f for id_ in ids for f in catalogue.symptoms[id_].ask.features):
        value, seen = answers.values.get(name), answers.witnesses.get(name)
        if value is not None:
            places = {key: getattr(seen, key, None) for key in ("metric", "step", "file", "line")}
            yield {"feature": name, "value": value, **places}


def _agreement(told: Numbers, ids: Sequence[str], catalogue: Catalogue, answers: Answers) -> Iterator[str]:
    """Whether the place and the distance told are those of the logs, as far as these tell."""
    found = [s.step for s in (symptom(catalogue.symptoms[id_], answers) for id_ in ids) if s.step is not None]
    epoch = _number(answers, "epoch_steps")
    where = told.step if told.step is not None else _times(told.epoch, epoch)
    if where is not None and found:
        nearest = min(found, key=lambda step: abs(step - where))
        slack = max(CLOSE * where, _times(told.epoch and 1.0, epoch) or 0.0)
        near = abs(nearest - where) <= slack
        yield "about where you told" if near else f"at step {nearest:,}, not {where:,.0f} as you told"
    elif told.epoch is not None and found:
        yield f"which step epoch {told.epoch:g} is, the logs do not tell"
    distance = told.period if told.period is not None else _times(told.period_epochs, epoch)
    period = _number(answers, "train_loss_period")
    if distance is not None and period is not None:
        near = abs(period - distance) <= CLOSE * distance
        yield f"every {period:,.0f} steps" + (", as you told" if near else f", not every {distance:,.0f} as you told")
    elif distance is not None:
        yield "at no distance that repeats"


def _times(epochs: float | None, steps: float | None) -> float | None:
    return None if epochs is None or steps is None else epochs * steps


def _number(answers: Answers, name: str) -> float | None:
    value = answers.values.get(name)
    return float(value) if isinstance(value, (int, float)) else None

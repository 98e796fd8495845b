"""Symptoms that the user reports (`--symptom "loss spikes every ~1000 steps"`), compared with the logs."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, symptom
from loganalyst.diagnosis.rule import SymptomRule
from loganalyst.diagnosis.symptomwords import Numbers, all_words, distinguishing_words, numbers
from loganalyst.model import Told
from loganalyst.thresholds import verdict_limit

__all__ = ["Complaint", "answered", "meant", "steering", "understood"]

MIN_SCORE_SHARE = 0.8  # of the best score, from which on another symptom is meant as well
MIN_COVERAGE = 0.5  # of what a text says that a title must say as well
MAX_MEANINGS = 3  # symptoms that one text may mean
MAX_EXAMPLES = 12  # phrases that an answer names for a text that means no symptom


class Complaint(msgspec.Struct, frozen=True):
    """One text of the user, the ids of the symptoms that it means, and its numbers."""

    text: str
    symptoms: tuple[str, ...]
    numbers: Numbers


def understood(texts: Iterable[str], known: Mapping[str, SymptomRule]) -> tuple[Complaint, ...]:
    """Each text with its meaning."""
    return tuple(Complaint(text, tuple(meant(text, known)), numbers(text)) for text in texts)


def steering(complaints: Iterable[Complaint], answers: Answers) -> frozenset[str]:
    """The reported symptoms that the logs do not contradict. Their causes get a higher prior."""
    reported = {id_ for complaint in complaints for id_ in complaint.symptoms}
    return frozenset(id_ for id_ in reported if answers.symptoms[id_] is not False)


def meant(text: str, known: Mapping[str, SymptomRule]) -> list[str]:
    """The symptoms (ids, best first) that a text means.

    A symptom is found by its id, else by the longest phrase that people use for it (`told`), else by the
    distinguishing words that the text shares with its title.
    """
    if text in known:
        return [text]
    words = all_words(text)
    named = {
        id_: max((len(p) for p in map(all_words, rule.told) if p <= words), default=0) for id_, rule in known.items()
    }
    if best := max(named.values(), default=0):
        return [id_ for id_, size in named.items() if size == best][:MAX_MEANINGS]
    return _by_title(text, known)


def _by_title(text: str, known: Mapping[str, SymptomRule]) -> list[str]:
    words = {id_: distinguishing_words(f"{id_} {rule.title}") for id_, rule in known.items()}
    count = Counter(word for title in words.values() for word in title)
    # A word in every title ("loss") distinguishes nothing; the rarer a word, the more it weighs
    weights = {word: math.log(len(words) / max(count[word], 1)) for word in distinguishing_words(text)}
    scores = {id_: sum(weights[w] for w in title & weights.keys()) for id_, title in words.items()}
    best = max(scores.values(), default=0.0)
    if best < max(math.log(max(len(words), 2)) / 2, MIN_COVERAGE * sum(weights.values())):
        return []
    close = [id_ for id_, score in scores.items() if score >= MIN_SCORE_SHARE * best]
    return sorted(close, key=lambda id_: -scores[id_])[:MAX_MEANINGS]


def answered(complaints: Iterable[Complaint], catalogue: Catalogue, answers: Answers) -> tuple[Told, ...]:
    """Each complaint compared with the logs: confirmed, contradicted, not visible, or not understood."""
    return tuple(_answered(complaint, catalogue, answers) for complaint in complaints)


def _answered(complaint: Complaint, catalogue: Catalogue, answers: Answers) -> Told:
    ids = complaint.symptoms
    if not ids:
        phrases = [f"“{rule.told[0]}”" for rule in catalogue.symptoms.values() if rule.told][:MAX_EXAMPLES]
        return Told(complaint.text, "not_understood", None, f"not understood; say it as {', '.join(phrases)} …")
    seen = [id_ for id_ in ids if answers.symptoms[id_]]
    open_ = [id_ for id_ in ids if answers.symptoms[id_] is None]
    titles = " or ".join(f"“{catalogue.symptoms[id_].title}”" for id_ in seen or open_ or ids)
    common: dict[str, Any] = {"text": complaint.text, "symptoms": ids}
    common["evidence"] = tuple(_evidence(seen or ids, catalogue, answers))
    if seen:
        findings = [symptom(catalogue.symptoms[id_], answers).text for id_ in seen]
        words = "; ".join([*findings, *_agreement(complaint.numbers, seen, catalogue, answers)])
        return Told(verdict="confirmed", seen=True, answer=f"the logs show it: {words}", **common)
    if open_:
        missing = answers.needed(answers.missing([catalogue.symptoms[id_].ask for id_ in open_]), catalogue.declared)
        answer = f"cannot be seen in the logs: {titles} {missing}"
        return Told(verdict="not_visible", seen=None, answer=answer, **common)
    return Told(verdict="contradicted", seen=False, answer=f"the logs do not show it (looked for {titles})", **common)


def _evidence(ids: Sequence[str], catalogue: Catalogue, answers: Answers) -> Iterable[dict[str, Any]]:
    """The values that the symptoms were judged by, with their places."""
    for name in dict.fromkeys(f for id_ in ids for f in catalogue.symptoms[id_].ask.features):
        value, seen = answers.values.get(name), answers.witnesses.get(name)
        if value is not None:
            places = {key: getattr(seen, key, None) for key in ("metric", "step", "file", "line")}
            yield {"feature": name, "value": value, **places}


def _agreement(reported: Numbers, ids: Sequence[str], catalogue: Catalogue, answers: Answers) -> Iterator[str]:
    """Whether the reported place and distance agree with the logs."""
    found = [s.step for s in (symptom(catalogue.symptoms[id_], answers) for id_ in ids) if s.step is not None]
    epoch, tolerance = _number(answers, "epoch_steps"), verdict_limit("reported_number")
    where = reported.step if reported.step is not None else _times(reported.epoch, epoch)
    if where is not None and found:
        nearest = min(found, key=lambda step: abs(step - where))
        slack = max(tolerance * where, _times(reported.epoch and 1.0, epoch) or 0.0)
        near = abs(nearest - where) <= slack
        yield "about where you said" if near else f"at step {nearest:,}, not {where:,.0f} as you said"
    elif reported.epoch is not None and found:
        yield f"the logs do not say which step epoch {reported.epoch:g} is"
    distance = reported.period if reported.period is not None else _times(reported.period_epochs, epoch)
    period = _number(answers, "train_loss_period")
    if distance is not None and period is not None:
        near = abs(period - distance) <= tolerance * distance
        yield f"every {period:,.0f} steps" + (", as you said" if near else f", not every {distance:,.0f} as you said")
    elif distance is not None:
        yield "at no regular distance"


def _times(epochs: float | None, steps: float | None) -> float | None:
    return None if epochs is None or steps is None else epochs * steps


def _number(answers: Answers, name: str) -> float | None:
    value = answers.values.get(name)
    return float(value) if isinstance(value, (int, float)) else None

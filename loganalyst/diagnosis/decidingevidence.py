"""What would settle an unsure answer: what to log, or which experiment to run.

The measurement that would move the odds of the leading rivals most comes first. Its gain is the sum over rivals of
p (1 - p), which is largest for the least certain rival, times the distance between the two log-likelihood ratios of
the rival's weightiest open question that needs the measurement.
"""

from collections.abc import Mapping, Sequence

from loganalyst.diagnosis import advice
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, first_known
from loganalyst.diagnosis.healthconfidence import core_symptoms
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.rivals import linked
from loganalyst.diagnosis.rule import Item
from loganalyst.model import Decider, Feature

__all__ = ["alone", "between", "healthy", "missing", "unnamed"]

MAX_RIVALS = 4  # the leading ones
MAX_MEASUREMENTS = 2  # that are named


def between(judged: Judged, every: Mapping[str, Judged], answers: Answers, catalogue: Catalogue) -> tuple[Decider, ...]:
    """What distinguishes a cause from its leading rivals for the same symptoms; last, its fix as an experiment.

    Curves do not decide between causes of a fault that a line of the log names.
    """
    if advice.names_fault(answers):
        return _experiment(judged, answers)
    return _logged([judged, *_rivals(judged, every, answers)], answers, catalogue) + _experiment(judged, answers)


def unnamed(every: Mapping[str, Judged], answers: Answers, catalogue: Catalogue) -> tuple[Decider, ...]:
    """What distinguishes the leading causes of the observed symptoms if none of them is possible; where nothing does,
    what must be logged to look for others.
    """
    rivals = [j for j in every.values() if _open(j, answers) and j.seen]
    applying = [j for j in rivals if answers.applies[j.rule.id]] or rivals
    leading = _leading([j for j in applying if not _against(j)] or applying, MAX_RIVALS + 1)
    logged = _logged(leading, answers, catalogue)
    useful = tuple(decider for decider in logged if len(decider.separates) > 1)  # what moves one cause decides little
    found = useful + _experiment_of([j for j in leading if j.supported], answers)
    return found or logged + _experiment_of(leading, answers) or healthy(answers, catalogue)


def _experiment_of(leading: Sequence[Judged], answers: Answers) -> tuple[Decider, ...]:
    """The experiment of the first of these causes that has one."""
    return next(filter(None, (_experiment(judged, answers) for judged in leading)), ())


def alone(judged: Judged, answers: Answers, catalogue: Catalogue) -> tuple[Decider, ...]:
    """What would show a cause without visible symptoms: one measurement more, else its fix as an experiment.

    The measurement is for the weightiest question that it would answer by itself.
    """
    needs = (answers.to_log(answers.missing([item.ask]), catalogue.declared) for item in _ranked(judged, answers))
    first = next((need[0] for need in needs if len(need) == 1), None)
    return (Decider("log", first),) if first else _experiment(judged, answers)


def healthy(answers: Answers, catalogue: Catalogue) -> tuple[Decider, ...]:
    """What must be logged to look for the core symptoms of a run of this kind."""
    asks = {s: catalogue.symptoms[s].ask for s in core_symptoms(catalogue, answers) if answers.symptoms[s] is None}
    found: dict[str, list[str]] = {}
    for id_ in sorted(asks):
        for need in answers.to_log(answers.missing([asks[id_]]), catalogue.declared):
            found.setdefault(need, []).append(catalogue.symptoms[id_].title)
    ranked = sorted(found.items(), key=lambda row: -len(row[1]))
    return tuple(Decider("log", need, tuple(titles)) for need, titles in ranked[:MAX_MEASUREMENTS])


def missing(judged: Judged, answers: Answers, declared: Mapping[str, Feature]) -> tuple[str, ...]:
    """What must be logged to answer the rule's open questions, the weightiest first."""
    return answers.to_log(answers.missing(item.ask for item in _ranked(judged, answers)), declared)


def _rivals(judged: Judged, every: Mapping[str, Judged], answers: Answers) -> list[Judged]:
    others = [j for j in every.values() if j.rule.id != judged.rule.id and _open(j, answers) and not linked(j, judged)]
    return _leading([j for j in others if set(j.seen) & set(judged.seen) and not _against(j)], MAX_RIVALS)


def _open(judged: Judged, answers: Answers) -> bool:
    """Whether it may be the cause. A harmless explanation must be known to apply to this kind of run."""
    if judged.rule.label == "healthy" and answers.applies[judged.rule.id] is None:
        return False
    return judged.verdict != "not_applicable" and judged.under is None


def _against(judged: Judged) -> bool:
    """Whether the evidence is against it: what is ruled out needs no measurement."""
    return judged.verdict == "unlikely" and judged.contradicted


def _leading(rivals: Sequence[Judged], count: int) -> list[Judged]:
    return sorted(rivals, key=lambda j: (-j.alone, j.rule.id))[:count]


def _logged(rivals: Sequence[Judged], answers: Answers, catalogue: Catalogue) -> tuple[Decider, ...]:
    """The measurements that would move the rivals most, each with the titles of the rivals that it would move."""
    gains: dict[str, dict[str, float]] = {}
    for judged in rivals:
        for item in _open_items(judged, answers):
            gain = judged.alone * (1 - judged.alone) * (abs(item.if_true) + abs(item.if_false))
            for need in answers.to_log(answers.missing([item.ask]), catalogue.declared):
                by_title = gains.setdefault(need, {})
                by_title[judged.rule.title] = max(by_title.get(judged.rule.title, 0.0), gain)
    ranked = sorted(gains.items(), key=lambda row: (-sum(row[1].values()), row[0]))
    return tuple(Decider("log", need, tuple(moved)) for need, moved in ranked[:MAX_MEASUREMENTS])


def _open_items(judged: Judged, answers: Answers) -> list[Item]:
    pairs = zip(judged.rule.evidence, answers.items[judged.rule.id], strict=True)
    return [item for item, holds in pairs if holds is None]


def _ranked(judged: Judged, answers: Answers) -> list[Item]:
    """The open items of evidence, the weightiest first."""
    return sorted(_open_items(judged, answers), key=lambda item: -max(abs(item.if_true), abs(item.if_false)))


def _experiment(judged: Judged, answers: Answers) -> tuple[Decider, ...]:
    """The first change of the rule and how to check its effect: if it helps, the cause is confirmed. A harmless
    explanation has no change to try.
    """
    if judged.rule.benign:
        return ()
    for fix in advice.offered(judged.rule, answers):
        change, check = advice.change_text(fix, answers.values), first_known([fix.verify], answers.values)
        if change and check:
            return (Decider("experiment", change, (judged.rule.title,), check),)
    return ()

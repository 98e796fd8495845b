"""The highest confidence of a cause that stands on metrics whose role is not sure (`rules/verdicts.yaml`).

A name alone says little of what a metric is. Where neither the trainer nor the run confirms it, a cause that shows in
this metric may be about something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.rulesql import Ask
from loganalyst.thresholds import verdict_limit

if TYPE_CHECKING:
    from loganalyst.diagnosis.judged import Judged


def limited(judged: Mapping[str, "Judged"], answers: Answers, catalogue: Catalogue) -> dict[str, "Judged"]:
    """Every rule by id. A cause has at most the confidence `unsure_role_cap` if all its direct evidence, or all its
    symptoms, stand on metrics of unsure roles.
    """
    unsure = _unsure(answers, catalogue)
    return {id_: _capped(j, answers, catalogue, unsure) for id_, j in judged.items()} if unsure else dict(judged)


def _unsure(answers: Answers, catalogue: Catalogue) -> Mapping[str, str]:
    """The features that stand on a metric of an unsure role, and the metric or its role."""
    least = verdict_limit("sure_role")
    witnesses = ((f, w) for f, w in answers.witnesses.items() if (w.role_confidence or 1.0) < least)
    return {f: w.metric or f"the {catalogue.declared[f].needs}" for f, w in witnesses}


def _capped(judged: "Judged", answers: Answers, catalogue: Catalogue, unsure: Mapping[str, str]) -> "Judged":
    cap = verdict_limit("unsure_role_cap")
    if judged.confidence <= cap or judged.scale == "logs":
        return judged
    items = [
        i
        for i, holds in zip(judged.rule.evidence, answers.items[judged.rule.id], strict=True)
        if holds and i.if_true > 0
    ]
    direct = [i.ask for i in items if i.kind == "direct"] or [i.ask for i in items]
    symptoms = [catalogue.symptoms[s].ask for s in judged.seen]
    doubtful = next((on for on in (_metrics(direct, unsure), _metrics(symptoms, unsure)) if on), ())
    if not doubtful:
        return judged
    why = f"nothing confirms the role of {' and '.join(doubtful)}: at most {100 * cap:.0f} %"
    return replace(judged, confidence=cap, limits=(*judged.limits, why))


def _metrics(asks: Sequence[Ask], unsure: Mapping[str, str]) -> tuple[str, ...]:
    """The metrics of unsure roles that all questions stand on; none if one question does not."""
    named = [[unsure[f] for f in ask.features if f in unsure] for ask in asks]
    return tuple(dict.fromkeys(metric for metrics in named for metric in metrics)) if all(named) else ()

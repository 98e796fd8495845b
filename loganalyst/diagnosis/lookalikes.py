"""Causes that would look healthy in the metrics that were logged.

They show no symptom. A note names them as rivals of "healthy" (`perhaps` in rules/notes.yaml). They share the
probability that "healthy" leaves by the odds of their prior and known evidence. As with rivals for a symptom, an
unnamed cause of odds 1 takes a share as well.
"""

from collections.abc import Mapping, Sequence

from loganalyst.diagnosis import decidingevidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, first_known
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.logodds import odds
from loganalyst.diagnosis.rule import NoteRule
from loganalyst.model import Rival
from loganalyst.thresholds import verdict_limit

__all__ = ["rivals"]

MAX_RIVALS = 3


def rivals(catalogue: Catalogue, answers: Answers, judged: Mapping[str, Judged], sure: float) -> tuple[Rival, ...]:
    """The likeliest causes that the run's doubting notes name, if probable enough to be listed; `sure` is the
    probability that the run is healthy.
    """
    doubts = [note for note in catalogue.notes.values() if note.doubt and answers.notes[note.id]]
    named = dict.fromkeys(id_ for note in doubts for id_ in note.perhaps)
    open_ = [j for id_, j in judged.items() if id_ in named and j.verdict != "not_applicable"]
    left = (1 - sure) / (1 + sum(odds(j.alone) for j in open_))
    likeliest = sorted(open_, key=lambda j: (-j.alone, j.rule.id))[:MAX_RIVALS]
    probable = [(j, p) for j in likeliest if (p := left * odds(j.alone)) >= verdict_limit("listed")]
    return tuple(_rival(j, p, doubts, answers, catalogue) for j, p in probable)


def _rival(judged: Judged, p: float, doubts: Sequence[NoteRule], answers: Answers, catalogue: Catalogue) -> Rival:
    rule = judged.rule
    why = [first_known([note.says], answers.values) or note.title for note in doubts if rule.id in note.perhaps]
    return Rival(rule.id, rule.title, rule.label, p, "; ".join(why), decidingevidence.alone(judged, answers, catalogue))

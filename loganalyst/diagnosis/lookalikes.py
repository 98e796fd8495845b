"""What a run may have that seems healthy and is doubted: causes that would look just so in what was logged.

Nothing is seen of them, so no symptom makes them rivals; a note does that names them (`perhaps` of rules/notes.yaml).
They share what "healthy" leaves, each by the odds of its prior and its evidence as far as that answers, beside an
unnamed cause of odds 1, as rivals for a symptom do.
"""

from collections.abc import Mapping, Sequence

from loganalyst.diagnosis import decidingevidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.confidence import Judged, odds
from loganalyst.diagnosis.evidence import Answers, first_known
from loganalyst.diagnosis.rule import NoteRule
from loganalyst.model import Rival

__all__ = ["rivals"]

MOST = 3


def rivals(catalogue: Catalogue, answers: Answers, judged: Mapping[str, Judged], sure: float) -> tuple[Rival, ...]:
    """The likeliest causes that the notes shown name, of a run that is healthy with probability `sure`; none where no
    note doubts that.
    """
    shown = [note for note in catalogue.notes.values() if note.doubt and answers.notes[note.id]]
    named = dict.fromkeys(id_ for note in shown for id_ in note.perhaps)
    open_ = [j for id_, j in judged.items() if id_ in named and j.verdict != "not_applicable"]
    left = (1 - sure) / (1 + sum(odds(j.alone) for j in open_))
    likeliest = sorted(open_, key=lambda j: (-j.alone, j.rule.id))[:MOST]
    return tuple(_rival(j, left * odds(j.alone), shown, answers, catalogue) for j in likeliest)


def _rival(judged: Judged, p: float, shown: Sequence[NoteRule], answers: Answers, catalogue: Catalogue) -> Rival:
    rule = judged.rule
    why = [first_known([note.says], answers.values) or note.title for note in shown if rule.id in note.perhaps]
    return Rival(rule.id, rule.title, rule.label, p, "; ".join(why), decidingevidence.alone(judged, answers, catalogue))

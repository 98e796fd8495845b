"""What to do with a healthy run: use it, resume it, train longer, stop earlier or regularise."""

from collections.abc import Mapping, Sequence
from typing import get_args

from loganalyst.diagnosis.rule import NoteRule, Recommends
from loganalyst.model import FeatureValue, Note, RunStatus, Status

PRESSING = get_args(Recommends)
COMPLETE = ("finished", "stopped_early", "unknown")  # statuses of runs that are not known to be cut off
IF_IT_ENDED = "{}, if the training was meant to end there"  # the change of a ready run whose end is not known
# What a healthy run cannot rule out if a feature is not known: feature -> what was not logged, and the cost
UNSEEN = {
    "run_end": ("planned_end", "a run that hung or was stopped cannot be judged"),
    "throughput_points": ("step_time", "slowdowns cannot be judged"),
}
TRAININGS = ("training", "reinforcement", "adversarial")  # kinds of runs with steps of their own


def recommended(
    status: Status, ended: RunStatus, notes: Sequence[Note], rules: Mapping[str, NoteRule], *, end_known: bool = True
) -> tuple[dict[str, str] | None, tuple[Note, ...]]:
    """The recommendation for a healthy run with the status `ended`, and the remaining notes. `rules`: those of notes.

    There is none (None) if no note makes one, or if the run would be ready but was cut off, or perhaps was. Where
    nothing says how far it was meant to go (`end_known` is false), a ready run is so on that condition.
    """
    advice = {note: kind for note in notes if (kind := rules[note.id].recommends)}
    if status != "healthy":
        allowed = status != "diagnosis_complete"
        return None, tuple(n for n in notes if n not in advice or (allowed and rules[n.id].without_health))
    left = tuple(note for note in notes if note not in advice)
    first = min(advice, key=lambda note: PRESSING.index(advice[note]), default=None)
    ready = first is not None and advice[first] == "ready"
    if first is None or (ready and (ended not in COMPLETE or any(rules[note.id].doubts_end for note in notes))):
        return None, left
    change = first.change if end_known or not ready else IF_IT_ENDED.format(first.change)
    return {"kind": advice[first], "title": first.title, "why": first.text, "change": change}, left


def unseen(status: Status, values: Mapping[str, FeatureValue]) -> dict[str, str]:
    """What a healthy training did not log, and what cannot be judged without it; empty for other runs.

    >>> unseen("healthy", {"run_kind": "training", "run_end": "finished"})
    {'step_time': 'slowdowns cannot be judged'}
    """
    if status != "healthy" or values.get("run_kind") not in TRAININGS:
        return {}
    return dict(cost for name, cost in UNSEEN.items() if values.get(name) is None)

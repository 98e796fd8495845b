"""What to do with a healthy run: use it, resume it, train longer, stop earlier or regularise."""

from collections.abc import Mapping, Sequence

from loganalyst.model import FeatureValue, Note, RunStatus, Status

# Notes of rules/notes.yaml, the most pressing first, and what they recommend
KINDS = {
    "stopped-short": "resume",
    "stopped-short-of-its-epochs": "resume",
    "file-cut-off": "resume",
    "best-came-earlier": "stop_earlier",
    "gap-widens": "regularise",
    "more-steps-would-help": "train_longer",
    "falls-as-before": "train_longer",
    "reward-still-rises": "train_longer",
    "ended-at-its-best": "ready",
}
COMPLETE = ("finished", "stopped_early", "unknown")  # statuses of runs that are not known to be cut off
END_IN_DOUBT = ("trainer-end-not-seen",)  # notes that doubt the end: such a run is not ready
IF_IT_ENDED = "{}, if the training was meant to end there"  # the change of a ready run whose end is not known
# What a healthy run cannot rule out if a feature is not known: feature -> what was not logged, and the cost
UNSEEN = {
    "run_end": ("planned_end", "a run that hung or was stopped cannot be judged"),
    "throughput_points": ("step_time", "slowdowns cannot be judged"),
}
TRAININGS = ("training", "reinforcement", "adversarial")  # kinds of runs with steps of their own
WITHOUT_A_CAUSE = ("more-steps-would-help",)  # shown for runs that are not healthy, too, unless they have a cause


def recommended(
    status: Status, ended: RunStatus, notes: Sequence[Note], *, end_known: bool = True
) -> tuple[dict[str, str] | None, tuple[Note, ...]]:
    """The recommendation for a healthy run with the status `ended`, and the remaining notes.

    There is none (None) if no note makes one, or if the run would be ready but was cut off, or perhaps was. Where
    nothing says how far it was meant to go (`end_known` is false), a ready run is so on that condition.
    """
    by_id = {note.id: note for note in notes}
    if status != "healthy":
        shown = () if status == "diagnosis_complete" else WITHOUT_A_CAUSE
        return None, tuple(note for note in notes if note.id not in KINDS or note.id in shown)
    left = tuple(note for note in notes if note.id not in KINDS)
    first = next((by_id[id_] for id_ in KINDS if id_ in by_id), None)
    ready = first is not None and KINDS[first.id] == "ready"
    if first is None or (ready and (ended not in COMPLETE or not by_id.keys().isdisjoint(END_IN_DOUBT))):
        return None, left
    change = first.change if end_known or not ready else IF_IT_ENDED.format(first.change)
    return {"kind": KINDS[first.id], "title": first.title, "why": first.text, "change": change}, left


def unseen(status: Status, values: Mapping[str, FeatureValue]) -> dict[str, str]:
    """What a healthy training did not log, and what cannot be judged without it; empty for other runs.

    >>> unseen("healthy", {"run_kind": "training", "run_end": "finished"})
    {'step_time': 'slowdowns cannot be judged'}
    """
    if status != "healthy" or values.get("run_kind") not in TRAININGS:
        return {}
    return dict(cost for name, cost in UNSEEN.items() if values.get(name) is None)

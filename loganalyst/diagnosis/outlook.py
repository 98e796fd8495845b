"""What to do with a run that went well: use it, go on with it, train longer, stop earlier or regularise."""

from collections.abc import Sequence

from loganalyst.model import Note, RunStatus, Status

# Notes of rules/notes.yaml that say so, the most pressing first, and what they recommend
KINDS = {
    "stopped-short": "resume",
    "best-came-earlier": "stop_earlier",
    "gap-widens": "regularise",
    "more-steps-would-help": "train_longer",
    "ended-at-its-best": "ready",
}
COMPLETE = ("finished", "stopped_early", "unknown")  # ends of runs that were not cut off, as far as is known
ALWAYS = ("more-steps-would-help",)  # a note of other runs too


def recommended(
    status: Status, ended: RunStatus, notes: Sequence[Note]
) -> tuple[dict[str, str] | None, tuple[Note, ...]]:
    """The recommendation for a healthy run that `ended` so (None where nothing speaks for any, or where it was cut off
    and would else be ready), and the notes left beside it.
    """
    by_id = {note.id: note for note in notes}
    if status != "healthy":
        return None, tuple(note for note in notes if note.id not in KINDS or note.id in ALWAYS)
    left = tuple(note for note in notes if note.id not in KINDS)
    first = next((by_id[id_] for id_ in KINDS if id_ in by_id), None)
    if first is None or (KINDS[first.id] == "ready" and ended not in COMPLETE):
        return None, left
    return {"kind": KINDS[first.id], "title": first.title, "why": first.text, "change": first.change}, left

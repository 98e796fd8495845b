"""Findings on settings as notes of a diagnosis: they name no cause."""

from loganalyst.checking.judging import check
from loganalyst.checking.topics import topics
from loganalyst.model import Diagnosis, Note, SettingFinding

MAX_NOTES = 3  # in one diagnosis; `check` lists all


def setting_notes(found: Diagnosis) -> tuple[Note, ...]:
    """What cannot be right, and for a run with symptoms also what is unusual; without what a note already says."""
    if found.run.config.is_empty():
        return ()
    shown = ("wrong", "unusual") if found.status in ("diagnosis_complete", "cause_unknown") else ("wrong",)
    said = {note.id for note in found.notes}
    double = {one.id for topic in topics() for one in topic.checks if said.intersection(one.said_by)}
    findings = [f for f in check(found).findings if f.severity in shown and f.id not in double]
    return tuple(map(_note, findings[:MAX_NOTES]))


def _note(finding: SettingFinding) -> Note:
    usual = f" (usual: {finding.usual})" if finding.usual else ""
    return Note(finding.id, finding.title, f"{finding.text}{usual}: {finding.why}", finding.change)

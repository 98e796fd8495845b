"""Findings on settings as notes of a diagnosis: they name no cause."""

from collections.abc import Sequence

from loganalyst.checking.judging import check
from loganalyst.checking.topics import topics
from loganalyst.model import Diagnosis, Note, SettingFinding

MAX_NOTES = 3  # in one diagnosis; `check` lists all


def setting_notes(found: Diagnosis) -> tuple[Note, ...]:
    """What cannot be right, and what is unusual: one note each for a run with symptoms, one note for all of it
    otherwise. Without what a note already says.
    """
    if found.run.config.is_empty():
        return ()
    said = {note.id for note in found.notes}
    double = {one.id for topic in topics() for one in topic.checks if said.intersection(one.said_by)}
    findings = [f for f in check(found).findings if f.severity != "record" and f.id not in double]
    if found.status in ("diagnosis_complete", "cause_unknown"):
        return tuple(map(_note, findings[:MAX_NOTES]))
    unusual = [f for f in findings if f.severity == "unusual"]
    wrong = [f for f in findings if f.severity == "wrong"][:MAX_NOTES]
    return (*map(_note, wrong), *([_summary(unusual)] if unusual else []))


def _note(finding: SettingFinding) -> Note:
    usual = f" (usual: {finding.usual})" if finding.usual else ""
    return Note(finding.id, finding.title, f"{finding.text}{usual}: {finding.why}", finding.change)


def _summary(unusual: Sequence[SettingFinding]) -> Note:
    """One note for unusual settings of a run without symptoms, which may be right on purpose."""
    more = f"; and {len(unusual) - MAX_NOTES} more" if len(unusual) > MAX_NOTES else ""
    texts = (f"{f.text} (usual: {f.usual})" if f.usual else f.text for f in unusual[:MAX_NOTES])
    change = "change nothing while results are good; `loganalyst check` gives reasons and sources"
    return Note("unusual-settings", "Unusual settings", f"{'; '.join(texts)}{more}", change)

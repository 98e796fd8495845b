"""How sure it is that a run without visible faults has none."""

from collections.abc import Mapping

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.logodds import CAP, calibrate, logit, sigmoid
from loganalyst.thresholds import verdict_limit


def core_symptoms(catalogue: Catalogue, answers: Answers) -> set[str]:
    """The symptoms that a run of this kind should let us look for; none if the kind is not known."""
    kind = answers.values.get("run_kind")
    return {id_ for id_, symptom in catalogue.symptoms.items() if kind in symptom.core}


def faultless(catalogue: Catalogue, answers: Answers, judged: Mapping[str, Judged], harmless: float = 1.0) -> float:
    """The probability, not calibrated, that a run without visible faults has none.

    `harmless` is the probability that the observed symptoms are no fault.

    A fault whose symptom was looked for stays unseen in the share `unseen_faults` of cases. If none of its symptoms
    could be looked for, and one is core in this kind of run, it counts with its full probability; other rules do not
    count. Faults are independent. Notes about what is rare in good runs lower the log-odds (`doubt`).
    """
    core = core_symptoms(catalogue, answers)
    p = harmless
    for j in judged.values():
        if j.rule.benign or j.verdict == "not_applicable":
            continue
        fault = j.rule.prior if j.verdict == "unknown" else j.alone
        if any(answers.symptoms[s] is not None for s in j.rule.symptoms):
            p *= 1 - verdict_limit("unseen_faults") * fault
        elif core.intersection(j.rule.symptoms):
            p *= 1 - fault
    return sigmoid(logit(min(p, CAP)) - _doubt(catalogue, answers))


def healthy(stated: float, catalogue: Catalogue, answers: Answers) -> float:
    """The confidence of "healthy", which is `stated` before its calibration. The number of points bounds it, and so do
    notes that doubt it, and a kind of training that is not known.

    The status says that health is at least likely, as with causes.
    """
    sure = min(calibrate(stated, catalogue.calibration("healthy"), answers), _most_by_points(answers))
    if _doubt(catalogue, answers) >= verdict_limit("doubted_from"):
        sure = min(sure, verdict_limit("doubted_cap"))
    if answers.values.get("run_kind") == "training" and answers.values.get("training_kind") is None:
        sure = min(sure, verdict_limit("kind_unknown_healthy_cap"))
    return max(sure, verdict_limit("likely"))


def _doubt(catalogue: Catalogue, answers: Answers) -> float:
    """The log-odds that notes about what is rare in good runs take from "healthy"."""
    return sum(note.doubt for note in catalogue.notes.values() if answers.notes[note.id])


def _most_by_points(answers: Answers) -> float:
    """The highest confidence that the longest metric allows: few points cannot show that nothing is wrong."""
    points = answers.values.get("run_longest_metric")
    if not isinstance(points, (int, float)) or points < 1 or answers.values.get("run_kind") == "job":
        return 1.0
    return max(1 - verdict_limit("healthy_doubt") / points, 0.0)

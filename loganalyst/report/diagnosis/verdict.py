"""The answer of a diagnosis in one line, and its tone."""

from typing import Literal

from loganalyst.model import Cause, Diagnosis
from loganalyst.report.common.wording import clean, count
from loganalyst.report.diagnosis.observed import nan_began
from loganalyst.report.diagnosis.ruledout import unnamed_metric

Tone = Literal["good", "bad", "unsure"]


def verdict(d: Diagnosis) -> str:
    """The answer in one line."""
    return verdict_and_tone(d)[0]


def verdict_and_tone(d: Diagnosis) -> tuple[str, Tone]:
    """The answer, and whether it is good, bad or unsure."""
    if d.causes and d.causes[0].verdict == "likely":
        return lead_title(d.causes[0], d), "bad"
    if d.status == "healthy" and d.ignored_findings:
        return "Nothing found but what loganalyst.yaml accepts", "good"
    if d.status == "healthy":
        judged = sum(r.verdict == "unlikely" for r in (*d.ruled_out, *d.not_supported))
        return "Healthy: " + (f"none of the {judged} causes looked for" if judged else "no symptom found"), "good"
    if d.status == "unreadable":
        return "Nothing could be read here", "unsure"
    if d.status == "insufficient_data":
        read = f"{count(d.run.points.height, 'point')} of {count(len(d.metrics), 'metric')}"
        what = (
            "No metric is known as a loss, score or reward"
            if unnamed_metric(d)
            else "Not enough was logged to judge this run"
        )
        return f"{what}: {read}", "unsure"
    return "Something went wrong, but the logs do not show why", "unsure"


def lead_title(cause: Cause, d: Diagnosis) -> str:
    """The title of the first cause, after the place where NaN began if the cause concerns it."""
    began = nan_began(d) if _concerns_nan(cause, d) else ""
    title = clean(cause.issue, 120)
    return f"{began}: {title}" if began else title


def _concerns_nan(cause: Cause, d: Diagnosis) -> bool:
    """Whether the cause explains values that are not finite: its own evidence or symptoms name them."""
    nonfinite = {*d.findings.filter(kind="nonfinite")["metric"]}
    named = {e.metric for e in cause.evidence if e.holds} | {s.metric for s in d.symptoms if s.id in cause.symptoms}
    operation = d.features.values.get("log_root_operation")
    return bool(nonfinite & named) or bool(operation and any(str(operation) in s.text for s in d.symptoms))

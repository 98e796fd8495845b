"""The answer for a run: its judgement without the causes that the user accepted, and the origin of each cause."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import polars as pl

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.decidingscripts import deciding
from loganalyst.diagnosis.fixplaces import cited, named
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.judgement import Judgement, diagnose
from loganalyst.diagnosis.outlook import recommended, unseen
from loganalyst.diagnosis.quickfixes import quick_fixes
from loganalyst.diagnosis.timeline import timeline
from loganalyst.model import OURS, Cause, Diagnosis, Evidence, Onset, Place

__all__ = ["conclude", "rejudge"]


def conclude(
    found: Diagnosis,
    known: Catalogue,
    symptoms: Sequence[str],
    *,
    accepted: Mapping[str, str],
    origins: Mapping[str, str],
    places: Sequence[Place],
    onsets: Sequence[Onset],
) -> Diagnosis:
    """The diagnosis of a run whose features, findings and curves are `found`.

    `symptoms` are what the user saw, `accepted` maps rules that the user accepts to the reason, `origins` maps patterns
    of the user's own to their file, and `places` are the settings of configs and code that fixes may name.
    """
    judged = diagnose(known, found.features, symptoms)
    end_known = found.run.status != "unknown" or found.features.values.get("run_end") is not None
    recommendation, notes = recommended(judged.status, found.run.status, judged.notes, known.notes, end_known=end_known)
    causes = named(cited(_with_origins(judged.causes, found, origins), places), found.features.values.get("trainer"))
    answered = _answered(found, judged, causes, accepted)
    return replace(
        answered,
        symptoms=judged.symptoms,
        notes=notes,
        timeline=timeline(
            found.findings,
            found.run.lines,
            found.run.points,
            onsets=onsets,
            down=[c.metric for c in found.curves if c.role.worse == "down"],
        ),
        summary={
            **found.summary,
            "recommendation": recommendation,
            "not_logged": {
                **found.summary.get("not_logged", {}),
                **unseen(judged.status, found.features.values),
            },
            "told_symptoms": [asdict(symptom) for symptom in judged.told],
        },
    )


def rejudge(
    found: Diagnosis,
    known: Catalogue,
    measured: Mapping[str, Sequence[Evidence]],
    *,
    accepted: Mapping[str, str],
    origins: Mapping[str, str],
) -> tuple[Diagnosis, dict[str, Judged]]:
    """The diagnosis with further evidence (by rule id), and how every rule is judged then, the likeliest first."""
    symptoms = [symptom["text"] for symptom in found.summary.get("told_symptoms", ())]
    judged = diagnose(known, found.features, symptoms, measured)
    return _answered(found, judged, _with_origins(judged.causes, found, origins), accepted), dict(judged.sure)


def _answered(found: Diagnosis, judged: Judgement, causes: Sequence[Cause], accepted: Mapping[str, str]) -> Diagnosis:
    """The causes without those that the user accepted, and what follows from them."""
    kept = tuple(c for c in causes if c.id not in accepted)
    ignored = tuple(accepted[c.id] for c in causes if c.id in accepted)
    seen = judged.symptoms if kept or not ignored else ()
    return replace(
        found,
        status=judged.status if kept or not ignored else "healthy",  # every cause is accepted
        confidence=judged.confidence,
        causes=kept,
        alternatives=judged.alternatives,
        ruled_out=judged.ruled_out,
        not_supported=judged.not_supported,
        unknown=judged.unknown,
        decide=judged.decide,
        rivals=judged.rivals,
        ignored_findings=ignored,
        scripts=deciding(
            kept,
            [*(a.id for a in judged.alternatives), *(r.id for r in judged.rivals)],
            seen,
            found.features.values.get("run_kind"),
        ),
        quick_fixes=quick_fixes(kept, judged.symptoms),
    )


def _with_origins(causes: Sequence[Cause], found: Diagnosis, origins: Mapping[str, str]) -> tuple[Cause, ...]:
    """The causes; the origin of a cause that a line of a user's own pattern shows is the file of that pattern."""
    if not origins:
        return tuple(causes)
    lines = found.run.lines.filter(pl.col("pattern").is_in(list(origins))).select("file", "line", "pattern").iter_rows()
    files = {(file, line): origins[pattern] for file, line, pattern in lines}
    return tuple(replace(c, origin=_origin(c, files)) for c in causes)


def _origin(cause: Cause, files: Mapping[tuple[str | None, int | None], str]) -> str:
    """The origin of its rule, where that is not ours; else the file of a pattern that shows it."""
    shows = [(cause.file, cause.line), *((e.file, e.line) for e in cause.evidence if e.holds)]
    return next((files[place] for place in shows if place in files and cause.origin == OURS), cause.origin)

"""A diagnosis as one JSON object, whose contract is `report.diagnosis.schema`. Text is given as it was found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from loganalyst.model import OURS, Cause, Diagnosis, RuledOut, Symptom
from loganalyst.report import trust
from loganalyst.report.common.jsonvalues import dumps, plain
from loganalyst.report.diagnosis import baseline
from loganalyst.report.diagnosis.observed import repeats
from loganalyst.report.diagnosis.remedies import command
from loganalyst.report.diagnosis.setup import setup
from loganalyst.report.diagnosis.verdict import verdict

__all__ = ["SCHEMA_ID", "data", "render"]

SCHEMA_ID = "loganalyst/diagnosis/1"
BLOCK = ("kind", "exception", "message", "frame", "first_line", "last_line", "ranks", "repeated")
EMPTY: Mapping[str, Path] = MappingProxyType({})
MAX_FINDINGS = 500  # in analysis_artifacts: the most significant; findings_total counts all


def render(diagnosis: Diagnosis, *, indent: int | None = 2) -> str:
    """The JSON text of one diagnosis."""
    return dumps(data(diagnosis), indent)


def data(diagnosis: Diagnosis, files: Sequence[Path] = (), named: Mapping[str, Path] = EMPTY) -> dict[str, Any]:
    """The object of one diagnosis as plain dicts, lists, text and finite numbers. `files` were written for it, and the
    files by name in `named` too.
    """
    d = diagnosis
    whole = {
        "schema": SCHEMA_ID,
        "status": d.status,
        "confidence": d.confidence,
        "run": _run(d),
        "sessions": [asdict(s) for s in d.sessions],
        "processes": [asdict(p) for p in d.processes],
        "verdict": verdict(d),
        "symptoms": [_symptom(s) for s in d.symptoms],
        "reproducible": repeats(d) or None,
        "root_causes": [{**_cause(c), "block": _block(c, d)} for c in d.causes],
        "alternatives": [asdict(a) for a in d.alternatives],
        "ruled_out": _considered(d.ruled_out),
        "not_supported": _considered(d.not_supported),
        "not_checked": _considered(d.unknown),
        "timeline": [asdict(e) for e in d.timeline],
        "restart": asdict(d.restart) if d.restart else None,
        "quick_fixes": [asdict(fix) for fix in d.quick_fixes],
        "notes": [{k: v for k, v in asdict(n).items() if (k, v) != ("origin", OURS)} for n in d.notes],
        "decide": [asdict(decider) for decider in d.decide],
        "scripts": [{**asdict(s), "command": command(s.name)} for s in d.scripts],
        "rivals": [asdict(rival) for rival in d.rivals],
        "setup": {row.label.lower(): row.text for row in setup(d)},
        "summary": d.summary,
        "baseline": baseline.data(d.baseline) if d.baseline else None,
        "gaps": d.run.gaps.to_dicts(),
        **trust.data(d),
        "analysis_artifacts": {
            "files": [*files, *named.values()],
            **named,
            **_artifacts(d),
        },
    }
    return plain(whole)  # type: ignore[no-any-return]


def _run(d: Diagnosis) -> dict[str, Any]:
    return {
        "id": d.run.id,
        "path": d.run.path,
        "name": d.run.name,
        "status": d.run.status,
        "end": _ending(d),
        "framework": d.run.framework,
        "host": d.run.host,
        "started": d.run.started,
        "ended": d.run.ended,
        "sources": [asdict(s) for s in d.run.sources],
        "trainer": {"id": d.features.values.get("trainer"), "title": d.trainer} if d.trainer else None,
        "kind": _kind(d),
        "joined": d.run.basis,
        "suggested": d.run.suggested,
        "metrics": len(d.metrics),
        "points": d.run.points.height,
        "coverage": {**d.coverage, "not_judged": [{"id": r.id, "why": r.why} for r in d.unknown]},
    }


def _kind(d: Diagnosis) -> dict[str, Any] | None:
    """The kind of training."""
    found = d.training_kind
    if found is None:
        return None
    known = {"name": found.kind, "meaning": found.meaning, "confidence": found.probability}
    return {**known, "witnesses": found.witnesses, "sure": found.sure}


def _ending(d: Diagnosis) -> dict[str, Any]:
    """How the run ended, with its plan."""
    known = d.features.values
    return {
        "status": known.get("run_end") or d.run.status,
        "planned_steps": known.get("run_planned_steps"),
        "reached_steps": known.get("run_last_step"),
        "planned_epochs": known.get("config_epochs"),
        "reached_epochs": known.get("run_epochs"),
    }


def _cause(c: Cause) -> dict[str, Any]:
    evidence = ("id", "kind", "holds", "text", "metric", "step", "file", "line")
    return {
        "id": c.id,
        "label": c.label,
        "issue": c.issue,
        "severity": c.severity,
        "family": c.family,
        "confidence": c.confidence,
        "band": c.band,
        "onset_step": c.onset_step,
        "file": c.file,
        "line": c.line,
        "rank": c.rank,
        "node": c.node,
        "evidence": [{name: getattr(e, name) for name in evidence} for e in c.evidence],
        "mechanism": c.mechanism,
        "fix": [{**asdict(f), "scope": "alternative" if i else "targeted"} for i, f in enumerate(c.fix)],
        "broader_fix": c.prevention,
        "templates": [asdict(t) for t in c.templates],
        "will_not_fix": c.will_not_fix,
        "consequences": c.consequences,
        "ended_run": c.ended_run,
        "origin": c.origin,
        "limits": c.limits,
        "missing": c.missing,
        "decide": [asdict(decider) for decider in c.decide],
    }


def _symptom(s: Symptom) -> dict[str, Any]:
    text = s.text or s.title
    return {"id": s.id, "metric": s.metric, "step": s.step, "text": text, "expected": s.expected, "origin": s.origin}


def _block(c: Cause, d: Diagnosis) -> dict[str, Any] | None:
    """The traceback or stack at the cause's line."""
    block = d.run.block(c.file, c.line)
    return {name: block[name] for name in BLOCK} if block else None


def _considered(rules: Iterable[RuledOut]) -> list[dict[str, Any]]:
    return [{"id": r.id, "label": r.label, "why": r.why} for r in rules]


def _artifacts(d: Diagnosis) -> dict[str, Any]:
    strongest = d.findings.sort("significance", descending=True, nulls_last=True).head(MAX_FINDINGS)
    return {
        "metrics": [asdict(m) for m in d.metrics],
        "findings": strongest.to_dicts(),
        "findings_total": d.findings.height,
        "features": {name: value for name, value in d.features.values.items() if value is not None},
        "ignored_findings": d.ignored_findings,
    }

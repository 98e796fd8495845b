"""Diagnoses as SARIF 2.1.0. Code-review tools and editors show it next to the lines it names.

A cause is a result of its rule. Its location is the setting to change, if a context file named the code, otherwise the
line of the log that shows the cause. Further places are related locations. A possible cause has the kind "review".
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

from loganalyst import __version__
from loganalyst.model import Cause, Diagnosis
from loganalyst.report import trust
from loganalyst.report.common.markdowntext import escape
from loganalyst.report.common.wording import clean
from loganalyst.report.diagnosis.causetext import CauseText
from loganalyst.report.diagnosis.document import Document, document

__all__ = ["render"]

Json = dict[str, Any]

BASE = "SRCROOT"  # names the folder that relative addresses start from
LEVEL = {"critical": "error", "error": "error", "warning": "warning", "info": "note"}
NOTIFICATION_LEVEL = {
    "cause_unknown": "note",
    "insufficient_data": "note",
    "unreadable": "error",
}  # of the message about the analysis
MAX_RELATED = 10  # locations of a result after the first


@dataclass(frozen=True)
class Spot:
    """A place in a file: absolute path, line (None: the whole file), description, and the line's text if known."""

    file: str
    line: int | None
    what: str
    text: str = ""


def render(diagnoses: Sequence[Diagnosis], root: Path, *, top: int = 5) -> str:
    """The SARIF log of one analysis of these runs, each with at most `top` causes. Paths below `root` are relative."""
    shown = [(d, document(d, top)) for d in diagnoses]
    causes = [(d, cause, text) for d, doc in shown for cause, text in zip(d.causes, doc.causes, strict=False)]
    rules = {cause.id: _rule(cause, text) for _, cause, text in causes}
    places = list(rules)
    unanswered = [_unanswered(d, doc) for d, doc in shown if d.status in NOTIFICATION_LEVEL]
    run = {
        "tool": {"driver": {"name": "loganalyst", "semanticVersion": __version__, "rules": list(rules.values())}},
        "invocations": [
            {
                "executionSuccessful": all(d.status != "unreadable" for d in diagnoses),
                "toolExecutionNotifications": unanswered,
                "toolConfigurationNotifications": _about_settings(diagnoses),
            }
        ],
        "originalUriBaseIds": {BASE: {"uri": f"{_uri(os.path.abspath(root))}/"}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, cause, text, places.index(cause.id), root) for d, cause, text in causes],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, allow_nan=False) + "\n"


def _unanswered(d: Diagnosis, doc: Document) -> Json:
    """The message about a run whose cause is not known."""
    text = f"{doc.name}: {d.summary.get('why') or doc.verdict}"
    return {"level": NOTIFICATION_LEVEL[d.status], "message": _message(text)}


def _about_settings(diagnoses: Sequence[Diagnosis]) -> list[Json]:
    """Messages about faults of rules and settings, and about settings that were obeyed."""
    faults = [fault for d in diagnoses for fault in d.summary.get("faults", ())]
    settings = [f"{row.label}: {row.text}" for row in trust.rows(*diagnoses)]
    accepted = dict.fromkeys(clean(text) for d in diagnoses for text in d.ignored_findings)
    notes = [*settings, *(f"Accepted: {text}" for text in accepted)]
    return [
        *({"level": "warning", "message": _message(text)} for text in faults),
        *({"level": "note", "message": _message(text)} for text in notes),
    ]


def _rule(cause: Cause, text: CauseText) -> Json:
    parts = (
        ("Why this happens", text.mechanism),
        ("What the fix will not fix", text.will_not_fix),
        ("Prevention", text.prevention),
    )
    known = [(head, words) for head, words in parts if words]
    return {
        "id": cause.id,
        "name": "".join(word.capitalize() for word in cause.id.split("-")),
        "shortDescription": {"text": _escaped(text.title)},
        "fullDescription": {"text": _escaped(text.summary or text.title)},
        "help": {
            "text": _escaped("\n\n".join(f"{head}: {words}" for head, words in known) or text.summary or text.title),
            "markdown": "\n\n".join(f"**{head}** {escape(words)}" for head, words in known) or escape(text.title),
        },
        "defaultConfiguration": {"level": LEVEL.get(cause.severity, "warning")},
        "properties": {"tags": [cause.label]},
    }


def _result(d: Diagnosis, cause: Cause, text: CauseText, index: int, root: Path) -> Json:
    first, *others = _spots(d, cause)[: MAX_RELATED + 1]
    likely = cause.verdict == "likely"
    identity = blake2b(f"{d.run.id or d.run.path} {cause.id}".encode("utf-8", "replace"), digest_size=16).hexdigest()
    return {
        "ruleId": cause.id,
        "ruleIndex": index,
        "kind": "fail" if likely else "review",
        "level": LEVEL.get(cause.severity, "warning") if likely else "none",  # SARIF: a result for review has no level
        "rank": round(100 * cause.confidence, 1),
        "message": _message(_words(d, text)),
        "locations": [_location(first, root)],
        "relatedLocations": [{"id": i, **_location(spot, root)} for i, spot in enumerate(others, 1)],
        "partialFingerprints": {"runAndCause/v1": identity},
        "properties": {
            "run": clean(d.run.path),
            "label": cause.label,
            "confidence": cause.confidence,
            "onsetStep": cause.onset_step,
            "origin": cause.origin,
            "rankOfProcess": cause.rank,
            "node": cause.node and clean(cause.node),
        },
    }


def _words(d: Diagnosis, text: CauseText) -> str:
    """The cause, its run, its evidence, its confidence, and what to do."""
    fix = text.fixes[0] if text.fixes else None
    sentences = [
        f"Not ours: this cause comes from {text.origin}" if text.origin else "",
        f"{text.title} in {clean(d.run.name or d.run.path.name, 80)}: {text.story} ({text.sure}, {text.basis})",
        f"Change: {fix.change}" if fix and fix.change else "",
        f"Check: {fix.verify}" if fix and fix.verify else "",
    ]
    return " ".join(sentence if sentence[-1] in ".!?…" else f"{sentence}." for sentence in sentences if sentence)


def _spots(d: Diagnosis, cause: Cause) -> list[Spot]:
    """The settings to change, then the lines that show the cause, each place once. Without any: the curve's file."""
    home = d.run.path if d.run.path.is_dir() else d.run.path.parent
    lines = {(e.file, e.marked): e.lines[e.marked - e.first_line] for e in d.excerpts}
    spots = [
        Spot(os.path.abspath(place.file), place.line, f"{place.key} = {place.value}")
        for place in (place for fix in cause.fix for place in fix.places)
    ]
    evidence = [(cause.file, cause.line, ""), *((e.file, e.line, e.text) for e in cause.evidence if e.holds)]
    for file, line, what in evidence:
        if file is not None and line is not None:
            spots.append(Spot(os.path.abspath(home / file), line, what, lines.get((file, line), "")))
    curve = next((c.source for c in d.curves if c.metric == cause.metric), None)
    read = next((s.path for s in d.run.sources if s.points or s.lines), d.run.path.name)
    known = {(spot.file, spot.line): spot for spot in reversed(spots)}
    return list(known.values())[::-1] or [Spot(os.path.abspath(home / (curve or read)), None, "")]


def _location(spot: Spot, root: Path) -> Json:
    top = os.path.abspath(root)
    below = os.path.relpath(spot.file, top) if spot.file.startswith(f"{top}{os.sep}") else ""
    file = {"uri": _quoted(below), "uriBaseId": BASE} if below else {"uri": _uri(spot.file)}
    snippet = {"snippet": {"text": clean(spot.text, 1000)}} if spot.text else {}
    region = {"region": {"startLine": spot.line, **snippet}} if spot.line else {}
    message = {"message": _message(spot.what)} if spot.what else {}
    return {"physicalLocation": {"artifactLocation": file, **region}, **message}


def _uri(path: str) -> str:
    return f"file://{_quoted(path)}"


def _quoted(path: str) -> str:
    return quote(os.fsencode(path.replace(os.sep, "/")))


def _message(text: str) -> Json:
    return {"text": _escaped(clean(text, 2000))}


def _escaped(text: str) -> str:
    """Text of a run without SARIF placeholders (`{0}`) and links (`[text](address)`)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")

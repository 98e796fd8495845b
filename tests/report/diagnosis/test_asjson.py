import json
from dataclasses import replace

import jsonschema
import numpy as np
import polars as pl
import pytest

from loganalyst.model import Features, TrainingKind
from loganalyst.report.diagnosis import asjson as report
from loganalyst.report.diagnosis.schema import schema

STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]
TOP = {
    *("verdict", "reproducible", "scripts", "setup"),
    *("schema", "status", "confidence", "run", "sessions", "symptoms", "root_causes", "ruled_out", "timeline"),
    *("quick_fixes", "restart", "rivals", "notes", "decide", "baseline", "summary", "gaps", "analysis_artifacts"),
    *("settings_obeyed", "settings_ignored", "alternatives", "not_supported", "not_checked", "processes"),
}
CAUSE = {
    *("id", "label", "issue", "severity", "family", "confidence", "band", "onset_step", "file", "line", "rank", "node"),
    *("block", "evidence", "mechanism", "fix", "will_not_fix", "consequences", "ended_run", "missing", "decide"),
    *("limits", "origin", "broader_fix", "templates"),
}


def closed(node):
    """The schema with no room for fields it does not name."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: closed(value) for key, value in node.items()}
    if "properties" in out and node.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


@pytest.mark.parametrize("state", STATES)
def test_every_diagnosis_fits_the_schema(request, state):
    """Every status gives JSON of the schema, with no field that the schema does not define."""
    data = json.loads(request.getfixturevalue(state).to_json())

    assert list(jsonschema.Draft202012Validator(closed(schema())).iter_errors(data)) == []


def test_the_names_are_those_of_the_contract(failed):
    """Top level, cause, evidence and fix have exactly the agreed names."""
    data = json.loads(failed.to_json())
    cause = data["root_causes"][0]

    assert set(data) == TOP
    assert set(cause) == CAUSE
    assert list(cause["evidence"][0]) == ["id", "kind", "holds", "text", "metric", "step", "file", "line"]
    assert list(cause["fix"][0]) == ["change", "expected_impact", "verify", "if_not", "places", "scope"]
    assert {"id", "path", "status", "sources", "metrics", "points", "coverage"} <= set(data["run"])


def test_the_kind_of_training_fits_the_schema(failed):
    """With the trainer, the probability and the witnesses."""
    kind = TrainingKind("speech", "speech recognition", 0.9, ("wer", "cer"), sure=True)
    data = json.loads(replace(failed, trainer="Keras", training_kind=kind).to_json())

    assert list(jsonschema.Draft202012Validator(closed(schema())).iter_errors(data)) == []
    assert (data["run"]["trainer"], data["run"]["kind"]) == (
        {"id": None, "title": "Keras"},
        {
            "name": "speech",
            "meaning": "speech recognition",
            "confidence": 0.9,
            "witnesses": ["wer", "cer"],
            "sure": True,
        },
    )


def test_values_are_told_exactly(failed):
    """Numbers, NULLs and texts arrive as they are."""
    data = json.loads(failed.to_json())

    assert (
        data["schema"],
        data["status"],
        data["confidence"],
    ) == ("loganalyst/diagnosis/1", "diagnosis_complete", 0.93)
    assert [e["holds"] for e in data["root_causes"][0]["evidence"]] == [True, True, True, False, None]
    assert tuple(data["root_causes"][0][k] for k in ("onset_step", "file", "line")) == (24549, None, None)
    assert data["run"]["coverage"]["not_judged"][0] == {"id": "overfitting", "why": "validation loss is not logged"}
    assert [{"cause": f["cause"]} for f in data["quick_fixes"]] == [
        {"cause": "lr-too-high"},
        {"cause": "bad-data"},
    ]
    assert (data["run"]["metrics"], data["run"]["points"]) == (3, 7394)
    assert data["run"]["started"] == "2026-03-01T08:00:00+00:00"


def test_nonfinite_numbers_are_text(failed):
    """NaN and infinities are the three agreed texts; not-known features are left out."""
    data = json.loads(failed.to_json(), parse_constant=lambda name: pytest.fail(f"bare {name}"))

    assert data["summary"]["metrics"][0]["last"] == "NaN"
    assert {"Infinity", 38.0} == {f["effect"] for f in data["analysis_artifacts"]["findings"]}
    assert "val_loss_points" not in data["analysis_artifacts"]["features"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("-inf"), "-Infinity"),
        (np.float32("nan"), "NaN"),
        (np.int64(3), 3),
        (np.bool_(True), True),
        ((1, None), [1, None]),
        (True, True),
    ],
)
def test_plain(value, told):
    """Numpy scalars and tuples become JSON's own types."""
    got = report.plain(value)

    assert told == got
    assert type(told) is type(got)


def test_text_is_kept_as_found(hostile):
    """JSON needs no cleaning: the name reads back with its escapes, and the file itself is plain ASCII."""
    text = hostile.to_json()

    assert hostile.run.name == json.loads(text)["run"]["name"]
    assert text.isascii()


def test_findings_are_limited_and_counted(failed):
    """Beyond the limit the most significant findings are kept, and the number of all is told."""
    many = pl.concat([failed.findings] * 600)
    artifacts = json.loads(replace(failed, findings=many, features=Features({})).to_json())["analysis_artifacts"]

    assert (len(artifacts["findings"]), artifacts["findings_total"]) == (500, 1200)
    assert {1.0} == {f["significance"] for f in artifacts["findings"]}

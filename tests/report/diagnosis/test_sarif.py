"""A diagnosis as SARIF 2.1.0: causes as results, where they are to be mended or show."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from loganalyst.model import Diagnosis, Excerpt, Place
from loganalyst.report.diagnosis import sarif

STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]


def fields(required: str, optional: str = "", **kinds: object) -> dict[str, object]:
    """An object with these fields and no others; those not in `kinds` may be anything."""
    names = f"{required} {optional}".split()
    known = {name: kinds.get(name, {}) for name in names}
    return {"type": "object", "properties": known, "required": required.split(), "additionalProperties": False}


def listed(item: object, **more: object) -> dict[str, object]:
    return {"type": "array", "items": item, **more}


# What the standard says of the objects that we write (its own schema holds all others too), and what GitHub asks for
TEXT = {"type": "string", "minLength": 1}
MESSAGE = fields("text", "markdown", text=TEXT, markdown=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
URI = {"type": "string", "pattern": r"^([A-Za-z0-9\-._~/:!$&'()*+,;=@]|%[0-9A-F]{2})+$"}
LINE = {"type": "integer", "minimum": 1}
FILE = fields("uri", "uriBaseId", uri=URI, uriBaseId={"const": "SRCROOT"})
REGION = fields("startLine", "snippet", startLine=LINE, snippet=fields("text", text=TEXT))
PLACE = fields("artifactLocation", "region", artifactLocation=FILE, region=REGION)
LOCATION = fields("physicalLocation", "message id", physicalLocation=PLACE, message=MESSAGE, id=LINE)
NOTIFICATION = fields("message level", message=MESSAGE, level=LEVEL)
RULE = fields(
    "id name shortDescription fullDescription help defaultConfiguration properties",
    id=TEXT, name={"pattern": "^[A-Z][A-Za-z0-9]*$"}, shortDescription=MESSAGE, fullDescription=MESSAGE, help=MESSAGE,
    defaultConfiguration=fields("level", level=LEVEL), properties=fields("tags", tags=listed(TEXT, uniqueItems=True)),
)  # fmt: skip
RESULT = fields(
    "ruleId ruleIndex kind level rank message locations relatedLocations partialFingerprints properties",
    ruleId=TEXT, ruleIndex={"type": "integer", "minimum": 0}, kind={"enum": ["fail", "review"]}, level=LEVEL,
    rank={"type": "number", "minimum": 0, "maximum": 100}, message=MESSAGE,
    locations=listed(LOCATION, minItems=1, maxItems=1), relatedLocations=listed(LOCATION, uniqueItems=True),
    partialFingerprints={"additionalProperties": TEXT}, properties={"type": "object"},
)  # fmt: skip
INVOCATION = fields(
    "executionSuccessful toolExecutionNotifications toolConfigurationNotifications",
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=listed(NOTIFICATION),
    toolConfigurationNotifications=listed(NOTIFICATION),
)
DRIVER = fields("name semanticVersion rules", rules=listed(RULE, uniqueItems=True))
RUN = fields(
    "tool invocations originalUriBaseIds columnKind results",
    tool=fields("driver", driver=DRIVER),
    invocations=listed(INVOCATION),
    originalUriBaseIds={"additionalProperties": fields("uri", uri={**URI, "pattern": "^file:///.*/$"})},
    columnKind={"enum": ["unicodeCodePoints"]},
    results=listed(RESULT),
)
LOG = fields("$schema version runs", version={"const": "2.1.0"}, runs=listed(RUN, minItems=1))


def told(*diagnoses: Diagnosis, root: str = "/w") -> dict:
    """The one run of the log, held against the standard."""
    log = json.loads(sarif.render(diagnoses, Path(root)))
    jsonschema.Draft202012Validator.check_schema(LOG)
    jsonschema.validate(log, LOG)
    (run,) = log["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert (result["kind"] == "fail") == (result["level"] != "none")
    return run


@pytest.mark.parametrize("state", STATES)
def test_every_diagnosis_fits_the_standard(request, state):
    """Every status, and names that are none."""
    told(request.getfixturevalue(state))


def test_a_cause_in_a_log_stands_at_its_line(crashed):
    """With the line itself, a level by its severity, and what to do in the message."""
    run = Path("/w/logs/my log.out")
    found = replace(
        crashed,
        run=replace(crashed.run, path=run),
        causes=(replace(crashed.causes[0], file="my log.out"),),
        excerpts=(Excerpt("my log.out", 2012, ("before", "CUDA out of memory", "after"), 2013),),
    )
    (result,) = told(found)["results"]

    assert (result["ruleId"], result["level"], result["rank"]) == ("cuda-oom", "error", 97)
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "logs/my%20log.out", "uriBaseId": "SRCROOT"},
                "region": {"startLine": 2013, "snippet": {"text": "CUDA out of memory"}},
            }
        }
    ]
    assert result["message"]["text"].startswith("GPU memory exhausted in slurm-991.out: torch.OutOfMemoryError: CUDA")
    assert (
        "Change: halve the batch per GPU and double the accumulation steps. Check: run 50 steps"
        in (result["message"]["text"])
    )


def test_a_cited_line_of_the_code_comes_first(failed):
    """There the fix is made; the log's lines are related. What is only possible is for review."""
    lead, second = failed.causes
    fix = replace(
        lead.fix[0], places=(Place("/w/train.py", 12, "lr", "3e-3"), Place("/elsewhere/c.yaml", 2, "lr", "3e-3"))
    )
    item = replace(lead.evidence[0], file="slurm-8812.out", line=7)
    cause = replace(lead, fix=(fix,), evidence=(item, item, *lead.evidence[1:]))
    first, other = told(replace(failed, causes=(cause, second)))["results"]

    (location,) = first["locations"]
    assert location == {
        "physicalLocation": {
            "artifactLocation": {"uri": "train.py", "uriBaseId": "SRCROOT"},
            "region": {"startLine": 12},
        },
        "message": {"text": "lr = 3e-3"},
    }
    related = [place["physicalLocation"] for place in first["relatedLocations"]]
    assert related[0] == {"artifactLocation": {"uri": "file:///elsewhere/c.yaml"}, "region": {"startLine": 2}}
    assert related[1]["artifactLocation"]["uri"].endswith("runs/slurm-8812.out")
    assert [place["id"] for place in first["relatedLocations"]] == [1, 2]
    assert (other["ruleId"], other["kind"], other["level"]) == ("bad-batch", "review", "none")


def test_a_cause_in_a_curve_stands_in_the_file_of_the_curve(failed):
    """Without a line, for there is none."""
    (location,) = told(failed, root=str(Path.cwd()))["results"][0]["locations"]

    assert location == {
        "physicalLocation": {"artifactLocation": {"uri": "runs/events.out.tfevents.1", "uriBaseId": "SRCROOT"}}
    }


def test_runs_share_their_rules_and_keep_their_identity(crashed):
    """A rule once, a result a run, told apart from run to run and the same every time."""
    runs = [replace(crashed, run=replace(crashed.run, id=id_)) for id_ in ("a" * 12, "b" * 12)]
    run = told(*runs)

    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["cuda-oom"]
    marks = [result["partialFingerprints"]["runAndCause/v1"] for result in run["results"]]
    assert len(set(marks)) == 2
    assert marks == [r["partialFingerprints"]["runAndCause/v1"] for r in told(*runs)["results"]]


def test_what_is_no_cause_is_a_word_on_the_analysis(healthy, unreadable, unknown_cause):
    """A healthy run says nothing; one that cannot be read makes the analysis unsuccessful."""
    run = told(healthy, unreadable, unknown_cause)
    (invocation,) = run["invocations"]

    assert run["results"] == []
    assert invocation["executionSuccessful"] is False
    assert [(n["level"], n["message"]["text"]) for n in invocation["toolExecutionNotifications"]] == [
        ("error", "x.csv: Nothing could be read here"),
        ("note", "odd: Something went wrong, but the logs do not show why"),
    ]
    assert told(healthy)["invocations"][0]["executionSuccessful"] is True


def test_messages_have_no_placeholders_and_no_links(crashed):
    """What a log says stays text."""
    cause = replace(crashed.causes[0], issue="{0} [here](http://example.invalid)", severity="odd")
    (result,) = told(replace(crashed, causes=(cause,)))["results"]

    assert result["message"]["text"].startswith("{{0}} [here] (http://example.invalid) in slurm-991.out")
    assert result["level"] == "warning"

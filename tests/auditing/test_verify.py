"""Whether a fix helped: recorded runs against one another, and every outcome by hand."""

import json
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst.auditing import verify as module
from loganalyst.baseline import kinds
from loganalyst.errors import SourceError
from loganalyst.model import Cause, Diagnosis, Expectation, Run, Symptom
from loganalyst.report.verification import screen
from loganalyst.report.verification.schema import schema

RUNS = Path(__file__).parents[2] / "fixtures/runs"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def mended():
    return la.verify(RUNS / "divergence-lr", RUNS / "healthy-mended-rate")


def test_a_rate_lowered_as_the_rule_says_is_fixed(mended):
    (check,) = mended.checks

    assert (mended.outcome, check.id, check.outcome) == ("fixed", "lr-too-high", "fixed")
    assert [(c.key, c.before, c.after) for c in check.changes] == [("lr", "0.05", "0.016666666666666666")]
    assert check.applied is True
    assert [(e.ask, e.holds) for e in check.expectations] == [("train_loss_divergence_count = 0", True)]
    assert [(s.id, s.gone) for s in check.symptoms if s.id == "divergence"] == [("divergence", True)]


def test_the_same_run_again_is_not_fixed_and_nothing_was_applied():
    found = la.verify(RUNS / "divergence-lr", RUNS / "divergence-lr")

    assert (found.outcome, found.checks[0].outcome, found.checks[0].applied) == ("not", "not", False)
    assert found.new_causes == ()


def test_another_failure_in_its_place_is_a_new_problem():
    found = la.verify(RUNS / "cuda-oom", RUNS / "host-oom")

    assert (found.outcome, found.checks[0].outcome) == ("new_problem", "fixed")
    assert [c.label for c in found.new_causes] == ["host_oom"]
    text = screen.render(found)
    assert text.startswith("✗ Another problem: The host ran out of memory")
    assert "✓ Fixed: The GPU ran out of memory" in text


def test_a_job_that_ends_well_has_no_lack_of_memory():
    found = la.verify(RUNS / "cuda-oom", RUNS / "healthy-slurm")

    assert (found.outcome, found.checks[0].applied) == ("fixed", None)  # a log has no settings


def test_a_run_that_ended_before_the_onset_cannot_be_judged(made):
    """The fault of the old run begins at step 350."""
    old = made("old", "divergence-lr", lr=0.05)
    found = la.verify(old, made("new", "healthy-mended-rate", until=200, lr=0.017))

    assert (found.outcome, found.checks[0].applied) == ("cannot_tell", True)
    assert found.checks[0].missing == ("a run to past step 350 (it ended at step 200)",)


def test_what_is_not_logged_is_named():
    found = la.verify(RUNS / "mode-collapse", RUNS / "healthy-slurm")

    assert found.outcome == "cannot_tell"
    assert "discriminator_loss" in found.checks[0].missing


def test_a_change_in_the_other_direction_is_reported(made):
    found = la.verify(made("old", "divergence-lr", lr=0.03), made("new", "divergence-lr", lr=0.05))
    (check,) = found.checks

    assert (check.outcome, check.applied, [c.key for c in check.against]) == ("not", False, ["lr"])
    assert "but in the other direction: lr 0.03 → 0.05" in screen.render(found)


def test_a_healthy_run_has_nothing_to_verify():
    with pytest.raises(SourceError, match="nothing was found in this run that could be fixed"):
        la.verify(RUNS / "healthy-slurm", RUNS / "healthy-slurm")


# --- every outcome of one cause


def cause(name: str, symptoms=("s",), onset: int | None = 100, line: int | None = None) -> Cause:
    where = {"symptoms": symptoms, "onset_step": onset, "line": line}
    return Cause(name, name, name, "error", 0.9, "medium", "likely", "", "", (), (), **where)


def run(*causes: Cause, last: int | None = 500, seen=(), status="finished") -> Diagnosis:
    symptoms = tuple(Symptom(s, s, None, None, s) for s in seen)
    judged = "diagnosis_complete" if causes else "healthy"
    summary = {} if last is None else {"last_step": last}
    return Diagnosis(Run(status=status), judged, 0.9, causes=causes, symptoms=symptoms, summary=summary)


def outcome(old: Diagnosis, new: Diagnosis, promise: bool | None = True, gone: bool | None = True):
    """The answer where the fix's promise holds so, and symptom s is gone or not."""
    seen = None if gone is None else not gone
    promises = {c.id: (Expectation("c", "q", promise, () if promise is not None else ("x",)),) for c in old.causes}
    return module._verification(module._Pair(old, new, {"s": seen}, promises, kinds()))


OLD = run(cause("a"), seen=("s",))


@pytest.mark.parametrize(
    ("new", "promise", "gone", "expected"),
    [
        (run(), True, True, "fixed"),
        (run(), True, None, "fixed"),
        (run(), False, True, "partly"),
        (run(seen=("s",)), True, False, "partly"),
        (run(seen=("s",)), False, False, "not"),
        (run(cause("a"), seen=("s",)), False, False, "not"),
        (run(cause("a"), seen=("s",)), True, False, "partly"),
        (run(), None, True, "cannot_tell"),
        (run(), None, None, "cannot_tell"),
        (run(last=99), True, True, "cannot_tell"),
        (run(last=100), True, True, "fixed"),
        (run(last=None), True, True, "cannot_tell"),
        (run(cause("a"), last=50, seen=("s",)), False, False, "not"),
        (run(cause("b", symptoms=("t",)), seen=("t",)), True, True, "new_problem"),
        (run(cause("b"), seen=("s",)), True, False, "new_problem"),
        (run(cause("b"), seen=("s",)), False, False, "not"),
        (run(cause("b", symptoms=("t",)), last=50, seen=("t",)), True, True, "new_problem"),
    ],
)
def test_every_outcome(new, promise, gone, expected):
    assert outcome(OLD, new, promise, gone).outcome == expected


def test_a_harmless_symptom_is_gone():
    """A plateau at the end of learning is seen, and none of the run's symptoms."""
    assert outcome(OLD, run(seen=()), True, False).outcome == "fixed"


@pytest.mark.parametrize(("status", "expected"), [("finished", "fixed"), ("cancelled", "cannot_tell")])
def test_what_ended_a_run_is_behind_one_that_finished(status, expected):
    """A crash has no onset among the steps; a new run that was stopped earlier may still meet it."""
    old = run(cause("a", onset=None, line=27), seen=("s",), last=400)

    assert outcome(old, run(last=100, status=status)).outcome == expected


def test_one_fixed_cause_of_two_is_partly():
    old = run(cause("a"), cause("b", symptoms=("t",)), seen=("s", "t"))
    new = run(cause("b", symptoms=("t",)), seen=("t",))
    pair = module._Pair(
        old, new, {"s": False, "t": True},
        {"a": (Expectation("c", "q", True),), "b": (Expectation("c", "q", False),)}, kinds(),
    )  # fmt: skip
    found = module._verification(pair)

    assert (found.outcome, [c.outcome for c in found.checks]) == ("partly", ["fixed", "not"])


def test_without_a_cause_the_symptoms_are_looked_for():
    old = run(seen=("s",))

    assert outcome(old, run()).outcome == "fixed"
    assert outcome(old, run(seen=("s",)), gone=False).outcome == "not"


# --- the report


def test_the_verdict_comes_first(mended):
    text = screen.render(mended)

    assert text.splitlines()[0].startswith("✓ Fixed: Learning rate too high")
    assert "Applied    lr 0.05 → 0.01667" in text
    assert "✓ train_loss_divergence_count = 0: kept" in text


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_screen(mended, width):
    assert max(map(len, screen.render(mended, width=width).splitlines())) <= width


def test_ascii_is_enough(mended):
    assert screen.render(mended, ascii_only=True).isascii()


def test_the_json_fits_its_schema_and_is_published(mended):
    data = json.loads(mended.to_json())

    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(data, schema())
    assert (data["outcome"], data["checks"][0]["applied"], data["changes"][0]["key"]) == ("fixed", True, "lr")
    assert json.dumps(schema(), indent=2) + "\n" == (DOCS / "schema/verification-1.json").read_text(encoding="utf-8")

"""The experiment that decides between rival causes."""

import json

import polars as pl
import pytest

from loganalyst.auditing.runlist import COLUMNS
from loganalyst.comparing.rivalcauses import separate
from tests.comparing.conftest import config


def failed_run(first, second, confidence=0.3, **more):
    rest = {"onset_step": 400, "decide": [], **more}
    causes = [
        {"id": f"{label}-rule", "label": label, "issue": label, "confidence": c, **rest}
        for label, c in ((first, 0.6), (second, confidence))
    ]
    return json.dumps({"root_causes": causes})


def listed(*statuses):
    rows = [{"run_id": f"r{i}", "path": f"/runs/r{i}", "status": s} for i, s in enumerate(statuses)]
    return pl.DataFrame(rows, schema=COLUMNS)


@pytest.mark.parametrize("healthy", [0.001, None])
def test_a_setting_of_one_of_two_rival_causes_decides_between_them(healthy):
    """A rate that is too high against bad data: the rate of healthy runs, or a third of its own."""
    settings = {"r0": {"lr": 0.03, "dataset": "a"}, **({"r1": {"lr": healthy, "dataset": "a"}} if healthy else {})}
    listing = listed("diagnosis_complete", *(["healthy"] if healthy else []))
    diagnoses = pl.DataFrame({"run_id": ["r0"], "json": [failed_run("lr_too_high", "bad_data")]})
    found = separate(listing, diagnoses, config(settings))

    assert found is not None
    assert (found.kind, found.base, found.change) == ("separate", "/runs/r0", {"lr": "0.001" if healthy else "0.01"})
    assert found.outcomes[0][0] == "it trains past step 400"
    assert found.outcomes[0][1].startswith("lr_too_high")
    assert found.outcomes[1][1].startswith("bad_data")


def test_without_such_a_setting_the_experiment_of_the_cause_is_used():
    decide = [
        {"kind": "experiment", "what": "train without sample 7", "separates": [], "check": "no NaN after step 400"}
    ]
    diagnoses = pl.DataFrame({"run_id": ["r0"], "json": [failed_run("other", "bad_data", decide=decide)]})
    found = separate(listed("diagnosis_complete"), diagnoses, config({"r0": {"lr": 0.1}}))

    assert found is not None
    assert (found.title, found.change) == ("train without sample 7", {})
    assert found.outcomes[0][0] == "no NaN after step 400"


def test_causes_without_a_rival_need_no_experiment():
    diagnoses = pl.DataFrame({"run_id": ["r0"], "json": [failed_run("lr_too_high", "bad_data", confidence=0.01)]})

    assert separate(listed("diagnosis_complete"), diagnoses, config({"r0": {"lr": 0.1}})) is None

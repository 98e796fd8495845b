"""Diagnoses as rows of the store."""

import json
from pathlib import Path

import loganalyst as la
from fixtures.truth import RUNS
from loganalyst.store import judgedrows
from loganalyst.store.columns import JUDGED, schema
from tests.recorded import diagnosed


def test_a_diagnosis_is_one_row_of_its_table() -> None:
    found = diagnosed(RUNS / "nan-lr")
    rows = judgedrows.rows(found, "1.0 abc", 7)
    row = rows["diagnoses"].row(0, named=True)

    assert tuple(rows) == JUDGED
    assert rows["diagnoses"].columns == schema("diagnoses").names()
    assert (row["run_id"], row["cause"], row["label"]) == (found.run.id, "lr-too-high", "lr_too_high")
    assert (row["version"], row["reading"]) == ("1.0 abc", 7)
    assert row["says"] == next(e.text for e in found.causes[0].evidence if e.holds)
    assert json.loads(row["json"])["root_causes"][0]["id"] == "lr-too-high"


def test_features_that_are_not_known_have_no_column() -> None:
    found = diagnosed(RUNS / "nan-lr")
    (features,) = judgedrows.rows(found, "", 0)["features"].to_dicts()

    assert features.pop("run_id") == found.run.id
    assert features == {name: value for name, value in found.features.values.items() if value is not None}


def test_a_run_that_cannot_be_judged_has_a_reason(tmp_path: Path) -> None:
    store = la.Store(tmp_path)
    store.ingest([RUNS / "nan-lr"])
    id_ = store.find(RUNS / "nan-lr")[0]
    (task,) = judgedrows.tasks(store._folder, {id_: 7})
    found = judgedrows.given_up(task, "took too long")

    assert found.status == "unreadable"
    assert found.rows["diagnoses"].select("status", "why", "cause", "reading").row(0) == (
        "unreadable",
        "took too long",
        None,
        7,
    )

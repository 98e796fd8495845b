from dataclasses import replace

from loganalyst.report.diagnosis.stepwords import named_by


def test_steps_that_number_rows_are_called_rows(healthy):
    """The reader numbers rows from 0, people from 1."""
    rows = replace(healthy.features, values={**healthy.features.values, "run_steps_are_rows": True})

    assert named_by(healthy)(1500) == "step 1,500"
    assert named_by(replace(healthy, features=rows))(1500) == "row 1,501"

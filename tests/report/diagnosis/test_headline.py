from dataclasses import replace

import pytest

from loganalyst import model
from loganalyst.report.diagnosis.document import document


@pytest.mark.parametrize(
    ("known", "headline"),
    [
        (
            {"run_end": "stopped_early_unexplained", "run_planned_steps": 2000.0},
            "STOPPED at step 899 of 2,000, nothing shows why",
        ),
        (
            {"run_end": "early_stopped", "run_epochs": 47.0, "config_epochs": 100.0},
            "STOPPED EARLY at step 899 (epoch 47 of 100)",
        ),
        ({"run_end": "finished", "run_planned_steps": 900.0}, "REACHED ITS END at step 899 of 900"),
    ],
)
def test_the_headline_says_how_a_run_ended_by_its_plan(unknown_cause, known, headline):
    """Where no log, tracker or scheduler states the end."""
    assert document(replace(unknown_cause, features=model.Features(known))).headline == headline


def test_a_step_that_only_the_ranks_printed_is_the_last_step(crashed):
    """`rank 0 step 35` is no metric, but the job did not end before a step."""
    ranks = tuple(
        model.ProcessState(
            f"rank {n}", n, None, "slurm-991.out", 1, 90, None, None, 30 + n, "failed", None, None, needed=True
        )
        for n in (0, 5)
    )

    assert document(replace(crashed, processes=ranks)).headline.startswith("FAILED at step 35")


def test_the_headline_names_a_step_only_where_there_is_one(healthy, crashed, too_little):
    """A finished job without steps did not stop before them; rows of a log are not steps."""
    rows = replace(healthy.features, values={**healthy.features.values, "run_steps_are_rows": True})
    quick = replace(crashed, run=replace(crashed.run, status="finished"))
    late = replace(too_little.features, values={**too_little.features.values, "train_loss_begins_late": True})

    assert document(replace(healthy, features=rows)).headline == "FINISHED after 4,991 logged rows"
    assert document(quick).headline.startswith("FINISHED; no step was logged")
    assert document(replace(too_little, features=late)).headline == "LAST SEEN at step 3 of the logged part"
    assert document(replace(crashed, summary={**crashed.summary, "duration_s": 0.4})).headline == (
        "FAILED; no step was logged"
    )

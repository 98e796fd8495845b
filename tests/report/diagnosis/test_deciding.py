import pytest

from loganalyst.model import Decider
from loganalyst.report.diagnosis.deciding import decider_text

RIVALS = ("Learning rate too high", "A bad batch of data")
EXPERIMENT = Decider("experiment", "skip the batch", RIVALS, "run it again")


@pytest.mark.parametrize(
    ("decider", "expected"),
    [
        (Decider("log", "val_loss"), "log validation loss"),
        (Decider("log", "config"), "give the config of the run"),
        (EXPERIMENT, "try: skip the batch; then run it again"),
        (
            Decider("log", "checkpoints", RIVALS),
            'give checkpoints (distinguishes "Learning rate too high" and "A bad batch of data")',
        ),
    ],
)
def test_what_is_missing_is_logged_or_given_and_an_experiment_is_tried(unknown_cause, decider, expected):
    assert decider_text(decider, unknown_cause) == expected


def test_beside_its_cause_an_experiment_is_the_change_that_stands_there(failed):
    """What a cause has too few values of is logged more often."""
    cause = failed.causes[0]

    assert decider_text(EXPERIMENT, failed, cause) == "make the change: if the check holds, this is the cause"
    assert decider_text(Decider("log", failed.metrics[0].role), failed, cause).endswith(" more often")

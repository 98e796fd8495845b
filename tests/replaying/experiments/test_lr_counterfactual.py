"""A rate that is too high, and faults of other causes."""

import pytest

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import lr_counterfactual
from tests.replaying import entries


@pytest.mark.parametrize(
    ("made", "outcome"),
    [(entries.rate_too_high, "vanished"), (entries.bad_batch, "stayed"), (entries.healthy, INCONCLUSIVE)],
)
def test_the_outcome_on_known_faults(run, made, outcome):
    assert run(lr_counterfactual, made()).outcome == outcome

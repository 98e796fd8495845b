"""A single huge gradient, and faults of other causes."""

import pytest
import torch

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import clipping_counterfactual
from tests.replaying import entries


@pytest.mark.parametrize(
    ("made", "outcome"),
    [(entries.bad_batch, "stayed"), (entries.healthy, INCONCLUSIVE)],
)
def test_the_outcome_on_known_faults(run, made, outcome):
    assert run(clipping_counterfactual, made()).outcome == outcome


def test_clipping_takes_a_single_huge_gradient_away(run):
    """One batch has a huge gradient but an ordinary loss: its step throws the weights off unless it is clipped."""
    batches = entries.data()

    def loss(model, batch):
        steep = 1000.0 * torch.equal(batch[0], batches(60)[0]) * model[2].weight.sum()
        return entries.mse(model, batch) + steep - steep.detach()

    found = run(clipping_counterfactual, entries.spec(0.05, batches, loss))

    assert found.outcome == "vanished"
    assert found.reproduced is True

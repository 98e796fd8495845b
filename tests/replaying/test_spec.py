"""Specs that cannot be replayed."""

import pytest

from loganalyst import ReplaySpec
from loganalyst.errors import ReplayError
from tests.replaying import entries


@pytest.mark.parametrize(
    ("field", "value"),
    [("loss", 3), ("batches", []), ("precision", "float8"), ("accumulate", 0), ("clip_norm", 0.0), ("model", None)],
)
def test_a_spec_that_cannot_be_replayed_is_refused(field, value):
    good = entries.healthy()
    fields = {"model": good.model, "optimizer": good.optimizer, "loss": good.loss, "batches": good.batches}

    with pytest.raises(ReplayError, match=f"ReplaySpec: {field} is"):
        ReplaySpec(**{**fields, field: value})


def test_a_sequence_of_batches_repeats_and_a_function_is_called():
    good = entries.healthy()

    assert ReplaySpec(good.model, good.optimizer, good.loss, [10, 11, 12]).batch(4) == 11
    assert ReplaySpec(good.model, good.optimizer, good.loss, lambda i: 100 + i).batch(4) == 104

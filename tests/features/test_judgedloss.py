"""Which of the held-out losses is judged."""

from collections.abc import Callable

import numpy as np

from loganalyst.features.context import Context
from loganalyst.features.judgedloss import partner, worst_loss

ContextOf = Callable[..., Context]
FALL = np.linspace(1.5, 0.3, 20).tolist()


def test_of_several_sets_the_one_that_does_not_gain_is_left_out(context_of: ContextOf) -> None:
    """A set on which the model gets worse while it improves on another one says nothing about new samples."""
    rise, gain = np.linspace(1.4, 1.7, 20).tolist(), np.linspace(1.1, 0.4, 20).tolist()
    alone = worst_loss(context_of({"train_loss": FALL, "val_loss": rise}))
    beside = worst_loss(context_of({"train_loss": FALL, "val_loss": rise, "val_mlm_loss": gain}))

    assert alone is not None
    assert beside is not None
    assert (alone[0].metric, beside[0].metric) == ("val_loss", "val_mlm_loss")


def test_the_training_loss_of_the_same_name_is_the_partner(context_of: ContextOf) -> None:
    """Apart from the word for held-out data."""
    context = context_of({"train_mlm_loss": FALL, "loss": FALL, "val_mlm_loss": FALL, "val_loss": FALL})
    partners = {c.metric: partner(context, c) for c in context.with_role("val_loss")}

    assert {held_out: train and train.metric for held_out, train in partners.items()} == {
        "val_loss": "loss",
        "val_mlm_loss": "train_mlm_loss",
    }

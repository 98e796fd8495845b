"""Accuracies and error rates as shares of 1."""

from collections.abc import Callable

import pytest

from loganalyst.features.context import Context
from loganalyst.features.shares import of_tokens, share


@pytest.mark.parametrize(
    ("metric", "values", "shares"),
    [
        ("val_acc", [50.0, 75.0], [0.5, 0.75]),
        ("val_acc", [0.5, 0.75], [0.5, 0.75]),
        ("eval_wer", [50.0, 25.0], [0.5, 0.75]),
        ("val_psnr", [18.0, 27.0], [18.0, 27.0]),
    ],
)
def test_values_as_shares(
    context_of: Callable[..., Context], metric: str, values: list[float], shares: list[float]
) -> None:
    """Per cent are divided by 100, error rates subtracted from 1, other scores left as they are."""
    curve = context_of({metric: values}).curves[0]

    assert share(curve).tolist() == shares


def test_right_tokens(context_of: Callable[..., Context]) -> None:
    """Their share is known by its name."""
    curves = context_of({"mean_token_accuracy": [0.5], "val_acc": [0.5]}).curves

    assert {c.metric: of_tokens(c) for c in curves} == {"mean_token_accuracy": True, "val_acc": False}

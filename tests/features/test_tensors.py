"""Logged tensors: their kind, order, and the layers that are compared."""

from collections.abc import Callable

import pytest

from loganalyst.features.context import Context
from loganalyst.features.tensors import dense, layers, main
from loganalyst.model import table

ContextOf = Callable[..., Context]


def metrics(context: Context, kind: str) -> list[str]:
    return [layer.metric for layer in layers(context, kind)]  # type: ignore[arg-type]


def histograms(*names: str, std: float = 1.0) -> dict[str, object]:
    """Two steps of each tensor with 100 values around 0."""
    rows = {"metric": [n for n in names for _ in range(2)], "step": [0, 1] * len(names), "source": "m.csv"}
    numbers = {"count": 100, "mean": 0.0, "std": std, "min": -2.0, "max": 3.0, "zeros": 25}
    return {"distributions": table("distributions", {**rows, **numbers})}


def test_a_histogram_is_a_layer_with_its_norm(context_of: ContextOf) -> None:
    """The norm of n values is sqrt(n) times their root mean square."""
    (layer,) = layers(context_of({}, **histograms("gradients/fc.weight")), "gradient")

    assert layer.size.tolist() == [10.0, 10.0]
    assert layer.zeros.tolist() == [0.25, 0.25]
    assert layer.reach.tolist() == [3.0, 3.0]
    assert (layer.first, layer.last, layer.tensor) == (10.0, 10.0, "fc.weight")
    assert layer.witness_at(1).step == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [("gradients/fc.weight", "gradient"), ("fc.weight", "weight"), ("fc/relu", "activation"), ("noise", None)],
)
def test_the_name_shows_the_kind(context_of: ContextOf, name: str, kind: str | None) -> None:
    context = context_of({}, **histograms(name))

    assert [k for k in ("gradient", "weight", "activation") if metrics(context, k)] == ([kind] if kind else [])


def test_layers_are_in_order_of_their_numbers(context_of: ContextOf) -> None:
    """If the names differ in more than numbers, the logged order counts."""
    norms = {f"grad_norm/layer{n}": [1.0, 1.0] for n in (10, 2, 1)}
    named = {f"grad_norm/{n}": [1.0, 1.0] for n in ("b2", "a10")}

    assert metrics(context_of(norms), "gradient") == [f"grad_norm/layer{n}" for n in (1, 2, 10)]
    assert metrics(context_of(named), "gradient") == ["grad_norm/b2", "grad_norm/a10"]


def test_small_and_sparse_tensors_are_left_out(context_of: ContextOf) -> None:
    """Biases and normalisation remain if fewer than two other layers do."""
    names = ("gradients/wte.weight", "gradients/fc.weight", "gradients/fc.bias", "gradients/ln_1.weight")
    found = layers(context_of({}, **histograms(*names)), "gradient")

    assert [layer.tensor for layer in main(found)] == ["wte.weight", "fc.weight"]
    assert len(main(found[1:])) == 3
    assert "wte.weight" not in [layer.tensor for layer in dense(found)]

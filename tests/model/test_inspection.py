"""Properties of tensors."""

import pytest

from loganalyst.model import TensorStats


def tensor(name: str, shape: tuple[int, ...], nan: int = 0, inf: int = 0) -> TensorStats:
    return TensorStats(name, shape, "f32", 4, nan, inf, 0, 0, 0.0, 1.0, 0.5, 0.1, 1.0)


@pytest.mark.parametrize(
    ("name", "shape", "embedding"),
    [
        ("model.embed_tokens.weight", (8, 4), True),
        ("transformer.wte.weight", (8, 4), True),
        ("emb", (8, 4), True),
        ("embed.weight", (8,), False),
        ("layers.0.mlp.weight", (8, 4), False),
    ],
)
def test_embeddings_are_tables_with_such_a_name(name: str, shape: tuple[int, ...], *, embedding: bool) -> None:
    """By the module's words and two axes."""
    assert tensor(name, shape).embedding is embedding


def test_nonfinite_counts_both() -> None:
    """NaN and infinite values."""
    assert tensor("w", (4,), nan=2, inf=1).nonfinite == 3

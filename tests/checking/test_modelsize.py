"""Parameters worked out from sizes, against the counts that their authors publish."""

import pytest

from loganalyst.checking.modelsize import Sizes, named

PUBLISHED = [  # sizes as in the model's config, and its parameters
    ("GPT-2", Sizes(50257, 768, 12, positions=1024), 124.4e6),
    ("GPT-2 XL", Sizes(50257, 1600, 48, positions=1024), 1557.6e6),
    ("Llama 7B", Sizes(32000, 4096, 32, 11008, heads=32, gated=True, tied=False), 6738.4e6),
    ("TinyLlama", Sizes(32000, 2048, 22, 5632, heads=32, kv_heads=4, gated=True, tied=False), 1100.0e6),
    ("Qwen2.5 0.5B", Sizes(151936, 896, 24, 4864, heads=14, kv_heads=2, gated=True), 494.0e6),
    ("Mixtral 8x7B", Sizes(32000, 4096, 32, 14336, heads=32, kv_heads=8, gated=True, tied=False, experts=8), 46.7e9),
    ("Qwen3 0.6B", Sizes(151936, 1024, 28, 3072, heads=16, kv_heads=8, head_width=128, gated=True), 596.0e6),
]


@pytest.mark.parametrize(("name", "sizes", "parameters"), PUBLISHED, ids=[name for name, *_ in PUBLISHED])
def test_the_count_is_right_to_one_per_cent(name, sizes, parameters):
    assert sizes.parameters == pytest.approx(parameters, rel=0.01)


def test_an_output_layer_of_its_own_counts_as_embedding():
    assert Sizes(100, 10, 1, tied=False).embedding == 2 * Sizes(100, 10, 1).embedding == 2000


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("meta-llama/Llama-3.1-8B", 8e9),
        ("opt-350m", 350e6),
        ("Mixtral-8x7B-v0.1", None),
        ("llama-4bit", None),
        (None, None),
    ],
)
def test_the_size_in_a_name(name, size):
    """Several sizes, or none, are not known."""
    assert named(name) == size

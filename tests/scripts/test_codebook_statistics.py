"""The script that measures a codebook, compared with exact values."""

import math

import pytest


def test_codebook_statistics_are_exact(script, torch):
    codes, codebook = torch.tensor([0] * 30 + [1] * 10), torch.tensor([[3.0, 4.0], [0.0, 1.0], [0.0, 7.0], [9.0, 0.0]])
    found = script("codebook_statistics")(codes.reshape(2, 20), codebook)

    assert found == {
        "codes": 40,
        "entries": 4,
        "used": 2,
        "perplexity": pytest.approx(math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25)), rel=1e-12),
        "share": pytest.approx(found["perplexity"] / 4),
        "top_share": 0.75,
        "used_norm": 3.0,
        "unused_norm": 8.0,
        "suspicious": ["1.75 of 4 entries are in use"],
    }


def test_a_codebook_in_full_use_is_healthy_and_too_few_codes_judge_nothing(script, torch):
    measure, codebook = script("codebook_statistics"), torch.nn.Embedding(64, 2).weight
    full = measure(torch.arange(640) % 64, codebook)
    seven, six = (measure(torch.arange(840) % used, codebook) for used in (7, 6))
    few = measure(torch.zeros(639, dtype=torch.long), codebook)

    assert (full["perplexity"], full["used"], full["unused_norm"]) == (pytest.approx(64), 64, None)
    assert full["suspicious"] == few["suspicious"] == seven["suspicious"] == []
    assert six["suspicious"] == ["6 of 64 entries are in use"]


@pytest.mark.parametrize("codes", [[4], [-1], []])
def test_codes_outside_the_codebook_are_refused(codes, script, torch):
    with pytest.raises(ValueError, match="codes must be indices from 0 to 3, at least one"):
        script("codebook_statistics")(torch.tensor(codes), torch.zeros(4, 2))

"""The script that measures the input, compared with torch."""

import math

import pytest


def test_input_statistics_are_torchs(script, torch):
    inputs, labels = torch.randn(100, 2, 3), torch.arange(100) % 4
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=8)
    found = script("input_statistics")(loader)

    assert (found["rows"], found["nonfinite"], found["repeated"]) == (100, 0, 0.0)
    assert (found["min"], found["max"]) == (inputs.min().item(), inputs.max().item())
    assert found["mean"] == pytest.approx(inputs.double().mean().item(), abs=1e-12)
    assert found["std"] == pytest.approx(inputs.double().std(correction=0).item(), rel=1e-12)
    assert found["labels"] == {0: 25, 1: 25, 2: 25, 3: 25}
    assert found["suspicious"] == []


def test_input_statistics_name_every_fault(script, torch):
    inputs = torch.arange(400.0).reshape(100, 4)
    inputs[1] = inputs[0]
    inputs[2] = inputs[0]
    inputs[5, 0], inputs[6, 0] = math.nan, -math.inf
    labels = torch.zeros(100, dtype=torch.long)
    labels[0] = 1
    found = script("input_statistics")([{"x": inputs, "y": labels}], inputs="x", labels="y")

    assert found["suspicious"] == [
        "2 inputs and 0 labels are not finite",
        "inputs reach from 0 to 399: not scaled",
        "99 of 100 rows have the commonest label, 1 the rarest of 2",
        "2.0% of the rows were seen before",
    ]


def test_input_statistics_take_token_ids_and_half_precision_and_no_labels(script, torch):
    tokens = torch.arange(50_000).reshape(10, 5_000)
    found = script("input_statistics")([(tokens,)], labels=None)
    half = script("input_statistics")([(torch.ones(4, dtype=torch.bfloat16), torch.tensor([0.5, math.nan, 1, 1]))])

    assert (found["max"], found["labels"], found["suspicious"]) == (49_999, {}, [])
    assert half["suspicious"] == [
        "0 inputs and 1 labels are not finite",
        "all inputs are 1",
        "75.0% of the rows were seen before",
    ]


@pytest.mark.parametrize(
    ("rare", "suspicious"), [(1, ["101 of 203 rows have the commonest label, 1 the rarest of 3"]), (2, [])]
)
def test_a_label_100_times_rarer_than_another_is_named(rare, suspicious, script, torch):
    labels = torch.tensor([0] * 101 + [1] * (102 - rare) + [2] * rare)

    assert script("input_statistics")([(torch.randn(203, 4), labels)])["suspicious"] == suspicious


def test_a_batch_may_be_one_tensor(script, torch):
    found = script("input_statistics")([torch.eye(8), 2 * torch.eye(8)])

    assert (found["rows"], found["max"], found["mean"], found["labels"]) == (16, 2.0, 24 / 128, {})
    assert found["suspicious"] == []


def test_input_statistics_stop_after_the_batches_asked_for(script, torch):
    endless = iter(lambda: (torch.randn(2, 3), torch.tensor([0, 1])), None)

    assert script("input_statistics")(endless, batches=3)["rows"] == 6

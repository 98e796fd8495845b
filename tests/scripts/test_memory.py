"""The script that measures memory, compared with the sizes of tensors."""

from pathlib import Path
from types import SimpleNamespace

import pytest


def test_memory_sums_are_those_of_the_tensors(script, torch, model):
    model.insert(1, torch.nn.BatchNorm1d(8))
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()

    found = script("memory")(model, optimizer, step, steps=5)

    weights = 4 * (4 * 8 + 8 + 8 + 8 + 8 * 3 + 3)
    assert (found["weights"], found["gradients"]) == (weights, weights)
    assert found["optimizer"] == 2 * weights + 6 * 4  # two moments, and a counter for each of six parameters
    assert found["buffers"] == 2 * 8 * 4 + 8  # running mean and variance, and the number of batches
    assert len(found["held"]) == 5
    assert found["suspicious"] == []


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell the resident memory")
def test_memory_names_a_leak(script, torch, model):
    optimizer, kept = torch.optim.SGD(model.parameters()), []
    found = script("memory")(model, optimizer, lambda: kept.append(torch.ones(4 * 2**20)), steps=8)

    assert found["rising"] == 1.0
    assert found["held"][-1] - found["held"][2] > 4 * 16 * 2**20
    assert found["suspicious"] == [f"memory rose in 100% of the steps, by {found['growth']:.1%} in 5 steps"]


@pytest.mark.parametrize(
    ("held", "suspicious"),
    [
        ([50, 90, 100, 101, 103, 107, 115], ["memory rose in 100% of the steps, by 15.0% in 4 steps"]),
        ([50, 90, 100, 130, 110, 120, 115], []),  # up and down
        ([50, 90, 1000, 1001, 1002, 1003, 1004], []),  # less than one in a hundred
    ],
)
def test_on_a_gpu_memory_reads_the_allocator(held, suspicious, script, torch, monkeypatch):
    """Without a GPU: the figures are given in place of the allocator's, what is made of them is checked."""
    weight = SimpleNamespace(device=torch.device("cuda"), grad=None, numel=lambda: 10, element_size=lambda: 2)
    model = SimpleNamespace(parameters=lambda: iter([weight]), buffers=list)
    after = iter(held)
    figures = {
        "reset_peak_memory_stats": lambda device: None,
        "memory_allocated": lambda device: next(after),
        "max_memory_reserved": lambda device: 190,
        "get_device_properties": lambda device: SimpleNamespace(total_memory=200),
    }
    for name, figure in figures.items():
        monkeypatch.setattr(torch.cuda, name, figure)
    found = script("memory")(model, SimpleNamespace(state={}), lambda: None, steps=7)

    assert (found["weights"], found["peak"], found["device"]) == (20, 190, 200)
    assert (found["held"], found["growth"]) == (held, pytest.approx(held[-1] / held[2] - 1))
    assert found["suspicious"] == [*suspicious, "the peak is 95% of the device"]

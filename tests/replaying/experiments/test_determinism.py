"""Steps and batches that repeat exactly, or do not."""

import pytest
import torch
from torch import nn

from loganalyst.replaying.experiments import determinism
from tests.replaying import entries
from tests.replaying.networks import made


class Unsteady(nn.Linear):
    """Each call adds a little more than the last: a state that no checkpoint has."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) + 1e-6 * self.calls


@pytest.mark.parametrize(
    ("spec", "outcome", "note"),
    [
        (lambda: made(nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5), nn.Linear(4, 1))), "identical", None),
        (lambda: made(Unsteady(8, 1)), "operations", "repeated steps differ from step 0 on"),
        (
            lambda: made(nn.Linear(8, 1), batches=lambda i: (torch.randn(4, 8),) * 2),
            "batches",
            "batches(i) gives other",
        ),
        (entries.bad_batch, "identical", None),
    ],
)
def test_determinism(bench, limits, spec, outcome, note):
    there = bench(spec(), steps=80, limits={**limits("determinism"), "steps": 80})

    found = [determinism.run(there, 0) for _ in range(2)][-1]

    assert found.outcome == outcome
    assert [n[: len(note)] for n in there.notes] == [note] if note else not there.notes

"""Findings on checkpoints as outcomes of an experiment."""

import safetensors.torch
import torch

from loganalyst.pipeline import catalogue
from loganalyst.replaying import forensics


def test_findings_that_distinguish_causes_become_outcomes(tmp_path):
    """Dead rows do; NaN, which many causes leave, does not."""
    state = {"w": torch.eye(4)[:, :3], "bad": torch.full((2,), torch.nan)}
    safetensors.torch.save_file({name: t.contiguous() for name, t in state.items()}, tmp_path / "a.safetensors")
    found = forensics.inspect_checkpoints(tmp_path / "a.safetensors", None)
    (experiment,) = forensics.as_experiments(found, catalogue().experiments[forensics.NAME])

    assert [f.kind for f in found.findings] == ["nonfinite", "dead_rows"]
    assert (experiment.name, experiment.outcome) == ("inspection", "dead_rows")
    assert experiment.text.startswith("a.safetensors: rows of zeros")


def test_without_a_checkpoint_there_is_nothing_to_inspect():
    assert forensics.inspect_checkpoints(None, None) is None
    assert forensics.as_experiments(None, catalogue().experiments[forensics.NAME]) == ()

"""Findings on checkpoints as outcomes of an experiment."""

from loganalyst.pipeline import catalogue
from loganalyst.replaying import forensics


def test_the_first_finding_of_each_kind_becomes_an_outcome(tmp_path):
    import safetensors.torch
    import torch

    safetensors.torch.save_file({"w": torch.full((2,), torch.nan)}, tmp_path / "a.safetensors")
    stated = catalogue().experiments[forensics.NAME]
    found = forensics.as_experiments(forensics.inspect_checkpoints(tmp_path / "a.safetensors", None), stated)

    expected = ["nonfinite"] if "nonfinite" in stated.outcomes else []
    assert [e.outcome for e in found] == expected
    assert forensics.as_experiments(None, stated) == ()
    assert forensics.inspect_checkpoints(None, None) is None

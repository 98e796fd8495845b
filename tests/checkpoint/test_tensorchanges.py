"""Changes from one checkpoint to the next."""

import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst.checkpoint import tensorchanges
from loganalyst.checkpoint.scanprogress import Steps
from tests.checkpoint.samples import contents


def test_a_short_tensor_is_never_called_reinitialised():
    """A cosine below 0.3 needs 256 values; the others keep their direction."""
    torch.manual_seed(0)
    kept = {name: torch.ones(300) for name in ("a", "b", "c")}
    long, short = torch.randn(300), torch.randn(255)
    old = contents(long=long, short=short, **kept)
    new = contents(long=-long, short=-short, gone=torch.ones(1), **{name: t * 1.5 for name, t in kept.items()})
    found = tensorchanges.compare(old, new, Steps(0))

    assert {t.name: t.verdict for t in found.tensors} == {
        "long": "reset", "short": "changed", "a": "changed", "b": "changed", "c": "changed", "gone": "added"
    }  # fmt: skip
    assert found.median == 0.5


def test_frozen_runaway_and_reset_tensors_are_found(tmp_path):
    torch.manual_seed(1)
    old = {f"layer.{i}.weight": torch.randn(30, 30) for i in range(8)}
    new = {name: t * 1.001 for name, t in old.items()}
    new["layer.1.weight"] = old["layer.1.weight"]
    new["layer.2.weight"] = old["layer.2.weight"] * 1.5
    new["layer.3.weight"] = torch.randn(30, 30)
    new["layer.4.weight"] = torch.ones(2)
    safetensors.torch.save_file(old, tmp_path / "old.safetensors")
    safetensors.torch.save_file(new, tmp_path / "new.safetensors")

    found = la.inspect(tmp_path / "old.safetensors", tmp_path / "new.safetensors")

    kinds_found = {f.kind: f.tensors for f in found.findings}
    assert kinds_found == {"reset": ("layer.3.weight",), "runaway": ("layer.2.weight",), "frozen": ("layer.1.weight",),
                    "missing": ("layer.4.weight",)}  # fmt: skip
    change = {t.name: t.relative for t in found.changes[0].tensors}
    assert change["layer.0.weight"] == pytest.approx(0.001, rel=1e-3)
    assert change["layer.2.weight"] == pytest.approx(0.5, rel=1e-6)
    assert found.changes[0].median == pytest.approx(0.001, rel=1e-3)


def test_two_equal_checkpoints_learned_nothing(saved):
    found = la.inspect(saved, saved)

    assert [(f.kind, f.severity) for f in found.findings] == [("frozen", "warning")]

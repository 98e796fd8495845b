"""A whole checkpoint: parameters by module, tied tensors, the state of optimisers."""

import pytest
import torch

import loganalyst as la
from loganalyst.checkpoint import wholecheckpoint
from loganalyst.checkpoint.scanprogress import Steps
from tests.checkpoint.samples import as_stored, contents, model


def test_buffers_are_no_parameters_and_modules_are_split_as_deep_as_the_table_allows():
    tensors = {f"h_{i}_{part}_weight": torch.ones(i + 1) for i in range(2) for part in ("attn", "mlp")}
    found = contents(**tensors, ln_weight=torch.ones(2))
    found.tensors.append(as_stored("bn.running_mean", torch.ones(9)))
    progress = []
    scan = wholecheckpoint.scan_checkpoint(found, Steps(6, lambda done, total: progress.append((done, total))))

    assert (scan.parameters, len(scan.tensors)) == (8, 6)
    assert [(m.name, m.parameters) for m in scan.modules] == [
        ("h.0.attn", 1), ("h.0.mlp", 1), ("h.1.attn", 2), ("h.1.mlp", 2), ("ln", 2)
    ]  # fmt: skip
    assert wholecheckpoint.tensor_count(found, spectra=True) == 12
    assert progress[-1] == (6, 6)


def test_a_sound_checkpoint_has_no_findings(saved):
    found = la.inspect(saved)
    (scan,) = found.checkpoints

    assert (found.findings, found.unusable) == ((), False)
    assert [t.name for t in scan.tensors] == ["embed.weight", "head.weight", "head.bias"]
    assert (scan.format, scan.parameters, scan.epoch, scan.step, scan.loss_scale) == ("torch", 1650, 2.0, 3, 1024.0)
    assert scan.lr == pytest.approx((1e-3 / 8,))
    assert scan.embedding_share == 800 / 1650
    assert [(m.name, m.parameters) for m in scan.modules] == [("embed", 800), ("head", 850)]
    (adam,) = scan.optimizers
    assert (adam.step, adam.eps, len(adam.moments), adam.blown_up, adam.eps_share) == (3, 1e-8, 6, (), 0.0)


def test_tied_tensors_count_once(tmp_path):
    net = model()
    net["head"].weight = net["embed"].weight
    torch.save(net.state_dict(), tmp_path / "x.pt")

    (scan,) = la.inspect(tmp_path / "x.pt").checkpoints

    assert scan.tied == (("embed.weight", "head.weight"),)
    assert scan.parameters == 850

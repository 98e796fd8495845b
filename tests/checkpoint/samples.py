"""Checkpoints for the tests, and what is checked of them in several files."""

import json
import os
import pickle
import warnings
from pathlib import Path

import pytest
import safetensors.torch
import torch
import torch.distributed.checkpoint as dcp

import loganalyst as la
from loganalyst import cli
from loganalyst.checkpoint import torchfile
from loganalyst.checkpoint.contents import Contents
from loganalyst.checkpoint.tensorblocks import BLOCK
from loganalyst.errors import SourceError


class Evil:
    """Touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def refused(path):
    """The text of the error that refuses a checkpoint."""
    with pytest.raises(SourceError) as error:
        la.inspect(path)
    return str(error.value)


def header(path, entries, data=b"", length=None):
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def model():
    torch.manual_seed(0)
    return torch.nn.ModuleDict({"embed": torch.nn.Embedding(50, 16), "head": torch.nn.Linear(16, 50)})


def trained(steps=3, rate=1e-3):
    """A model, its optimiser after some steps, and the scheduler."""
    net = model()
    adam = torch.optim.AdamW(net.parameters(), lr=rate)
    plan = torch.optim.lr_scheduler.StepLR(adam, 1, 0.5)
    for step in range(steps):
        adam.zero_grad()
        out = net["head"](net["embed"](torch.arange(50)))
        torch.nn.functional.cross_entropy(out, torch.arange(50).roll(step)).backward()
        adam.step()
        plan.step()
    return net, adam, plan


def kinds(found):
    return [f.kind for f in found.findings]


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    return int(stop.value.code or 0)


COUNT = 3 * BLOCK + 17  # four blocks, the last one short


def scanned(tensor, path, form="safetensors"):
    path = path.with_suffix(".pt" if form == "torch" else ".safetensors")
    if form == "safetensors":
        safetensors.torch.save_file({"w": tensor}, path)
    else:
        torch.save({"w": tensor}, path)
    (found,) = la.inspect(path).checkpoints
    return found.tensors[0]


def agrees(stats, tensor):
    """Counts and extremes are exact; mean, deviation and norm hold to a few parts in a million."""
    x = tensor.to(torch.float64).flatten()
    finite = x[torch.isfinite(x)]
    assert (stats.count, stats.nan, stats.inf) == (x.numel(), int(x.isnan().sum()), int(x.isinf().sum()))
    assert (stats.zeros, stats.tiny) == (int((finite == 0).sum()), int((finite.abs() < 1e-8).sum()))
    assert (stats.min, stats.max) == (float(finite.min()), float(finite.max()))
    assert stats.std == pytest.approx(float(finite.std(correction=0)), rel=5e-6, abs=1e-300)
    assert stats.norm == pytest.approx(float(finite.norm()), rel=5e-6)
    assert stats.mean == pytest.approx(float(finite.mean()), rel=1e-6, abs=1e-6 * stats.std)


def drawn(seed=0, count=COUNT):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def save_distributed(state, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state, checkpoint_id=folder)
    return folder


def as_stored(name, tensor):
    return torchfile.stored(Path(), name, tensor)


def contents(name="x", **tensors):
    """A checkpoint in memory; in names `_` is a dot."""
    return Contents(Path(name), "torch", 0, [as_stored(n.replace("_", "."), t) for n, t in tensors.items()])


def trained_linear():
    """A layer, its optimiser after one step, and the scheduler."""
    torch.manual_seed(0)
    net = torch.nn.Linear(16, 7)
    adam = torch.optim.AdamW(net.parameters(), lr=0.01)
    plan = torch.optim.lr_scheduler.StepLR(adam, 1, 0.5)
    net(torch.ones(4, 16)).square().mean().backward()
    adam.step()
    plan.step()
    return net, adam, plan


def change_metadata(folder, change):
    """Change one thing in the metadata of a distributed checkpoint."""
    metadata = pickle.loads((folder / ".metadata").read_bytes())
    index = next(i for i in metadata.storage_data if i.fqn == "model.weight")
    change(metadata, index)
    (folder / ".metadata").write_bytes(pickle.dumps(metadata))

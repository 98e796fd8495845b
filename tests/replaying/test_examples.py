"""The entries of docs/replay.md: each training shown is made, and its entry replays it, batch by batch."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

import loganalyst as la
from loganalyst.replaying import checkpointchoice, stateloading
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import find
from tests.commandline import called
from tests.test_docs import ROOT, blocks

EXAMPLES = dict(zip(("plain", "lightning", "trainer"), blocks(ROOT / "docs/replay.md", "python")[1:], strict=True))


@pytest.fixture
def example(tmp_path, monkeypatch):
    """One of them as a file of its own, imported."""
    made = []

    def write(name):
        monkeypatch.chdir(tmp_path)
        file = tmp_path / "train.py"
        file.write_text(EXAMPLES[name], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"example_{name}", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        made.append(spec.name)
        spec.loader.exec_module(module)
        return module

    yield write
    for name in made:
        del sys.modules[name]


def at_checkpoint(module, run, onset, steps):
    """A bench at the last checkpoint before a step, as `replay` makes it."""
    spec, picked = module.replay_spec(), checkpointchoice.choose(la.diagnose(run), onset, None)
    loaded = stateloading.load(picked.path, spec)
    assert loaded.notes == []
    return Bench(spec, torch.device("cpu"), loaded.step, onset, steps, random_state=loaded.random_state)


def logged(run, metric):
    """By step."""
    points = la.diagnose(run).run.points.filter(metric=metric).sort("step")
    return dict(points.select("step", "value").iter_rows())


def test_plain_pytorch(example, limits):
    module = example("plain")
    module.train()
    bench = at_checkpoint(module, Path("run"), 61, 30)
    found = bench.unchanged(0)

    assert bench.start == 50
    losses = logged(Path("run"), "train/loss")
    assert found.losses[:12] == pytest.approx([losses[step] for step in range(50, 62)], rel=1e-6)
    bench.limits = limits("lr_counterfactual")
    assert find("lr_counterfactual")(bench, 0).outcome == "vanished"


def test_the_readme_shows_what_this_replay_prints(example):
    example("plain").train()
    printed = called("replay", "run", "--entry", "train.py:replay_spec", "--device", "cpu").out
    first, *curves = blocks(ROOT / "README.md", "text")[1].splitlines()

    assert printed.startswith(first)
    assert [curve in printed for curve in curves] == [True, True]


def test_lightning(example, limits):
    module = example("lightning")
    module.train()
    bench = at_checkpoint(module, Path("run"), 35, 30)
    found = bench.unchanged(0)

    assert (bench.start, found.nonfinite) == (20, 35)
    losses = logged(Path("run"), "train_loss")
    assert found.losses[:15] == pytest.approx([losses[step] for step in range(20, 35)], rel=1e-5)
    bench.limits = limits("first_nonfinite")
    assert find("first_nonfinite")(bench, 0).outcome == "input"


def test_hf_trainer(example):
    pytest.importorskip("accelerate", reason="the HF Trainer needs transformers and accelerate")
    pytest.importorskip("transformers", reason="the HF Trainer needs transformers and accelerate")
    module = example("trainer")
    module.trainer().train()
    bench = at_checkpoint(module, Path("run"), 25, 10)
    found = bench.unchanged(0)

    assert bench.start == 20
    losses = logged(Path("run"), "loss")
    assert found.losses == pytest.approx([losses[step] for step in range(21, 31)], rel=1e-5)
    assert found.rates[:2] == pytest.approx([0.0015, 0.001425])

"""Real runs: the entries trained, with a log and checkpoints, as a user's training leaves them."""

import csv

import pytest
import torch

import loganalyst as la
from loganalyst.replaying.bench import Bench
from tests.replaying import entries

ENTRIES = entries.__file__


def trained(folder, made, *, steps=120, every=25):
    """Train a spec: metrics.csv, and `checkpoint-<steps done>.pt` with model, optimiser, scheduler and random state."""
    torch.manual_seed(made.seed)
    rows = []
    for step in range(steps):
        if step % every == 0:
            state = {
                "model": made.model.state_dict(),
                "optimizer": made.optimizer.state_dict(),
                "scheduler": made.scheduler.state_dict(),
                "step": step,
                "rng_state": torch.get_rng_state(),
            }
            torch.save(state, folder / f"checkpoint-{step}.pt")
        loss = made.loss(made.model, made.batch(step))
        total = sum(loss.values()) if isinstance(loss, dict) else loss
        made.optimizer.zero_grad()
        total.backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in made.model.parameters()])
        rate = made.optimizer.param_groups[0]["lr"]
        made.optimizer.step()
        made.scheduler.step()
        rows.append({"step": step, "train/loss": total.item(), "grad_norm": norm.item(), "lr": rate})
    with (folder / "metrics.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A run folder by the name of its entry, trained once."""
    made = {}

    def run(name):
        if name not in made:
            made[name] = trained(tmp_path_factory.mktemp(name), getattr(entries, name)())
        return made[name]

    return run


@pytest.fixture(scope="session")
def replays(runs):
    """A whole replay by the name of its entry, made once: each starts a process, which takes seconds."""
    made = {}

    def replay(name):
        if name not in made:
            made[name] = la.replay(runs(name), f"{ENTRIES}:{name}", device="cpu")
        return made[name]

    return replay


@pytest.fixture
def bench():
    """A bench in this process: `bench("entry", start=50)` is at its checkpoint after so many healthy steps."""

    def make(made, start=0, steps=40, limits=None):
        found = Bench(made, torch.device("cpu"), start=0, steps=steps)
        if start:
            found.train(0, steps=start)
        return Bench(made, torch.device("cpu"), start=start, steps=steps, limits=limits or {})

    return make


@pytest.fixture
def limits():
    """The thresholds of an experiment, as rules/replay.yaml has them."""
    from loganalyst.pipeline import catalogue

    return lambda name: catalogue().experiments[name].limits


@pytest.fixture
def run(bench, limits):
    """An experiment made on a spec, as a replay makes it with one seed."""
    from loganalyst.pipeline import catalogue
    from loganalyst.replaying.experiment import INCONCLUSIVE, find

    def measured(name, made, *, start=50, steps=40, seed=0):
        found = find(name)(bench(made, start=start, steps=steps, limits=limits(name)), seed)
        assert found.outcome in {*catalogue().experiments[name].outcomes, INCONCLUSIVE}
        return found

    return measured

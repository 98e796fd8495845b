"""Real runs: the entries trained, with a log and checkpoints, as a user's training leaves them."""

import pytest
import torch

import loganalyst as la
from fixtures.replays.training import trained
from loganalyst.replaying.bench import Bench
from tests.replaying import entries

ENTRIES = entries.__file__


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

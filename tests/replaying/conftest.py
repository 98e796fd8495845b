"""Real runs: the entries are trained, with a log and checkpoints, as a user's training leaves them."""

import pytest
import torch

import loganalyst as la
from fixtures.replays.training import trained
from loganalyst.pipeline import catalogue
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE
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
    """A whole replay by the name of its entry, made once, because each starts a process."""
    made = {}

    def replay(name):
        if name not in made:
            made[name] = la.replay(runs(name), f"{ENTRIES}:{name}", device="cpu")
        return made[name]

    return replay


@pytest.fixture
def bench():
    """A bench in this process: `bench(spec, start=50)` is at its checkpoint after 50 healthy steps."""

    def make(made, start=0, steps=40, limits=None):
        found = Bench(made, torch.device("cpu"), start=0, steps=steps)
        if start:
            found.train(0, steps=start)
        return Bench(made, torch.device("cpu"), start=start, steps=steps, limits=limits or {})

    return make


@pytest.fixture
def limits():
    """The thresholds of an experiment from rules/replay.yaml."""
    return lambda name: catalogue().experiments[name].limits


def checked(experiment, bench, seed):
    """The measurement of an experiment, whose outcome rules/replay.yaml must state."""
    found = experiment.run(bench, seed)
    assert found.outcome in {*catalogue().experiments[name(experiment)].outcomes, INCONCLUSIVE}
    return found


def name(experiment):
    return experiment.__name__.rpartition(".")[2]


@pytest.fixture
def run(bench, limits):
    """Runs an experiment (its module) on a spec after 50 steps."""

    def run(experiment, made, *, start=50, steps=40, seed=0):
        return checked(experiment, bench(made, start=start, steps=steps, limits=limits(name(experiment))), seed)

    return run


@pytest.fixture
def measure(bench, limits):
    """Runs an experiment (its module) on a spec at its first step, with `changed` limits."""

    def measure(experiment, made, *, start=0, length=10, **changed):
        there = bench(made, start=start, steps=length, limits={**limits(name(experiment)), **changed})
        return checked(experiment, there, 0)

    return measure

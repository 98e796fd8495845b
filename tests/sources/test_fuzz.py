"""A slice of the mutants of the benchmark's fuzzer: see tests/bench/fuzz_readers.py."""

import random

import pytest

from loganalyst.sources.formats import formats
from tests.bench.fuzz.mutate import ACTIONS, mutations
from tests.bench.fuzz.seeds import WRITERS
from tests.bench.fuzz.targets import targets
from tests.bench.fuzz_readers import Input, chosen, faults

INPUTS = 60
FOUND = [
    ("text", 43688),
    ("text", 136388),
    ("text", 178996),
    ("text", 9978),
    ("text", 10861),
    ("wandb", 94697),
    ("slurm", 2694),
    ("tensorboard", 187659),
    ("slurm", 156009),
    ("tensorboard", 199712),
]  # inputs that failed once


def test_every_format_is_tried():
    """Each reader has seed files, and the compressed ones besides."""
    assert {*(module.NAME for module in formats()), "compressed"} == set(WRITERS)


@pytest.mark.parametrize("name", WRITERS)
def test_mutants(tmp_path, name):
    """No mutant and no seed makes a reader raise, hang, read a wrong value or lose an intact record."""
    (target,) = targets(tmp_path, [name])
    for seed in target.seeds:
        for small in (False, True):
            assert faults(target, Input(seed, [], small, None)) == []
    found = {number: faults(target, chosen(target, number)) for number in range(INPUTS)}

    assert {number: every for number, every in found.items() if every} == {}


@pytest.mark.parametrize(("name", "number"), FOUND)
def test_found_before(tmp_path, name, number):
    """Inputs that failed once do not fail again."""
    (target,) = targets(tmp_path, [name])

    assert faults(target, chosen(target, number)) == []


def test_the_same_number_is_the_same_mutant(tmp_path):
    """A failed input can be made again."""
    (target,) = targets(tmp_path, ["slurm"])
    (again,) = targets(tmp_path, ["slurm"])

    assert [chosen(target, n) for n in range(50)] == [chosen(again, n) for n in range(50)]


def test_a_reader_that_errs_is_found(tmp_path, monkeypatch):
    """Lost records, wrong values, exceptions and other tables after resuming are each reported as such."""
    (target,) = targets(tmp_path, ["tensorboard"])
    whole = Input(target.seeds[0], [], small=False, cut=0.5)
    read, resume = target.module.read, target.module.resume

    def kinds() -> set[str]:
        return {fault.kind for fault in faults(target, whole)}

    def without_first(path):
        tables, *rest = read(path)
        return [type(tables)(points=tables.points[1:]), *rest]

    def doubled(path):
        tables, *rest = read(path)
        return [type(tables)(points=tables.points.with_columns(value=tables.points["value"] * 2)), *rest]

    def broken(path):
        raise ValueError

    def forgetful(path, mark):
        return (yield from resume(path, None))

    assert kinds() == set()
    for fake, told in ((without_first, {"lost"}), (doubled, {"lost", "wrong"}), (broken, {"exception"})):
        monkeypatch.setattr(target.module, "read", fake)
        assert kinds() >= told
    monkeypatch.setattr(target.module, "read", read)
    monkeypatch.setattr(target.module, "resume", forgetful)
    assert kinds() == {"resume"}


def test_every_mutation_is_chosen():
    """All kinds of damage come up."""
    rng = random.Random(0)

    assert {mutation.kind for _ in range(2000) for mutation in mutations(rng, 1000)} == set(ACTIONS)

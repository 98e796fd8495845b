"""Code for fixes: every template runs and does what its title says."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from loganalyst import pipeline
from loganalyst.diagnosis.fixtemplates import framework, known, templates

LIBRARY = {"pytorch": "torch", "transformers": "transformers", "lightning": "lightning", "keras": "keras"}
CASES = [(id_, name) for id_, entry in known().items() for name in entry.code]
# Imports torch once for all frameworks and each framework once, which takes seconds. Each framework, and each program
# behind that, has a process of its own
EACH = """
import json, os, sys, tempfile, traceback
import torch._dynamo  # every optimiser imports it

def apart(work):
    if not (child := os.fork()):
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]

def run(name, program):
    os.chdir(tempfile.mkdtemp(dir=sys.argv[1]))
    exec(compile(program, name, "exec"), {"__name__": "__main__"})

def run_all(framework, imports, programs):
    exec(imports)
    for name, program in programs.items():
        print(framework, name, apart(lambda: run(name, program)), flush=True)

for framework, (imports, programs) in json.load(sys.stdin).items():
    apart(lambda: run_all(framework, imports, programs))
"""
IMPORTS = {
    "pytorch": "",
    "transformers": "import transformers; transformers.Trainer, transformers.TrainingArguments",
    "lightning": "import lightning.pytorch",
    "keras": "import keras",
}
Outcomes = tuple[dict[tuple[str, str], str], str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The exit code of each template of each framework, and what was printed on stderr."""
    pytest.importorskip("torch")
    programs = {
        name: (imports, {i: f"{e.code[name]}\n{e.check[name]}" for i, e in known().items() if name in e.code})  # type: ignore[index]
        for name, imports in IMPORTS.items()
        if importlib.util.find_spec(LIBRARY[name])
    }
    command = [sys.executable, "-c", EACH, str(tmp_path_factory.mktemp("programs"))]
    backend = {**os.environ, "KERAS_BACKEND": "torch"}
    done = subprocess.run(command, input=json.dumps(programs), env=backend, capture_output=True, text=True, check=False)
    lines = (line.split() for line in done.stdout.splitlines())
    return {(line[1], line[0]): line[2] for line in lines if len(line) == 3 and line[0] in programs}, done.stderr


@pytest.mark.parametrize(("id_", "name"), CASES)
def test_every_template_runs(id_: str, name: str, outcomes: Outcomes) -> None:
    """Each in a process of its own, with its check."""
    pytest.importorskip(LIBRARY[name])
    codes, errors = outcomes

    assert codes.get((id_, name)) == "0", errors[-2000:]


def test_every_template_is_for_rules_that_exist() -> None:
    """And every text of code has a check; twelve fixes have one."""
    rules = pipeline.catalogue().rules

    assert {cause for entry in known().values() for cause in entry.causes} - set(rules) == set()
    assert all(set(entry.code) == set(entry.check) for entry in known().values())
    assert len(known()) == 12


@pytest.mark.parametrize(
    ("trainer", "found"),
    [
        ("hf-trainer", "transformers"),
        ("trl-grpo", "transformers"),
        ("lightning", "lightning"),
        ("keras", "keras"),
        ("nanogpt", "pytorch"),
    ],
)
def test_the_framework_is_that_of_the_trainer(trainer: str, found: str) -> None:
    """PyTorch where no other is known."""
    assert framework({"trainer": trainer}) == found


def test_the_most_particular_template_comes_first() -> None:
    """In the framework of the run, where the template has it."""
    found = templates("lr-too-high", {"trainer": "lightning"})

    assert [(t.id, t.framework) for t in found] == [("clip-gradients", "lightning"), ("warm-up-and-decay", "pytorch")]
    assert templates("converged", {}) == ()
    assert [t.framework for t in templates("lr-too-high", {"trainer": "keras"})] == ["keras", "keras"]

"""Code for fixes: every template runs and does what its title says."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

import pytest

from loganalyst import pipeline
from loganalyst.diagnosis.fixtemplates import FRAMEWORKS, framework, known, templates

LIBRARY = {"pytorch": "torch", "transformers": "transformers", "lightning": "lightning", "keras": "keras"}
CASES = [(id_, name) for id_, entry in known().items() for name in entry.code]
# Imports a library once, which takes seconds, and runs each program in a process of its own behind that
EACH = """
import json, os, sys, tempfile, traceback
programs = json.load(sys.stdin)
exec(sys.argv[1])
for name, program in programs.items():
    if not (child := os.fork()):
        code = 0
        os.chdir(tempfile.mkdtemp(dir=sys.argv[2]))
        try:
            exec(compile(program, name, "exec"), {"__name__": "__main__"})
        except BaseException:
            code = 1
            traceback.print_exc()
        os._exit(code)
    print(name, os.waitpid(child, 0)[1], flush=True)
"""
# Every optimiser imports torch._dynamo, which takes two seconds, if it is not there yet
IMPORTS = {
    "pytorch": "import torch._dynamo",
    "transformers": "import torch._dynamo, transformers; transformers.Trainer, transformers.TrainingArguments",
    "lightning": "import torch._dynamo, lightning.pytorch",
    "keras": "import keras",
}
Outcomes = Callable[[str], tuple[dict[str, str], str]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The exit code of each template of a framework, and what was printed on stderr."""

    @cache
    def of(name: str) -> tuple[dict[str, str], str]:
        programs = {i: f"{e.code[name]}\n{e.check[name]}" for i, e in known().items() if name in e.code}  # type: ignore[index]
        command = [sys.executable, "-c", EACH, IMPORTS[name], str(tmp_path_factory.mktemp(name))]
        backend = {**os.environ, "KERAS_BACKEND": "torch"}
        done = subprocess.run(
            command, input=json.dumps(programs), env=backend, capture_output=True, text=True, check=False
        )
        lines = (line.split() for line in done.stdout.splitlines())
        return {line[0]: line[1] for line in lines if len(line) == 2 and line[0] in programs}, done.stderr

    return of


@pytest.mark.parametrize(("id_", "name"), CASES)
def test_every_template_runs(id_: str, name: str, outcomes: Outcomes) -> None:
    """Each in a process of its own, with its check."""
    pytest.importorskip(LIBRARY[name])
    codes, errors = outcomes(name)

    assert codes.get(id_) == "0", errors[-2000:]


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
    assert found in FRAMEWORKS


def test_the_most_particular_template_comes_first() -> None:
    """In the framework of the run, where the template has it."""
    found = templates("lr-too-high", {"trainer": "lightning"})

    assert [(t.id, t.framework) for t in found] == [("clip-gradients", "lightning"), ("warm-up-and-decay", "pytorch")]
    assert templates("converged", {}) == ()
    assert [t.framework for t in templates("lr-too-high", {"trainer": "keras"})] == ["keras", "keras"]

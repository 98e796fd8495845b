"""Code for fixes: every template runs and does what its title says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loganalyst import pipeline
from loganalyst.diagnosis.fixtemplates import FRAMEWORKS, framework, known, templates

LIBRARY = {"pytorch": "torch", "transformers": "transformers", "lightning": "lightning", "keras": "keras"}
CASES = [(id_, name) for id_, entry in known().items() for name in entry.code]


@pytest.mark.parametrize(("id_", "name"), CASES)
def test_every_template_runs(id_: str, name: str, tmp_path: Path) -> None:
    """Each in a process of its own, with its check."""
    pytest.importorskip(LIBRARY[name])
    entry = known()[id_]
    program = f"{entry.code[name]}\n{entry.check[name]}"  # type: ignore[index]
    backend = {**os.environ, "KERAS_BACKEND": "torch"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=backend, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr[-600:] if done.returncode else "") == (0, "")


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

"""Entries of folders are checked against each other."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from loganalyst.diagnosis.catalogue import load
from loganalyst.diagnosis.catalogueentries import rule_files
from loganalyst.errors import RuleError
from loganalyst.model import Feature

LR = "optimisation/lr-too-high.yaml"
FP16 = "numerics/fp16-overflow.yaml"


def test_an_id_is_used_once(declared: Mapping[str, Feature], folder: Path) -> None:
    """Two files of one name in two families are a fault."""
    (folder / "optimisation/fp16-overflow.yaml").write_text(
        (folder / FP16).read_text().replace("family: numerics", "family: optimisation")
    )
    with pytest.raises(RuleError, match=f"id 'fp16-overflow' is taken by {folder / FP16}; an id is used once"):
        load(declared, [folder])


def test_which_files_are_rules(folder: Path) -> None:
    """Patterns of text, roles, weights and symptoms are no rules."""
    for name in ("text/cuda.yaml", "roles.yaml", "weights.yaml", "numerics/roles.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x: 1")
    found = [path.relative_to(folder).as_posix() for path in rule_files(folder)]

    assert found == [FP16, "numerics/roles.yaml", "optimisation/converged.yaml", LR]

"""Policy lives in `rules/`: Python names no pattern of log lines and no rule."""

import ast
from pathlib import Path

import pytest

from loganalyst import rulefiles
from loganalyst.patterntraits import TRAITS, cut_labels, having, signals
from loganalyst.pipeline import catalogue
from loganalyst.sources.text.patterns.catalogue import catalogue as patterns

PACKAGE = Path(__file__).parents[1] / "loganalyst"
# Words with another meaning of their own: kinds of change points, a state of SLURM jobs, a trait and a key of tables
OTHER_MEANINGS = {"divergence", "hung", "plateau", "straggler", "requeued", "traceback"}


def texts(file: Path) -> set[str]:
    """Every text constant of a module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_python_names_no_pattern_and_no_rule():
    """To add or rename one, only YAML is edited."""
    ids = {pattern.id for pattern in patterns()} | {*catalogue().rules}

    named = {(file.name, text) for file in PACKAGE.rglob("*.py") for text in texts(file) & ids - OTHER_MEANINGS}

    assert len(ids) > 500
    assert named == set()


@pytest.mark.parametrize("trait", TRAITS)
def test_every_trait_has_a_pattern(trait):
    """A trait without a pattern is dead."""
    assert having(trait)


def test_an_unknown_trait_is_an_error():
    """A misspelt trait must not be false of every line."""
    with pytest.raises(KeyError, match="kiled"):
        having("kiled")


def test_signals_are_stated_by_patterns():
    """The signal is in the pattern's file."""
    stated = {n["id"]: n["signal"] for f in rulefiles.text_files() for n in f.data["patterns"] if "signal" in n}

    assert signals() == stated
    assert signals()["child-sigkill"] == "SIGKILL"


def test_the_label_of_a_cut_message_is_stated_by_its_pattern():
    """The pattern that opens a traceback says what a log is that ends within one."""
    assert cut_labels() == {having("traceback")[0]: "code_exception"}

"""The lists of texts that a document may contain."""

import pytest

import loganalyst as la
from loganalyst.anonymous import vocabulary
from loganalyst.features.context import Context
from tests.anonymous.conftest import RUNS


def test_settings_that_features_ask_for_may_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number that a feature asks of a config has its key in the list, else a document loses the feature."""
    asked: set[str] = set()
    number = Context.number
    monkeypatch.setattr(Context, "number", lambda self, *keys: asked.update(keys) or number(self, *keys))
    for run in RUNS[::5]:
        la.diagnose(run)

    assert len(asked) > 100
    assert asked - vocabulary.allowed("settings") == set()


def test_words_of_roles_and_lists_are_known_and_private_words_are_not() -> None:
    assert {"loss", "train", "attention"} <= vocabulary.words()
    assert "acme" not in vocabulary.words()


def test_ids_of_rules_symptoms_and_patterns_are_known() -> None:
    assert {"lr-too-high", "cuda-out-of-memory"} <= vocabulary.rules()
    assert "cuda_oom" in vocabulary.patterns()


def test_the_longest_beginning_of_a_gap_is_first() -> None:
    """Else a shorter one would hide it."""
    assert [*map(len, vocabulary.gaps())] == sorted(map(len, vocabulary.gaps()), reverse=True)

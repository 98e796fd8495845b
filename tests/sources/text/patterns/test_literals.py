"""The first look at a log's bytes: with hyperscan and without it, what `in` says of every line."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.sources.text.patterns import catalogue, literals

WORDS = list(dict.fromkeys(word for p in catalogue.catalogue() for word in p.literals))
EXAMPLES = [text for p in catalogue.catalogue() for text in (*p.match, *p.no_match)]
PIECES = [piece for word in WORDS for piece in (word, word[:-1], word[1:], literals._head(word))]
NEEDED = pytest.mark.skipif(not find_spec("hyperscan"), reason="hyperscan is not installed")
ENGINES = [pytest.param("hyperscan", marks=NEEDED), "polars"]


@pytest.fixture(params=ENGINES)
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "polars":
        monkeypatch.setattr(literals, "_scanner", lambda *_: None)


def looked(lines: list[str], words: list[str]) -> set[tuple[int, str]]:
    """The lines (positions) and the words found there."""
    data = "\n".join(lines).encode()
    ends = np.cumsum([len(line.encode()) + 1 for line in lines]) - 1
    rows, numbers = literals.find_literals(data, ends, words)
    return {(row, words[number]) for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)}


def said(line: str, word: str) -> bool:
    """Whether the word stands there, and not only in Megatron's counts."""
    aside = {"nan": "number of nan iterations", "number of skipped iterations:": "number of skipped iterations:   0 "}
    return line.count(word) > (line.count(aside[word]) if word in aside else 0)


texts = st.lists(st.sampled_from(PIECES) | st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=9))


@pytest.mark.usefixtures("_engine")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(EXAMPLES) | texts.map("".join), max_size=8))
def test_the_words_of_each_line_are_found_and_no_others(lines: list[str]) -> None:
    """Heads without their rests, words at both ends, words within words: as a plain search finds them."""
    expected = {(row, word) for row, line in enumerate(lines) for word in WORDS if said(line, word)}

    assert looked(lines or [""], WORDS) == expected


@pytest.mark.usefixtures("_engine")
def test_a_literal_that_stands_alone_counts_where_no_letter_follows_in_the_line() -> None:
    """Most lines with metrics hold `step `; a look at each of them would take as long as the whole scan."""
    lines = ["step 48", "step 48 loss 0.5", "[iter 1000] ", "after 3 tries", "Iteration 12/50\r", "step 7 ✓", "step "]
    data, words = "\n".join(lines).encode(), ["tep ", "ter ", "teration ", "loss"]
    ends = np.cumsum([len(line.encode()) + 1 for line in lines]) - 1

    rows, numbers = literals.find_literals(data, ends, words, alone=frozenset(words[:3]))

    found = {(row, words[number]) for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)}
    assert found == {(0, "tep "), (1, "loss"), (2, "ter "), (4, "teration "), (5, "tep "), (6, "tep ")}


@pytest.mark.usefixtures("_engine")
def test_only_the_counts_that_megatron_prints_on_every_line_are_ignored() -> None:
    """A look at each of them costs as much as all others together."""
    lines = [
        "number of skipped iterations:   0 | number of nan iterations:   0 |",
        "loss: nan | number of skipped iterations:   0 | number of nan iterations:   1 |",
        "number of skipped iterations:  10 | number of nan iterations:   0 |",
        "lossnan iterations",
        "skipped iterations:   0 ",
    ]

    assert looked(lines, ["nan", "number of skipped iterations:"]) == {
        (1, "nan"),
        (2, "number of skipped iterations:"),
        (3, "nan"),
    }


@pytest.mark.usefixtures("_engine")
def test_the_rest_of_a_word_must_follow_on_the_same_line() -> None:
    """Only the head of a word is searched for first."""
    assert literals._head("not found in checkpoint") == "not found in che"
    lines = ["not found in checkpoint", "not found in cheese", "not found in che", "ckpoint", "not found in che"]

    assert looked(lines, ["not found in checkpoint"]) == {(0, "not found in checkpoint")}
    assert looked(["lost in aaa"], ["lost in aaaaaa"]) == set()


@pytest.mark.parametrize(
    ("literal", "head"),
    [
        ("NaN", "NaN"),
        ("MisconfigurationException", "MisconfigurationException"),
        ("CUDA error", "CUDA err"),
        ("Timed out waiting ", "Timed out wai"),
        ("in loop", "in loop"),
        ("grad norm: nan", "grad norm: nan"),
    ],
)
def test_the_head_of_a_literal_ends_within_its_last_word(literal: str, head: str) -> None:
    """A single word, and a head shorter than the eight bytes that hyperscan compares, stay whole."""
    assert literals._head(literal) == head


def test_the_shortest_literal_has_three_bytes() -> None:
    """With a text of three bytes hyperscan takes steps of two, with longer ones only of four: twice as slow here."""
    assert min(len(literals._head(word).encode()) for word in WORDS) == 3

"""What an error speaks of, told by its words: every family by its own examples."""

import numpy as np
import polars as pl
import pytest

from loganalyst.sources.text.patterns import unknownerrors

FAMILIES = unknownerrors.families()


def family(text: str, *, last: bool = True) -> str | None:
    """The id of the family of one line."""
    found: str | None = unknownerrors.classify(pl.Series([text]), np.array([last]))["pattern"][0]
    return found


@pytest.mark.parametrize("one", FAMILIES, ids=lambda one: one.id)
def test_own_examples(one: unknownerrors.Family) -> None:
    """The first family that claims an example is its own; its counterexamples belong to other families or none."""
    found = unknownerrors.classify(pl.Series(one.match), np.ones(len(one.match), bool))

    assert found.rows() == [(one.id, one.label)] * len(one.match)
    others = unknownerrors.classify(pl.Series(one.no_match), np.ones(len(one.no_match), bool))
    assert one.id not in others["pattern"].to_list()
    assert one.match
    assert one.no_match


def test_ids_are_unique() -> None:
    assert len({one.id for one in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("text", ["CUDAOutOfMemoryError", "CUDA_OUT_OF_MEMORY", "cuda out-of-memory"])
def test_plain_words_are_the_same_however_they_are_printed(text: str) -> None:
    """Case, joints and the words within a name."""
    assert unknownerrors.plain(pl.Series([text])).to_list() in (["cuda out of memory error"], ["cuda out of memory"])


def test_only_the_last_name_of_a_path_counts() -> None:
    """Folders and addresses are dropped; units keep their letters."""
    said = unknownerrors.plain(pl.Series(["open /cuda/memory/a.ckpt from https://host/x, 2.1 GiB"]))

    assert said.to_list() == ["open a.ckpt from  url  2.1 gib"]


def test_loose_words_are_for_last_words_only() -> None:
    """An exception before the end of a log is not judged by common words."""
    text = "ValueError: unknown flag"

    assert (family(text), family(text, last=False)) == ("wording-config", None)


def test_a_line_without_a_familys_words_has_no_family() -> None:
    assert family("Everything is fine") is None

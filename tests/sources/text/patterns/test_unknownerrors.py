"""What an error speaks of, told by its words: every family by its own examples."""

import numpy as np
import polars as pl
import pytest

from loganalyst.sources.text.patterns import unknownerrors

FAMILIES = unknownerrors.families()


def family(text: str, *, last: bool = True) -> str | None:
    """The id of the family of one line."""
    found: str | None = unknownerrors.told(pl.Series([text]), np.array([last]))["pattern"][0]
    return found


@pytest.mark.parametrize("one", FAMILIES, ids=lambda one: one.id)
def test_own_examples(one: unknownerrors.Family) -> None:
    """Among all families the first that claims an example is its own; its counterexamples are not of it."""
    told = unknownerrors.told(pl.Series(one.match), np.ones(len(one.match), bool))

    assert told.rows() == [(one.id, one.label)] * len(one.match)
    assert (
        one.id not in unknownerrors.told(pl.Series(one.no_match), np.ones(len(one.no_match), bool))["pattern"].to_list()
    )
    assert one.match
    assert one.no_match


def test_ids_stand_once() -> None:
    assert len({one.id for one in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("text", ["CUDAOutOfMemoryError", "CUDA_OUT_OF_MEMORY", "cuda out-of-memory"])
def test_plain_words_are_the_same_however_they_are_printed(text: str) -> None:
    """Case, joints and the words within a name."""
    assert unknownerrors.plain(pl.Series([text])).to_list() in (["cuda out of memory error"], ["cuda out of memory"])


def test_of_a_path_its_last_name_counts() -> None:
    """Folders and addresses say nothing; units keep their letters."""
    said = unknownerrors.plain(pl.Series(["open /cuda/memory/a.ckpt from https://host/x, 2.1 GiB"]))

    assert said.to_list() == ["open a.ckpt from  url  2.1 gib"]


def test_loose_words_are_for_last_words_only() -> None:
    """An exception in the midst of a log is not judged by words that many messages have."""
    text = "ValueError: unknown flag"

    assert (family(text), family(text, last=False)) == ("wording-config", None)


def test_one_family_only_where_its_words_are_there() -> None:
    assert family("Everything is fine") is None

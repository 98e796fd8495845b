"""The names of columns in a comment above rows of numbers, as `numpy.savetxt(header=…)` writes them.

Numbers and names may be separated by different characters, and a name may have several words: `# epoch<TAB>train loss`
above `0.0 2.3`. The separator that gives one name a column is the right one.
"""

import re
from collections.abc import Iterator, Sequence

from loganalyst.sources.tables.cells import is_number

_MARK = re.compile(r"^\s*[#%]+\s*")  # `# `, `%% `: what begins a comment
# what may separate names, from the surest to the least: a tab, commas and their like, two blanks, a blank
_BETWEEN = tuple(map(re.compile, (r"\t+", r"\s*[,;|]\s*", r"\s{2,}", r"[\s,;|]+")))
# names that share a word: `frmses(low, mid, high)`
_GROUP = re.compile(r"([A-Za-z][\w.-]{0,60})\s?\(([^(),]{1,40}(?:,[^(),]{1,40}){1,20})\)")
_BRACKETS = re.compile(r"[()\[\]]+")  # of tuples: `epoch (val_ndcg, val_hr) (test_ndcg, test_hr)`
MAX_LETTERS = 60  # of a name; a longer text is a sentence


def names(comments: Sequence[str], width: int) -> list[str]:
    """The names of `width` columns in the last of the comments that has as many; none if no comment has.

    >>> names(["# seed 1", "# epoch\\ttraining loss"], 2), names(["# maes, errs(low, high)"], 3)
    (['epoch', 'training loss'], ['maes', 'errs/low', 'errs/high'])
    >>> names(["epoch (val_ndcg, val_hr) (test_ndcg, test_hr)"], 5)
    ['epoch', 'val_ndcg', 'val_hr', 'test_ndcg', 'test_hr']
    """
    return next((found for line in reversed(comments) for found in _split(line) if len(found) == width), [])


def _split(comment: str) -> Iterator[list[str]]:
    """The names of a comment by each separator that it may have: with groups spelled out, then with tuples as names."""
    bare = _MARK.sub("", comment).strip()
    yield from _by_separators(_GROUP.sub(_spelled_out, bare))
    if _BRACKETS.search(bare):
        yield from _by_separators(_BRACKETS.sub(" ", bare))


def _by_separators(line: str) -> Iterator[list[str]]:
    for between in _BETWEEN:
        found = [name.strip(" '\"[]") for name in between.split(line.strip(" \t,;|"))]
        if len(set(found)) == len(found) and all(map(_is_name, found)):
            yield found


def _spelled_out(group: re.Match[str]) -> str:
    """The names of a group, each with the word that they share."""
    return ", ".join(f"{group[1]}/{name.strip()}" for name in group[2].split(","))


def _is_name(text: str) -> bool:
    """Whether a text may name a column: it has a letter, is short, and sets no value."""
    named = any(char.isalpha() for char in text) and len(text) <= MAX_LETTERS
    return named and not any(char in text for char in ":=") and not is_number(text)

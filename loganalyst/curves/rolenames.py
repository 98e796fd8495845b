"""Which roles may fit which names: a fast first look, by texts of which every match contains one.

Only the regular expressions of these roles are then compiled and searched for. Without the first look a start would
compile hundreds of them, and thousands of names would be searched for each.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from operator import or_

import polars as pl

MIN_BATCH = 200  # names from which one pass over all is faster than one after another
MAX_NEEDS = 2  # texts that are required for one phrase
# Tokens of a phrase: text before no quantifier ("grad" of "grads?"), "s?", \., [0-9], the end of a group with its
# quantifier (")?"), {2,3}, one other character
_TOKEN = re.compile(
    r"[a-z0-9_]+(?![?*{])|[a-z0-9_](?:[?*]|\{[^}]{1,9}\})|\\.|\[[^\]]{1,99}\]|\)(?:[?*]|\{[^}]{1,9}\})?|\{[^}]{1,9}\}|."
)  # `loss`, `s?`, `\d`, `[ab]`, `)?`, `{1,2}`
_TEXT = re.compile(r"_?[a-z0-9][a-z0-9_]*")  # "_loss_", not "_"


class FirstLook:
    """The groups of phrases (regular expressions) that a name may match. A group may need one of some words as well.

    A whole number is a set of phrases, one bit each, and as many more bits for their second need.
    """

    def __init__(self, groups: Sequence[tuple[Sequence[str], Collection[str]]]) -> None:
        self.group_of = [number for number, (phrases, _) in enumerate(groups) for _ in phrases]
        self.met_by, self.not_needed = dict[str, int](), 0
        for bit, (phrase, words) in enumerate((phrase, words) for phrases, words in groups for phrase in phrases):
            needs = [frozenset(f"_{word}_" for word in words), *sorted(required(phrase), key=_shortest, reverse=True)]
            needs = [need for need in needs if need][:MAX_NEEDS]
            for at, need in enumerate(needs):
                self.met_by |= {text: self.met_by.get(text, 0) | 1 << bit + at * len(self.group_of) for text in need}
            self.not_needed |= sum(1 << bit + at * len(self.group_of) for at in range(len(needs), MAX_NEEDS))
        self.numbers = lru_cache(1 << 16)(self._numbers)

    def candidates(self, names: Collection[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each name of words that `_` joins, and the numbers of the groups that may have a match in it, in order.

        >>> dict(FirstLook([(["loss", "n(ll|ce)_loss"], ()), (["^acc"], ["val"])]).candidates(["val_acc", "fps"]))
        {'val_acc': (1,), 'fps': ()}
        """
        if len(names) < MIN_BATCH:
            yield from ((name, self._of(text for text in self.met_by if text in f"_{name}_")) for name in names)
            return
        padded = pl.select("_" + pl.Series(list(names), dtype=pl.String) + "_").to_series()
        texts = padded.str.extract_many(list(self.met_by), overlapping=True).list.join(" ").to_list()
        yield from ((name, self._of(there.split())) for name, there in zip(names, texts, strict=True))

    def _of(self, texts: Iterable[str]) -> tuple[int, ...]:
        """The groups with a phrase whose needs these texts meet."""
        met = reduce(or_, map(self.met_by.__getitem__, texts), self.not_needed)
        phrases = (1 << len(self.group_of)) - 1
        for at in range(MAX_NEEDS):
            phrases &= met >> at * len(self.group_of)
        found: tuple[int, ...] = self.numbers(phrases)
        return found

    def _numbers(self, phrases: int) -> tuple[int, ...]:
        """The groups of these phrases, in order."""
        found = set()
        while phrases:
            last = phrases.bit_length() - 1
            found.add(self.group_of[last])
            phrases ^= 1 << last
        return tuple(sorted(found))


def required(phrase: str) -> tuple[frozenset[str], ...]:
    """What is in every match of a phrase between two `_`: one text of each set.

    >>> [sorted(texts) for texts in required("grads?_(l2|norm)")], required("(.*_)?[a-z]")
    ([['_grad'], ['l2', 'norm']], ())
    """
    return _required(iter(_TOKEN.findall(f"_{phrase.removeprefix('^').removesuffix('$')}_")))


def _required(tokens: Iterator[str]) -> tuple[frozenset[str], ...]:
    """The same for the tokens up to the end of a group."""
    sequences, end = [list[frozenset[str]]()], ")"
    for token in tokens:
        if token.startswith(")"):
            end = token
            break
        if token == "|":
            sequences.append([])
        elif token == "(":
            sequences[-1] += _required(tokens)
        elif _TEXT.fullmatch(token):
            sequences[-1].append(frozenset({token}))
    if end != ")":  # the group may be absent
        return ()
    if len(sequences) == 1:
        return tuple(sequences[0])
    best = [max(sets, key=_shortest, default=frozenset[str]()) for sets in sequences]
    return (frozenset[str]().union(*best),) if all(best) else ()


def _shortest(texts: frozenset[str]) -> int:
    return min(map(len, texts))

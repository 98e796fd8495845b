"""Words and numbers of a user's report: which words are the same, and which step, epoch or distance is meant."""

import re
from collections.abc import Iterable

import msgspec

__all__ = ["Numbers", "all_words", "distinguishing_words", "numbers"]

STEM_LETTERS = 5  # "diverges", "diverged" and "divergence" become one word
SYNONYMS = {
    "nans": "nan", "inf": "infinite", "oom": "memory", "acc": "accuracy", "val": "held", "valid": "held",
    "validation": "held", "test": "held", "eval": "held", "lr": "rate", "grad": "gradient", "grads": "gradient",
    "blew": "blows", "rose": "rises", "fell": "falls", "drops": "falls", "goes": "go", "went": "go", "stuck": "stuck",
    "periodically": "periodic", "regularly": "every", "each": "every", "decreases": "falls", "decrease": "falls",
    "decreasing": "falls", "improves": "better", "improve": "better", "improving": "better", "bumps": "spike",
    "tokens": "token", "increases": "rises", "increase": "rises", "increasing": "rises", "increased": "rises",
    "identical": "same", "predicts": "output", "outputs": "output", "generates": "output", "converging": "converge",
    "classes": "class", "garbage": "gibberish", "nonsense": "gibberish",
}  # fmt: skip
# Words of titles that distinguish no symptoms
COMMON_WORDS = (
    "a all and at became but did does do far for from has have in is it its my no not of off on or than that the their "
    "then to too up was are go were while with every only once one much most more hardly little very other another any "
    "whole itself training time"
)
UNITS = r"(steps?|iterations?|iters?|batch(?:es)?|updates?|epochs?)"
# Python's engine backtracks: these need texts with single blanks, and the digits of a number are bounded.
ABOUT = r"(?:[~≈] ?)?(?:(?:about|around|roughly|some) ?)?(?:[~≈] ?)?"
# `about 1,000`, `~5k`, `1e+3`
NUMBER = ABOUT + r"(?<![0-9])([0-9][0-9_,]{0,30}(?:\.[0-9]{1,30})?(?:e\+?[0-9]{1,3})?) ?([km](?![a-z]))?"
# `every ~1000 steps`, `once per epoch`
_EVERY = re.compile(rf"\b(?:every|each) {NUMBER} ?{UNITS}|\b(?:every|each|once (?:an|per)) (epoch)\b", re.I)
_BEFORE = re.compile(rf"\b{UNITS} ?(?:# ?)?{NUMBER}", re.I)  # `step ~5k`
_AFTER = re.compile(rf"{NUMBER}(?:st|nd|rd|th)? ?{UNITS}\b", re.I)  # `about 1,000 steps`
# `doesn't`, `no longer`, `stopped`
_NOT = re.compile(r"n['’]t\b|\b(?:never|no longer|stopped|stops|dont|doesnt|didnt|isnt|wont|cant)\b")
_NUMBERED = re.compile(r"[0-9][0-9,._]*([a-z]*)")  # `1,000`, `5k`, `7th`; `5kg` is a word
_ENDINGS = frozenset(("", "k", "m", "st", "nd", "rd", "th"))  # of a number


class Numbers(msgspec.Struct, frozen=True):
    """The numbers of a text: a place (step or epoch) and a distance (in steps or epochs); None: not stated."""

    step: float | None = None
    epoch: float | None = None
    period: float | None = None
    period_epochs: float | None = None


def numbers(text: str) -> Numbers:
    """The numbers of a text: `every ~1000 steps`, `at step 5k`, `after 3 epochs`, `the 7th epoch`."""
    text = " ".join(text.split())
    period = _EVERY.search(text)
    found: dict[str, float] = {}
    if period and period[4]:
        found["period_epochs"] = 1.0
    elif period:
        found["period_epochs" if period[3].lower().startswith("epoch") else "period"] = _value(period[1], period[2])
    places = _EVERY.sub(" ", text)
    for pattern, number, scale, unit in ((_BEFORE, 2, 3, 1), (_AFTER, 1, 2, 3)):
        for match in pattern.finditer(places):
            name = "epoch" if match[unit].lower().startswith("epoch") else "step"
            found.setdefault(name, _value(match[number], match[scale]))
    return Numbers(**found)


def _value(digits: str, scale: str | None) -> float:
    return float(digits.replace(",", "").replace("_", "")) * {"k": 1e3, "m": 1e6}.get((scale or "").lower(), 1.0)


def all_words(text: str) -> frozenset[str]:
    """The stems of a text's words. `doesn't` gives `not`."""
    text = _NOT.sub(" not ", text.lower())
    return frozenset(_stems(re.findall(r"[a-z]+", _NUMBERED.sub(_without_number, text))))


def _without_number(found: re.Match[str]) -> str:
    """A blank for a number, `zero` for a 0; a word that begins with digits, such as `5kg`, stays."""
    behind = found.string[found.end() : found.end() + 1]
    if found[1] not in _ENDINGS or behind.isalnum() or behind == "_":
        return found[0]
    return " zero " if found[0].rstrip(",._") in ("0", "0.0") else " "


def distinguishing_words(text: str) -> frozenset[str]:
    """The stems of a text's words, without common words and without places such as `at epoch 7`."""
    return all_words(_AFTER.sub(" ", _BEFORE.sub(" ", text))) - _COMMON_STEMS


def _stems(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        stem = re.sub(r"(?:ing|ed|es|s|e)$", "", SYNONYMS.get(word, word))
        yield re.sub(r"(.)\1$", r"\1", stem)[:STEM_LETTERS] or word


_COMMON_STEMS = frozenset(_stems(COMMON_WORDS.split()))

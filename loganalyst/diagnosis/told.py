"""Symptoms the user tells (`--symptom "the loss went NaN"`), checked against what the logs show."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loganalyst.diagnosis.rule import SymptomRule
from loganalyst.model import Features, Symptom

STEM = 5  # letters by which "diverges", "diverged" and "divergence" are one word
CLEAR = 0.8  # a symptom is meant too if its score is this share of the best one's
SAME = {"nans": "nan", "inf": "infin", "oom": "memor", "acc": "accur", "val": "held", "valid": "held", "lr": "rate"}
# Words of the titles that tell no symptom from another
EMPTY = (
    "a all and at became but did does do far for from has have in is it its my no not of off on or than that the their "
    "then to too up was went were while with"
)


def told(
    texts: Iterable[str], known: Mapping[str, SymptomRule], seen: Sequence[Symptom], features: Features
) -> list[dict[str, Any]]:
    """One row a text: `text`, `symptoms` (ids it was understood as), `seen` and `answer` in words.

    `seen` is True where the logs show one of these symptoms, False where they were looked for and are not there, None
    where the text was not understood or what would show them is not logged.
    """
    return [_row(text, meant(text, known), known, seen, features) for text in texts]


def meant(text: str, known: Mapping[str, SymptomRule]) -> list[str]:
    """The symptoms (ids, best first) whose id or title shares telling words with `text`; none if nothing telling."""
    if text in known:
        return [text]
    words = {id_: _words(f"{id_} {rule.title}") for id_, rule in known.items()}
    count = Counter(word for of_one in words.values() for word in of_one)
    # A word in every symptom ("loss") tells nothing; the rarer, the more it tells
    scores = {id_: sum(math.log(len(words) / count[w]) for w in of_one & _words(text)) for id_, of_one in words.items()}
    best = max(scores.values(), default=0.0)
    if best < math.log(max(len(words), 2)) / 2:
        return []
    return sorted((id_ for id_, score in scores.items() if score >= CLEAR * best), key=lambda id_: -scores[id_])[:3]


def _row(
    text: str, ids: list[str], known: Mapping[str, SymptomRule], seen: Sequence[Symptom], features: Features
) -> dict[str, Any]:
    shown = [s.text or s.title for s in seen if s.id in ids]
    asked = {name for id_ in ids for name in known[id_].ask.features}
    titles = " or ".join(f"“{known[id_].title}”" for id_ in ids)
    found: bool | None = None
    if not ids:
        answer = f"not understood; known symptoms are {', '.join(known)}"
    elif shown:
        found, answer = True, f"the logs show it: {'; '.join(shown)}"
    elif any(features.values.get(name) is None for name in asked):
        answer = f"cannot be told: what would show {titles} is not logged"
    else:
        found, answer = False, f"the logs do not show it (looked for {titles})"
    return {"text": text, "seen": found, "answer": answer, "symptoms": ids}


def _words(text: str) -> set[str]:
    """The words of a text by their first letters, usual abbreviations written out."""
    return {SAME.get(word, word)[:STEM] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in EMPTY.split()}

"""The kind of training limits the answer: what is impossible in this kind is not judged, what is unsure is capped.

An entry of the catalogue (rule, symptom or note) lists the `kinds` of training that it is for, or the `excluded_kinds`
that it is not for. The limits are in `rules/verdicts.yaml`.
"""

from collections.abc import Mapping
from typing import Protocol

from loganalyst.diagnosis.rule import Kinds, Limit
from loganalyst.model import FeatureValue
from loganalyst.thresholds import verdict_limit

Values = Mapping[str, FeatureValue]


class _ForKinds(Protocol):
    @property
    def kinds(self) -> Kinds: ...

    @property
    def excluded_kinds(self) -> Kinds: ...


def foreign(entry: _ForKinds, values: Values) -> str | None:
    """The kind of training of the run if it is surely none that the entry is for; else None."""
    kind = _sure(values)
    return kind if kind and not _serves(entry, kind) else None


def foreigners(entries: Mapping[str, _ForKinds], values: Values) -> frozenset[str]:
    """The ids of the entries that are `foreign` to the run."""
    kind = _sure(values)
    return frozenset(id_ for id_, entry in entries.items() if not _serves(entry, kind)) if kind else frozenset()


def _sure(values: Values) -> str | None:
    kind, probability = _known(values)
    return kind if probability >= verdict_limit("kind_sure") else None


def limit(entry: _ForKinds, values: Values) -> Limit | None:
    """The highest confidence of an entry whose kind of training is not sure, and why; None if there is no limit."""
    kind, probability = _known(values)
    if probability >= verdict_limit("kind_sure") or (not entry.kinds and (not kind or _serves(entry, kind))):
        return None
    known = f"it is probably {kind} ({probability * 100:.0f} %)" if kind else "nothing shows it"
    return Limit(verdict_limit("kind_unsure_cap"), f"the kind of training is not sure: {known}")


def _serves(entry: _ForKinds, kind: str) -> bool:
    return kind in entry.kinds if entry.kinds else kind not in entry.excluded_kinds


def _known(values: Values) -> tuple[str | None, float]:
    """The kind of training and its probability; None and 0 if it is not known."""
    kind, probability = values.get("training_kind"), values.get("training_kind_probability")
    return (kind, probability) if isinstance(kind, str) and isinstance(probability, float) else (None, 0.0)

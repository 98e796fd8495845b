"""Features: their declaration, their values and where each was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from loganalyst.model.shortrepr import Short


@dataclass(frozen=True)
class Feature:
    """The declaration of one feature. `needs` is the role or table that it is computed from, which must be logged."""

    name: str
    dtype: Literal["float", "int", "bool", "text"]
    unit: str
    meaning: str
    needs: str


FeatureValue = float | int | bool | str | None


@dataclass(frozen=True)
class Witness:
    """Where a feature value was seen. `role_confidence` is the probability, 0 to 1, that its metric has the role that
    the feature is about (None: it rests on no metric).
    """

    metric: str | None = None
    step: int | None = None
    file: str | None = None
    line: int | None = None
    rank: int | None = None
    node: str | None = None
    role_confidence: float | None = None

    @property
    def placed(self) -> bool:
        """Whether it names a place."""
        return self != Witness(role_confidence=self.role_confidence)


@dataclass(frozen=True, repr=False)
class Features(Short):
    """The features of one run (None: not known), and the witnesses of those that have one."""

    values: Mapping[str, FeatureValue]
    witnesses: Mapping[str, Witness] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class HealthyPlace(Short):
    """Where the value of a feature lies among healthy `runs` of a `kind` (empty: all kinds), of so many `repositories`.

    `below` and `above` are the shares of these runs, 0 to 1, with a smaller and with a larger value.

    >>> HealthyPlace("detection", 212, 23, 0.98, 0.02).below
    0.98
    """

    kind: str
    runs: int
    repositories: int
    below: float
    above: float

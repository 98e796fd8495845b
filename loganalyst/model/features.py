"""What a run is asked: declared features, their values and where each was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from loganalyst.model.shortrepr import Short


@dataclass(frozen=True)
class Feature:
    """Declaration of one feature. `needs` names the role or table it is computed from (what to log to know it)."""

    name: str
    dtype: Literal["float", "int", "bool", "text"]
    unit: str
    meaning: str
    needs: str


FeatureValue = float | int | bool | str | None


@dataclass(frozen=True)
class Witness:
    """Where a feature value was seen."""

    metric: str | None = None
    step: int | None = None
    file: str | None = None
    line: int | None = None
    rank: int | None = None
    node: str | None = None


@dataclass(frozen=True, repr=False)
class Features(Short):
    """One run's row: every declared feature (None = not known) and the witnesses of those that have one."""

    values: Mapping[str, FeatureValue]
    witnesses: Mapping[str, Witness] = field(default_factory=dict)

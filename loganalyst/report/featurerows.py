"""A run's features, each with its value, unit and where it comes from: the rows of `show --features`, and its JSON."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from loganalyst.model import Diagnosis, Feature, FeatureValue, Witness
from loganalyst.report.common.wording import clean, step
from loganalyst.report.diagnosis.asjson import plain

SCHEMA_ID = "loganalyst/features/1"


@dataclass(frozen=True)
class Row:
    """One feature of a run. `witness` None: the value was seen at no single place."""

    feature: Feature
    value: FeatureValue
    witness: Witness | None
    metrics: tuple[str, ...]

    def origin(self) -> str:
        """Where the value was seen; else the metrics of the role it needs, else what it needs."""
        seen = self.witness or Witness(self.metrics[0] if self.metrics else None)
        parts = [
            clean(seen.metric, 80) if seen.metric else "",
            f"at step {step(seen.step)}" if seen.step is not None else "",
            f"line {seen.line:,} of {clean(seen.file, 80)}" if seen.line is not None else "",
            f"rank {seen.rank}" if seen.rank is not None else "",
            f"on {clean(seen.node, 40)}" if seen.node else "",
        ]
        return " ".join(p for p in parts if p) or clean(seen.file or self.feature.needs, 80)


def rows(diagnosis: Diagnosis, declared: Mapping[str, Feature]) -> Iterator[Row]:
    """Every declared feature, in order of declaration; a value that is not known is None."""
    found = diagnosis.features
    for name, feature in declared.items():
        metrics = tuple(m.name for m in diagnosis.metrics if m.role == feature.needs)
        yield Row(feature, found.values.get(name), found.witnesses.get(name), metrics)


def render(diagnosis: Diagnosis, declared: Mapping[str, Feature]) -> str:
    """The rows as JSON text."""
    return json.dumps(data(diagnosis, declared), indent=2, allow_nan=False)


def data(diagnosis: Diagnosis, declared: Mapping[str, Feature]) -> dict[str, Any]:
    """The rows as an object (schema loganalyst/features/1): declaration, `value`, `source`, `metrics` of the role."""
    features = [
        {**asdict(row.feature), "value": row.value, "source": _source(row.witness), "metrics": row.metrics}
        for row in rows(diagnosis, declared)
    ]
    whole = {"schema": SCHEMA_ID, "run": diagnosis.run.path, "features": features}
    return {key: plain(value) for key, value in whole.items()}


def _source(witness: Witness | None) -> dict[str, Any] | None:
    return None if witness is None else asdict(witness)

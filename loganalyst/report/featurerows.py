"""A run's features with value, unit and origin: the rows of `show --features`, and its JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from loganalyst.model import Diagnosis, Feature, FeatureValue, HealthyPlace, Witness
from loganalyst.report.common.jsonvalues import dumps, plain
from loganalyst.report.common.wording import clean, step

SCHEMA_ID = "loganalyst/features/1"


@dataclass(frozen=True)
class Row:
    """One feature of a run. `witness` is None where the value was not seen at one place, `healthy` where too few
    healthy runs know the feature.
    """

    feature: Feature
    value: FeatureValue
    witness: Witness | None
    metrics: tuple[str, ...]
    healthy: HealthyPlace | None = None

    def origin(self) -> str:
        """Where the value was seen. If that is not known: a metric of the role it needs, or what it needs."""
        seen = self.witness if self.witness and self.witness.placed else Witness(next(iter(self.metrics), None))
        parts = [
            clean(seen.metric, 80) if seen.metric else "",
            f"at step {step(seen.step)}" if seen.step is not None else "",
            f"line {seen.line:,} of {clean(seen.file, 80)}" if seen.line is not None else "",
            f"rank {seen.rank}" if seen.rank is not None else "",
            f"on {clean(seen.node, 40)}" if seen.node else "",
        ]
        return " ".join(p for p in parts if p) or clean(seen.file or self.feature.needs, 80)


def rows(diagnosis: Diagnosis, declared: Mapping[str, Feature], healthy: Mapping[str, HealthyPlace]) -> Iterator[Row]:
    """Every feature in order of declaration. An unknown value is None. `healthy` are the places among healthy runs."""
    found = diagnosis.features
    for name, feature in declared.items():
        metrics = tuple(m.name for m in diagnosis.metrics if m.role == feature.needs)
        yield Row(feature, found.values.get(name), found.witnesses.get(name), metrics, healthy.get(name))


def render(diagnosis: Diagnosis, declared: Mapping[str, Feature], healthy: Mapping[str, HealthyPlace]) -> str:
    """The rows as JSON text."""
    return dumps(data(diagnosis, declared, healthy))


def data(diagnosis: Diagnosis, declared: Mapping[str, Feature], healthy: Mapping[str, HealthyPlace]) -> dict[str, Any]:
    """The rows as an object (schema loganalyst/features/1): declaration, `value`, `source`, `metrics` and
    `healthy_runs`, the place among healthy runs.
    """
    features = [
        {
            **asdict(row.feature),
            "value": row.value,
            "source": _fields(row.witness),
            "metrics": row.metrics,
            "healthy_runs": _fields(row.healthy),
        }
        for row in rows(diagnosis, declared, healthy)
    ]
    whole = {"schema": SCHEMA_ID, "run": diagnosis.run.path, "features": features}
    return plain(whole)  # type: ignore[no-any-return]


def _fields(part: Witness | HealthyPlace | None) -> dict[str, Any] | None:
    return None if part is None else asdict(part)

"""What a feature family may look at: one run's tables, its curves by role, and the findings on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from loganalyst.model import Curve, FeatureValue, Run, Witness

Computed = Mapping[str, FeatureValue | tuple[FeatureValue, Witness]]


@dataclass(frozen=True)
class Context:
    """Inputs of every `compute(context)`. `curves` holds all curves, `findings` the table signals wrote."""

    run: Run
    curves: Sequence[Curve]
    findings: pl.DataFrame

    def of(self, *roles: str) -> list[Curve]:
        """The curves of the given roles, most points first."""
        chosen = [c for c in self.curves if c.role.name in roles]
        return sorted(chosen, key=lambda c: -len(c.values))

    def found(self, kind: str, *roles: str) -> pl.DataFrame:
        """The findings of one kind on curves of the given roles, in step order."""
        return self.findings.filter(pl.col("kind") == kind, pl.col("role").is_in(roles)).sort("step")

    def number(self, *keys: str) -> float | None:
        """The first numeric config value whose dotted key ends in one of `keys` (in their order), or None."""
        for key in keys:
            hit = self.run.config.filter(
                (pl.col("key") == key) | pl.col("key").str.ends_with("." + key), pl.col("number").is_not_null()
            )
            if hit.height:
                return float(hit["number"][0])
        return None

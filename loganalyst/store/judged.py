"""What is stored of a diagnosis, as rows of the small tables."""

from collections.abc import Mapping

import polars as pl

from loganalyst.model import Diagnosis, Witness, constant, table
from loganalyst.store.tables import schema


def rows(diagnosis: Diagnosis, version: str, reading: int) -> Mapping[str, pl.DataFrame]:
    """The diagnosis as one frame of each judged table; `reading` is the stamp of what was judged."""
    run_id = diagnosis.run.id
    seen = diagnosis.features.witnesses
    columns = {name: [getattr(w, name) for w in seen.values()] for name in Witness.__dataclass_fields__}
    whole = {
        "run_id": run_id,
        "status": diagnosis.status,
        "label": diagnosis.causes[0].label if diagnosis.causes else None,
        "confidence": diagnosis.confidence,
        "json": diagnosis.to_json(indent=None),
        "version": version,
        "reading": reading,
    }
    return {
        "features": pl.DataFrame([{"run_id": run_id, **diagnosis.features.values}], schema=schema("features")),
        "feature_sources": of_run(run_id, table("feature_sources", {"feature": list(seen), **columns})),
        "findings": of_run(run_id, diagnosis.findings),
        "diagnoses": pl.DataFrame([whole], schema=schema("diagnoses")),
    }


def of_run(run_id: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the run's id before them."""
    return rows.clone().insert_column(0, constant(run_id, rows.height, pl.String).alias("run_id"))

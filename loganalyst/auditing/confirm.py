"""Record the true cause of a run, as the user knows it, in a store. Benchmarks and weight fitting read it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from loganalyst import guard, pipeline
from loganalyst.errors import RuleError, nearest
from loganalyst.model import Truth
from loganalyst.store import Store

NONE, HEALTHY = "none", "healthy"


def confirm(
    run: str | Path, cause: str, *, store: str | Path | Store, note: str = "", rules: Sequence[Path] = ()
) -> Truth:
    """Record the true cause of a run: the id of a rule, a common label, or `none` for a healthy run.

    `run` is a path, or the id (or a unique prefix of it) of a run in the store. Earlier entries stay in the store, but
    the newest one counts. Nothing is written into the run. Raises RuleError for an unknown cause, SourceError for an
    unknown run, and StoreError.

    >>> import tempfile
    >>> import loganalyst as la
    >>> truth = la.confirm("fixtures/runs/nan-lr", "lr-too-high", store=tempfile.mkdtemp(), note="halved it: no NaN")
    >>> truth.cause, truth.label
    ('lr-too-high', 'lr_too_high')
    """
    known = pipeline.catalogue(tuple(rules)).rules
    labels = {rule.label for rule in known.values()} | {HEALTHY}
    if cause not in known and cause not in labels and cause != NONE:
        names = (*known, *sorted(labels), NONE)
        raise RuleError(
            cause, "is no cause", nearest(cause, names) or "`loganalyst rules list` names them; none = healthy"
        )
    opened = store if isinstance(store, Store) else Store(store)
    id_, path = opened.find(run)
    guard.check([opened.path], [guard.Read(path)])
    label = known[cause].label if cause in known else HEALTHY if cause == NONE else cause
    truth = Truth(id_, path, cause if cause in known else None, label, note, datetime.now(UTC))
    columns = {
        "run_id": truth.run,
        "path": path,
        "cause": truth.cause,
        "label": label,
        "note": note,
        "time": truth.time,
    }
    opened.keep("truths", pl.DataFrame([columns], schema_overrides={"cause": pl.String}))
    return truth


def truths(store: str | Path | Store) -> list[tuple[str, str]]:
    """(path, true label) of each confirmed run, sorted by path; `healthy` is also a label."""
    opened = store if isinstance(store, Store) else Store(store)
    return [(path, label) for path, label in opened.truths.select("path", "label").sort("path").collect().iter_rows()]

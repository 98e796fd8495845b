"""The truth about a run as its user knows it, kept in a store; benches and the fitting of weights read it."""

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

    `run` is a path, or the id (or its unique beginning) of a run in the store. What was confirmed before stays in the
    store, but the newest counts. Nothing is written into the run. Raises RuleError for a cause that does not exist,
    SourceError for a run that does not, StoreError.

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
    kept = store if isinstance(store, Store) else Store(store)
    id_, path = kept.find(run)
    guard.check([kept.path], [guard.Read(path)])
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
    kept.keep("truths", pl.DataFrame([columns], schema_overrides={"cause": pl.String}))
    return truth


def truths(store: str | Path | Store) -> list[tuple[str, str]]:
    """(path of a run, its true label) of all that was confirmed, in order of path; `healthy` is a label too."""
    kept = store if isinstance(store, Store) else Store(store)
    return [(path, label) for path, label in kept.truths.select("path", "label").sort("path").collect().iter_rows()]

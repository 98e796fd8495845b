"""Lines of an epoch, a count and its total: `Epoch 3: 9129 / 10000`. The count is of correct answers, or of batches.

A progress counts up within an epoch. Answers are counted once an epoch, and their number does not grow by equal steps.
"""

from dataclasses import replace

import numpy as np

from loganalyst.sources.text.lines.numberrecords import Floats, Mask, Records
from loganalyst.thresholds import reading_limit

NAME = "accuracy"  # of a metric that has none


def counted(records: Records) -> Mask | None:
    """Which records are such lines; None where there are none.

    They have an epoch, a count (`batch`) and a total, and no metric.
    """
    some = records.header & ~np.isnan(records.batch) & ~np.isnan(records.total) & ~np.isnan(records.epoch)
    rows = records[some]
    if len(rows) < reading_limit("answers_counted_epochs") or not (np.diff(rows.epoch) > 0).all():
        return None
    many = rows.total[0] >= reading_limit("answers_of_a_share")
    whole = many and (rows.total == rows.total[0]).all() and (rows.batch <= rows.total).all()
    return some if whole and np.ptp(np.diff(rows.batch)) > 0 else None


def as_results(records: Records, some: Mask, code: int) -> tuple[Records, Floats]:
    """The records with those lines as records of the metric `code`, and its values (shares)."""
    unknown = np.where(some, np.nan, records.batch)
    found = replace(
        records,
        series=np.where(some, code, records.series),
        header=records.header & ~some,
        batch=unknown,
        total=np.where(some, np.nan, records.total),
    )
    return found, records.batch[some] / records.total[some]

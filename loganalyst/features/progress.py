"""How many steps a run was to do by its own words, where no setting tells: `step 5/400`, `Epoch 3/10`, a bar's total."""

import polars as pl

from loganalyst.model import Run

LAST = "last-step"
NEAR = 20  # part of the plan by which the curves may end before the counter


def last_words(run: Run) -> pl.DataFrame:
    """What each job log and rank of the last session said last of its progress: file, line, rank, step, steps, epoch
    and epochs (Int64, NULL: not said).
    """
    last = run.sessions["session"].max()
    rows = run.lines.filter(pl.col("session").eq_missing(pl.lit(last, pl.Int32)), pattern=LAST)
    numbers = (
        pl.col("captures").str.json_path_match(f"$.{name}").cast(pl.Int64, strict=False).alias(name)
        for name in ("step", "steps", "epoch", "epochs")
    )
    return rows.select("file", "line", "rank", *numbers)


def printed_plan(run: Run, last: int | None) -> float | None:
    """The planned steps in the units of the curves, whose last step is `last`; None where it cannot be told.

    Whether a total is that of an epoch or of the run: a run's counter stands in its epoch's share of the whole, and no
    step is beyond it.
    """
    if last is None or not run.lines.height:
        return None
    told = last_words(run).filter(pl.col("steps").is_not_null() | pl.col("epochs").is_not_null())
    if not told.height:
        return None
    return _plan(last, *told.sort("line").select("step", "steps", "epoch", "epochs").row(-1))


def _plan(last: int, step: int | None, steps: int | None, epoch: int | None, epochs: int | None) -> float | None:
    if not epochs or epoch is None:
        near = steps and step is not None and 0 <= step - last <= steps / NEAR  # else it counts something else
        return float(steps) if steps and near else None
    if not steps or step is None:
        return float(epochs) if last in (epoch, epoch - 1) else None
    if last > steps:
        return float(steps * epochs)
    of_all = (epoch - 1) / epochs <= step / steps <= (epoch + 1) / epochs
    return None if of_all and epoch <= 1 else float(steps if of_all else steps * epochs)

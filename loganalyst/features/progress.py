"""The planned steps of a run as it printed them, for runs without a setting: `step 5/400`, `Epoch
3/10`, a bar's total.
"""

import numpy as np
import polars as pl

from loganalyst.model import Run
from loganalyst.patterntraits import having
from loganalyst.thresholds import feature_limit

LAST_STEP_PATTERN = "last-step"
EPOCHS_ALIKE = 0.02  # epochs whose lengths in steps differ by at most this share are equally long


def last_progress(run: Run) -> pl.DataFrame:
    """The last progress that each job log and rank of the last session printed: file, line, rank, step, steps, epoch
    and epochs (Int64, NULL: not printed).
    """
    last = run.sessions["session"].max()
    rows = run.lines.filter(pl.col("session").eq_missing(pl.lit(last, pl.Int32)), pattern=LAST_STEP_PATTERN)
    numbers = (
        pl.col("captures").str.json_path_match(f"$.{name}").cast(pl.Int64, strict=False).alias(name)
        for name in ("step", "steps", "epoch", "epochs")
    )
    return rows.select("file", "line", "rank", *numbers)


def printed_plan(run: Run, last: int | None) -> float | None:
    """The planned steps in the unit of the curves, whose last step is `last`; None where they are not known.

    A total counts the run if the counter is at the same share of it as the epoch is of all epochs, and no step exceeds
    it. Otherwise it counts one epoch. Planned epochs above lines of batches (`Epoch [3/50]`) are as many steps as the
    epochs so far were long.
    """
    if last is None or not run.lines.height:
        return None
    printed = last_progress(run).filter(pl.col("steps").is_not_null() | pl.col("epochs").is_not_null())
    counters = printed.sort("line").select("step", "steps", "epoch", "epochs")
    # a bar that counts something else, such as files of weights, hides no plan
    found = _plan(last, *counters.row(-1)) if counters.height else None
    announced = _announced_epochs(run)
    counted = _plan(last, None, None, *announced) if announced else None
    return found or _announced(run, last) or counted or _plan_by_epochs(run, last)


def printed_epochs(run: Run) -> tuple[int, int] | None:
    """The last epoch and the planned epochs that a job log printed, where its numbers have that epoch too; else None.
    The plan may stand on a line of its own, such as `Scheduled epochs: 40`.

    >>> printed_epochs(Run()) is None
    True
    """
    printed = last_progress(run).drop_nulls(["epoch", "epochs"]).sort("line")
    if not printed.height:
        return _announced_epochs(run)
    epoch, epochs = printed.select("epoch", "epochs").row(-1)
    return (epoch, epochs) if epoch <= epochs and run.points["epoch"].max() == epoch else None


def _plan_by_epochs(run: Run, last: int) -> float | None:
    """The printed epochs in steps, by the length of the epochs so far; None where they differ in length."""
    printed = printed_epochs(run)
    points = run.points.filter(pl.col("session") == pl.col("session").max()).drop_nulls(["epoch", "step"])
    if printed is None or not points.height:
        return None
    begins = points.group_by("epoch").agg(pl.col("step").min()).sort("epoch")
    epoch, step = (begins[name].to_numpy().astype(float) for name in ("epoch", "step"))
    if len(epoch) < 2 or (epoch % 1).any() or (np.diff(epoch) != 1).any():
        return None
    lengths = np.diff(step)
    length = float(np.median(lengths))
    alike = np.allclose(lengths, length, rtol=EPOCHS_ALIKE) and length > 1
    counted = abs(last / length - epoch[-1]) <= 1  # steps count from the first epoch on
    return round(length * printed[1]) if alike and counted else None


def differs(run: Run, last: int) -> bool:
    """Whether the last step that the job log printed is another one than `last`, the last step of the curves."""
    printed = last_progress(run)["step"].drop_nulls()
    return bool(len(printed)) and int(printed[-1]) not in (last, last + 1)


def _announced(run: Run, last: int) -> float | None:
    """The planned steps of a line of their own, such as `max_steps: 2400`; None without one number of steps that the
    curves, whose last step is `last`, do not exceed.
    """
    lines = run.lines.filter(pl.col("pattern").is_in(having("plan_printed")))["captures"]
    digits = lines.str.json_path_match("$.steps").str.replace_all(",", "", literal=True)
    plans = digits.cast(pl.Int64, strict=False).drop_nulls().unique()
    return float(plans[0]) if len(plans) == 1 and last <= plans[0] else None


def _announced_epochs(run: Run) -> tuple[int, int] | None:
    """The last epoch of the numbers and the epochs planned on a line of their own; None without exactly one plan that
    they do not exceed.
    """
    lines = run.lines.filter(pl.col("pattern").is_in(having("epochs_planned")))["captures"]
    names = ("epochs", "epochs_in_words", "rounds")
    digits = pl.concat([lines.str.json_path_match(f"$.{name}") for name in names])
    plans = digits.cast(pl.Int64, strict=False).drop_nulls().unique()
    by_round = lines.str.json_path_match("$.rounds").is_not_null().any()  # its rounds are the steps of its numbers
    reached = run.points["step" if by_round else "epoch"].drop_nulls().to_numpy()
    known = len(plans) == 1 and len(reached) and reached.max() <= plans[0]
    return (int(reached.max()), plans[0]) if known else None


def _plan(last: int, step: int | None, steps: int | None, epoch: int | None, epochs: int | None) -> float | None:
    if not epochs or epoch is None:
        # otherwise it counts something else
        same_count = steps and step is not None and 0 <= step - last <= steps * feature_limit("counter_lag")
        return float(steps) if steps and same_count else None
    # curves may count from 0, and an epoch that has begun has no value yet
    if last in (epoch, epoch - 1) or last == epoch - 2 > 0:
        counts_epochs = not steps or step is None or (epoch > 1 and last < step - steps * feature_limit("counter_lag"))
        if counts_epochs:
            return float(epochs)
    if not steps or step is None:
        return None
    of_all = last <= steps and (epoch - 1) / epochs <= step / steps <= (epoch + 1) / epochs
    counted = step if of_all else (epoch - 1) * steps + step
    if (of_all and epoch <= 1) or last < counted * feature_limit("counted_share"):
        return None  # too little, or the curves count something else
    return float(steps if of_all else steps * epochs)

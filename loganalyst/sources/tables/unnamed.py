"""Numbers without a header: what their columns are called, and what is said about it.

A single column, or one next to a column that counts up, is named after its file. Others keep their number, and a gap
says how to name them.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst import filemeasure
from loganalyst.sources.files.lineblocks import gap

_SPAN = r"(?:epochs?|ep|steps?|iters?|iterations?|episodes?|rounds?)"
# what a name says besides the metric: `train_loss_50epochs`, `loss_epoch_50`
_COUNT = re.compile(rf"[-_.](?:\d+[-_.]?{_SPAN}|{_SPAN}[-_.]?\d+)$", re.IGNORECASE)
_EXAMPLE = ("loss", "accuracy", "val_loss", "val_accuracy")  # names in the header line that a gap suggests
_SAMPLE = 60  # characters of a row that a gap shows
STEP = "step"


def metric_of(path: Path) -> str:
    """The metric that a file is named after; for a download from TensorBoard's page, the tag. The folder's name stands
    before it where only that says what was measured.

    >>> metric_of(Path("train_loss_50epochs.json"))
    'train_loss'
    >>> metric_of(Path("run-train-tag-loss.json"))
    'loss'
    >>> metric_of(Path("loss/resnet_train.txt"))
    'loss/resnet_train'
    """
    _, downloaded, tag = path.stem.rpartition("-tag-")
    if downloaded:
        return tag
    metric = _COUNT.sub("", path.stem) or path.stem
    by_folder = not filemeasure.says_measure(metric) and filemeasure.is_metric(path.parent.name)
    return f"{path.parent.name}/{metric}" if by_folder else metric


def names(width: int, path: Path, *, counts: bool) -> list[str]:
    """The names of `width` columns. `counts`: the first one counts up.

    >>> names(2, Path("loss.txt"), counts=True), names(2, Path("loss.txt"), counts=False)
    (['step', 'loss'], ['column_1', 'column_2'])
    """
    if width == 1:
        return [metric_of(path)]
    if width == 2 and counts:
        return [STEP, metric_of(path)]
    return [STEP if counts and k == 1 else f"column_{k}" for k in range(1, width + 1)]


def counts_up(column: pl.Series) -> bool:
    """Whether a column may count steps: whole numbers, not all the same, that never fall, or only as a restart does.

    >>> counts_up(pl.Series([0.0, 1.0, 1.0])), counts_up(pl.Series([1, 2, 3, 1, 2])), counts_up(pl.Series([0.5, 1.0]))
    (True, True, False)
    """
    found = column.cast(pl.Float64, strict=False)
    whole = not found.null_count() and bool((found == found.floor()).all()) and bool(found.is_finite().all())
    change = found.diff().drop_nulls()
    if not whole or not (change > 0).any():
        return False
    return bool((change >= 0).all()) or _starts_again(found, change)


def _starts_again(column: pl.Series, change: pl.Series) -> bool:
    """Whether a counter by one constant amount falls only to its first value, at most once for two rises."""
    falls, rises = change < 0, change.filter(change >= 0)
    back = column.slice(1).filter(falls)
    return rises.n_unique() == 1 and bool((back == column[0]).all()) and 2 * falls.sum() <= rises.len()


def hint(path: Path, columns: Sequence[str], rows: int, sample: str, *, json: bool = False) -> list[pl.DataFrame]:
    """The gap that says how to name columns; none where the file's name does. `json`: they are lists, not lines.

    >>> hint(Path("a.txt"), ["step", "column_2", "column_3"], 50, "0 2.4 0.3")[0]["why"].item()
    '50 lines of 3 numbers without names, such as `0 2.4 0.3`: add a header line such as `step,loss,accuracy`'
    """
    if not any(name.startswith("column_") for name in columns):
        return []
    some = iter(_EXAMPLE)
    named = [STEP if name == STEP else next(some, f"metric{k}") for k, name in enumerate(columns)]
    lists = ", ".join(f'"{name}": […]' for name in named)
    advice = f"write `{{{lists}}}`" if json else f"add a header line such as `{','.join(named)}`"
    short = sample if len(sample) <= _SAMPLE else sample[: _SAMPLE - 1] + "…"
    what = f"{rows:,} {'rows' if json else 'lines'} of {len(columns)} numbers without names, such as `{short}`"
    return [gap(path, f"{what}: {advice}")]

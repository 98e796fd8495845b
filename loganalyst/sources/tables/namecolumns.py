"""Columns of texts that complete the names of metrics: the part of the data that a row is about, and the metric that a
row of a long table names.

`split: val` always says the part. `type: val` says it only by a word for data: `type: conv` says something else.
"""

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from loganalyst.sources.tables.stepcolumns import KINDS, NAMES, NAMES_OF_VALUES, PARTS, matching

# train, validation, train_step, eval epoch, on_test_end
_DATA = (
    r"(?i)^(?:on[ _-])?(?:train|training|val|valid|validation|validate|eval|evaluation|evaluate|test|testing|dev)"
    r"(?:[ _/-](?:step|epoch|iter|iteration|batch|loss|metrics?|log|stats|results?|progress|summary|end|set|data))*$"
)
# a name that says its data already: val_loss, train/loss
_SAYS_ITS_DATA = r"(?i)(?:^|[^a-z])(?:train|training|val|valid|validation|eval|evaluation|test|dev)(?:[^a-z]|$)"
# of a training that goes on with the same loss: freeze, fine-tuning, warmup_stage
_STAGES = (
    r"(?i)^(?:un)?(?:freez|froze|warm[ _-]?up|fine[ _-]?tun|head|backbone|full|main)[a-z]*(?:[ _-](?:stage|phase))?$"
)
VALUE = "value"  # the column whose numbers a long table names row by row


def words_in(texts: Mapping[str, pl.Series], steps: pl.Series | None = None) -> dict[str, pl.Series]:
    """The texts of each row that complete its names, if the table has them: a `name`, a `part` of the data, and a
    `kind` of row that is a word for data. Stages that follow one another are no parts if the `steps` go on.
    """
    goes_on = steps is None or bool((steps.diff().drop_nulls() >= 0).all())
    found = {
        word: texts[column]
        for word, among in (("name", (*NAMES, *NAMES_OF_VALUES)), ("part", PARTS))
        for column in matching(texts, among)[:1]
        if word == "name" or not (goes_on and _names_stages(texts[column]))
    }
    kinds = [kind for name in matching(texts, KINDS) if (kind := _of_data(texts[name])).count()]
    return found | ({"kind": kinds[0]} if kinds and "part" not in found else {})


def is_used(name: str, column: pl.Series) -> bool:
    """Whether the texts of a column complete names, so that they are not left out."""
    sure = bool(matching([name], (*NAMES, *NAMES_OF_VALUES)))
    sure |= bool(matching([name], PARTS)) and not _names_stages(column)
    return sure or bool(matching([name], KINDS) and _of_data(column).count())


def full_name(words: Collection[str]) -> pl.Expr:
    """The whole name of a metric, from the column `metric` and from `name`, `part` and `kind`, if `words` has them."""
    metric, name, part, kind = map(pl.col, ("metric", "name", "part", "kind"))
    if "name" in words:
        metric = pl.when((metric.str.to_lowercase() == VALUE) & name.is_not_null()).then(name).otherwise(metric)
    if "part" in words:
        return pl.when(part.is_null()).then(metric).otherwise(part + "/" + metric)
    if "kind" in words:
        return pl.when(kind.is_null() | metric.str.contains(_SAYS_ITS_DATA)).then(metric).otherwise(kind + "/" + metric)
    return metric


def _names_stages(column: pl.Series) -> bool:
    """Whether the words name stages of one training, one after another: `freeze`, then `finetune`."""
    words = column.drop_nulls()
    stages = len(words) > 0 and bool(words.unique().str.contains(_STAGES).all())
    return stages and words.rle_id().max() == words.n_unique() - 1


def are_data(cells: Sequence[str]) -> bool:
    """Whether these are words for a part of the data, such as `train`."""
    return _of_data(pl.Series(cells, dtype=pl.String)).null_count() == 0


def _of_data(column: pl.Series) -> pl.Series:
    """The texts that are words for a part of the data, NULL for the others."""
    words = column.to_frame("word").select(pl.when(pl.col("word").str.contains(_DATA)).then("word").alias("word"))
    return words.to_series()

"""Metrics printed as tables over several lines: `| key | value |` blocks, and columns under a header of names."""

import polars as pl

from loganalyst.sources.text.lines.heads import before_cells
from loganalyst.sources.text.lines.numberwords import RESULT, SETTING
from loganalyst.sources.text.metrics import barerows
from loganalyst.sources.text.metrics.numbertext import NUMBER, as_number
from loganalyst.sources.text.metrics.printedlists import lists

SCHEMA = pl.Schema(
    {
        "row": pl.UInt32,
        "at": pl.UInt32,
        "bar": pl.Boolean,
        "keras": pl.Boolean,
        "held_out": pl.Boolean,
        "header": pl.Boolean,
        "role": pl.String,
        "name": pl.String,
        "value": pl.Float64,
    }
)
# The start of a row or a ruler: `| loss`, `│ loss`, `----------`
BLOCK = r"^\s*[|│┃]|^\s*[-=+─┌└├╭╰┏]{8}"
_RULER = r"^\s*[-=+─┌┐└┘├┤┬┴┼╭╮╰╯━┏┓┡┩╇│|\s]{8,}$"  # `-----------`, `|======|`, `└──────┘`
# `| loss | 0.5 |`: indent, key and value
_ROW = r"^\s*[|│](\s*)([^|│]*?)\s*[|│]\s*([^\s|│]*)\s*[|│]\s*$"
_STEPS = (
    *("step", "steps", "global_step", "total_timesteps", "timesteps", "total_env_steps", "misc/total_timesteps"),
    *("total/steps", "timestepssofar", "totalenvinteracts", "totalenvsteps", "iterations", "iteration"),
)
_RANKS = {name: rank for rank, name in enumerate((*_STEPS, "n_updates", "nupdates", "misc/nupdates", "samples"))}
_DRAWN = r"[0-9]+%(?:\|| [━╸╺─]| \d+/\d+ \[).*"
_BAR = rf":?\s+{_DRAWN}$"  # `: 37%|███ | 3/8`, `: 37% ━━━╸──── 3/8 1.5it/s 2.1s`, `: 37% 3/8 [00:02<` of notebooks
_FIRST = "epoch|episode|step|iter[a-z0-9_]*|ep|round|generation"  # names of first columns
# `Epoch  box_loss  cls_loss`, `Class Images P R`
_NAMES = rf"^\s*(?i:{_FIRST}|class)(?:\s+[A-Za-z][A-Za-z0-9_.,/@:()%-]*){{2,}}\s*"
# separated by commas: `epoch, train loss, val loss`
_LISTED = rf"^\s*(?i:{_FIRST})(?:, ?[A-Za-z][A-Za-z0-9_./@ ()-]*){{2,}}$"
# Names of several words, separated by two blanks or more: `Epoch  train loss  val loss`
_APART = (
    rf"^\s*(?i:{_FIRST})"
    r"(?:\s{2,}[A-Za-z][A-Za-z0-9_./@()%-]*(?: [A-Za-z0-9_./@()%-]+)*){2,}\s*$"
)
_BETWEEN_BARS = rf"^\s*(?i:{_FIRST})\s*(?:[|│┃]\s*[A-Za-z][^|│┃:=]*){{2,}}$"  # `epoch | train_loss | val_loss`
_OF_SPACY = r"^\s*E\s+#\s"  # `E    #       LOSS TOK2VEC  LOSS NER`
_COMMENTED = rf"^\s*#\s*((?i:{_FIRST})\s)"  # `# Epoch  Loss  ValLoss`
# `Epoch  box_loss  cls_loss`; a bar may follow
HEADER = rf"{_NAMES}(?:{_DRAWN})?$|{_LISTED}|{_APART}|{_BETWEEN_BARS}|{_OF_SPACY}|{_COMMENTED}"
_COMMAS = r"^[^,=:{}\[\]]+(?:,[^,=:{}\[\]]+){2,}$"  # `1, 0.5, 0.6`
_RULED = r"^\s*[|│┃].*[|│┃]\s*$"  # `| 1 | 0.5 | 0.6 |`
_INNER_BARS = r"^\s*\d+\s*(?:[|│┃][^|│┃:=]*){2,}$"  # `1 | 0.5 | 0.6`
_GOES_ON = r"^\s*[|│┃]\s*[|│┃]"  # `|         |     Loss     |`: the first cell is empty
_STEPS_BESIDE = r"(?i)^(?:#|step|iter|iteration)$"  # columns beside the epoch that count steps
# columns that are no results: `Epoch`, `Instances`, `size`
_NO_RESULT = r"(?i)^(?:epochs?|class|images|instances|labels|img_?size|size|dur|time)$"


def cells(lines: pl.DataFrame, *, bare: bool = True) -> pl.DataFrame:
    """The numbers of all tables, in the SCHEMA (flags as in `lineshapes.Shape`). `lines` has row, text and session;
    `bare`: some of them may be rows of bare numbers.

    `row` is the record's (that of its block's last line), `at` that of the number.
    """
    listed = _shaped(lists(lines).with_columns(at="row"))
    found = pl.concat([_blocks(lines), _columns(lines), listed])
    if bare:
        rest = lines.filter(~pl.col("row").is_in(found["at"].implode())) if found.height else lines
        found = pl.concat([found, _shaped(barerows.cells(rest).with_columns(at="row"))])
    return found.sort("row", maintain_order=True)


def without_heads(text: pl.Series) -> pl.Series:
    """The lines, without the heads of a logger where these stand before a row of bare numbers or its names.

    >>> without_heads(pl.Series(["2024-05-01 10:00:02 - 3,0.5,0.6", "2024-05-01 10:00:02 - loss 0.5"])).to_list()
    ['3,0.5,0.6', '2024-05-01 10:00:02 - loss 0.5']
    """
    message = before_cells(text)
    rows = message.str.contains(barerows.ROW) & ~text.str.contains(barerows.ROW)
    named = message.str.contains(HEADER) & ~text.str.contains(HEADER)
    return message.zip_with(pl.Series(barerows.with_names(rows.to_numpy())) | named, text)


def headed(text: pl.Series) -> bool:
    """Whether a line names the columns of results."""
    text = text.to_frame("text").select(_unruled(pl.col("text"))).to_series()
    names = text.filter(text.str.contains(HEADER)).str.to_lowercase().str.replace_all("_", " ", literal=True)
    return bool(names.str.contains(RESULT).any())


def _unruled(text: pl.Expr) -> pl.Expr:
    """A row with blanks instead of vertical bars or commas, each cell one word; so is a header of names far apart."""
    # `train loss | val (top 1)` becomes `train_loss   val_(top_1)`
    text = text.str.replace(_OF_SPACY, "Epoch  Step ").str.replace(_COMMENTED, "$1")
    words = text.str.replace_all(r"(\w\)?) (\(?\w)", "${1}_$2")
    for _ in range(2):  # cells without a value, of which two may be neighbours
        words = words.str.replace_all(r"([|│┃])\s+([|│┃])", "$1 - $2")
    shape = rf"{_RULED}|{_COMMAS}|{_APART}|{_BETWEEN_BARS}|{_INNER_BARS}"
    words = words.str.replace_all(r"[|│┃,]", " ")
    return pl.when(text.str.contains(shape)).then(words).otherwise(text).alias("text")


def _joined_headers(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines, with the names of a header that takes two rows in its first one, as MATLAB prints it.

    |  Epoch  |  Iteration  |  Mini-batch  |
    |         |             |     Loss     |
    """
    names = pl.col("text").str.contains(_RULED) & ~pl.col("text").str.contains(r"\d|[-=]{4}")
    rows = lines.filter(names).select(pl.col("row").cast(pl.Int64), "text")
    below = rows.filter(pl.col("text").str.contains(_GOES_ON)).select(pl.col("row") - 1, below="text")
    cells = pl.col("text", "below").str.replace(r"^\s*[|│┃]", "").str.replace(r"[|│┃]\s*$", "")
    cells = cells.str.replace_all("[│┃]", "|").str.split("|")
    pairs = rows.join(below, on="row").select("row", cells)
    pairs = pairs.filter(pl.col("text").list.len() == pl.col("below").list.len()).explode("text", "below")
    cell = pl.format("{} {}", pl.col("text").str.strip_chars(), pl.col("below").str.strip_chars()).str.strip_chars()
    joined = pairs.group_by("row").agg(joined=pl.format("| {} |", cell.str.join(" | ")))
    found = lines.join(joined, left_on=pl.col("row").cast(pl.Int64), right_on="row", how="left", maintain_order="left")
    return found.with_columns(text=pl.coalesce("joined", "text")).drop("joined")


def _shaped(found: pl.DataFrame) -> pl.DataFrame:
    """The numbers in the SCHEMA."""
    fixed = {"bar": False, "keras": False, "held_out": False, "header": False}
    constants = [pl.lit(value).alias(name) for name, value in fixed.items()]
    return found.with_columns(constants).select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def _blocks(lines: pl.DataFrame) -> pl.DataFrame:
    """One record per block of `| key | value |` rows; `| train/ | |` opens a section of indented rows."""
    rows = _in_sections(_block_rows(lines)).filter(pl.col("text").str.contains(f"^{NUMBER}%?$"))
    counter = pl.col("plain").str.split("/").list.last()  # `misc/total_timesteps`
    rank = counter.replace_strict(_RANKS, default=None, return_dtype=pl.Int64)
    rows = rows.with_columns(rank=rank, row=pl.col("at").max().over("block")).with_columns(
        step=pl.col("rank") == pl.col("rank").min().over("block")
    )
    role = (
        pl.when("step")
        .then(pl.lit("step"))
        .when(pl.col("rank").is_null())
        .then(pl.when(pl.col("plain").is_in(["epoch", "epochs"])).then(pl.lit("epoch")).otherwise(pl.lit("metric")))
    )
    value = as_number(pl.col("text").str.strip_suffix("%"))
    return _shaped(rows.with_columns(role=role, value=value).filter(_of_results(), pl.col("role").is_not_null()))


def _block_rows(lines: pl.DataFrame) -> pl.DataFrame:
    """The rows of blocks: number of the block, indent, key and text."""
    return (
        lines.filter(pl.col("text").str.contains(BLOCK))
        .with_columns(ruler=pl.col("text").str.contains(_RULER))
        .with_columns(block=(pl.col("ruler") | (pl.col("row").diff() != 1).fill_null(True)).cum_sum())
        .filter(~pl.col("ruler"))
        .select("block", at="row", cell=pl.col("text").str.extract_groups(_ROW))
        .unnest("cell")
        .rename({"1": "indent", "2": "key", "3": "text"})
    )


def _in_sections(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of blocks with their `name`, which begins with the section, and the key in lower case (`plain`)."""
    opened = pl.when(pl.col("text") == "").then(
        pl.when(pl.col("key").str.ends_with("/")).then("key").otherwise(pl.lit(""))
    )
    indented = pl.col("indent").str.len_chars() > 1
    section = pl.when(indented).then(opened.forward_fill().over("block").fill_null("")).otherwise(pl.lit(""))
    return rows.with_columns(name=section + pl.col("key"), plain=pl.col("key").str.to_lowercase())


def _of_results() -> pl.Expr:
    """Whether a row of a block is of results: by a counter in the block, or names of results."""
    placed = pl.col("rank").is_not_null().any().over("block")
    named = (pl.len().over("block") > 1) & pl.col("name").str.contains(r"^[^\W\d_][^=]{0,59}$")
    words = pl.col("plain").str.replace_all("_", " ", literal=True)
    result = words.str.contains(RESULT) & ~words.str.contains(SETTING)
    often = (pl.len().over("name") >= 3) & result.any().over("block")
    return (placed | often | (result & words.str.contains(r"^(?:test|val|eval)"))) & named


def _columns(lines: pl.DataFrame) -> pl.DataFrame:
    """Rows of numbers under a line of names that starts with epoch, step or class, with or without bars. Of a progress
    bar's refreshes the last counts.
    """
    lines = _joined_headers(lines).with_columns(_unruled(pl.col("text").str.replace(_BAR, "")))
    names = _column_names(lines)
    if names.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    cells = (
        _last_refreshes(_rows_under(lines, names))
        .with_columns(column=pl.int_ranges(pl.col("word").list.len()))
        .explode("word", "column")
        .join(names.drop("width", "of_class"), on=["under", "column"], maintain_order="left")
    )
    number = as_number(pl.col("word").str.extract(f"^({NUMBER})[%A-Za-z]*$"))
    counts = pl.col("column") == 0
    is_step = pl.col("column") == pl.col("steps_at")
    role = pl.when(counts).then(pl.lit("epoch")).when(is_step).then(pl.lit("step")).otherwise(pl.lit("metric"))
    cells = cells.with_columns(role=role, value=pl.when(counts).then("epoch").otherwise(number), at="row")
    return _shaped(cells.filter(pl.col("value").is_not_null(), counts | ~pl.col("name").str.contains(_NO_RESULT)))


def _column_names(lines: pl.DataFrame) -> pl.DataFrame:
    """The names of columns: row of the header (`under`), column, number of columns (`width`), and whether rows are by
    class.
    """
    headers = lines.select("row", "text").filter(pl.col("text").str.contains(_NAMES + "$"))
    headers = headers.filter(pl.col("text").str.to_lowercase().str.contains(RESULT + r"|\bbox\b.*\bcls\b"))
    return (
        headers.select(under="row", name=pl.col("text").str.extract_all(r"\S+"))
        .with_columns(column=pl.int_ranges(pl.col("name").list.len()), width=pl.col("name").list.len())
        .explode("name", "column")
        .with_columns(name=pl.col("name").str.replace(r"^\w+\(", "").str.strip_chars("):,"))
        .with_columns(of_class=pl.col("name").first().over("under").str.to_lowercase() == "class")
    )


def _rows_under(lines: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """The rows of numbers below each header: their `word` list, and the column that counts steps (`steps_at`)."""
    beside = names.filter(pl.col("name").str.contains(_STEPS_BESIDE), pl.col("column") > 0)
    beside = beside.group_by("under").agg(steps_at=pl.col("column").min())
    cell = f"^(?:{NUMBER}[%A-Za-z]{{0,2}}|-|[\\d:]+|\\d+[a-z]+_\\d+[a-z]+)$"
    return (
        lines.select("row", "session", word=pl.col("text").str.extract_all(r"\S+"))
        .with_columns(of_class=pl.col("word").list.first() == "all")
        .drop_nulls("of_class")
        .sort("row")
        .join_asof(
            names.select("under", "width", "of_class").unique().sort("under"),
            left_on="row",
            right_on="under",
            by="of_class",
            check_sortedness=False,
        )
        .join(beside, on="under", how="left", maintain_order="left")
        .filter(
            pl.col("word").list.len() == pl.col("width"),
            pl.col("word").list.first().str.contains(r"^(?:\d+|\d+/\d+|all)$"),
            pl.col("word").list.slice(1).list.eval(pl.element().str.contains(cell)).list.all(),
        )
    )


def _last_refreshes(rows: pl.DataFrame) -> pl.DataFrame:
    """The last row of each epoch and step, with its epoch; a row by class belongs to the epoch above."""
    steps = pl.col("word").list.get(pl.col("steps_at"), null_on_oob=True)
    return (
        rows.with_columns(epoch=pl.col("word").list.first().str.extract(r"^(\d+)").cast(pl.Float64, strict=False))
        .with_columns(again=pl.struct("epoch", steps).eq_missing(pl.struct("epoch", steps).shift(-1)).over("under"))
        .filter(~pl.col("again"))
        .with_columns(epoch=pl.col("epoch").forward_fill().over("session"))
    )

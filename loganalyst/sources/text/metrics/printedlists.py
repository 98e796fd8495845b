"""Tables whose cells are lists of numbers, as DeepXDE prints them.

Step      Train loss              Test loss               Test metric
1000      [1.29e-02, 1.10e-03]    [1.30e-02, 1.00e-03]    [1.98e-01]
"""

import polars as pl

from loganalyst.sources.text.metrics.numbertext import FOUND, NUMBER, as_number

# `Step  Train loss  Test loss`: the names are two blanks or more apart
_HEADER = r"^\s*(?i:step|epoch|iter[a-z0-9_]*)(?:\s{2,}[A-Za-z]\S*(?: \S+)*)+\s*$"
_LIST = rf"\[(?:{NUMBER}(?:, {NUMBER})*)?\]"  # `[1.29e-02, 1.10e-03]`, `[]`
_ROW = rf"^\s*\d+\s+{_LIST}(?:\s+{_LIST})*\s*$"


def lists(lines: pl.DataFrame) -> pl.DataFrame:
    """The numbers of such tables: row, role, name and value. `lines` has row and text. The numbers of a list with
    several are named by their place, from 1: `Train loss/2`.
    """
    rows = lines.filter(pl.col("text").str.contains(_ROW)).select("row", "text")
    headers = lines.filter(pl.col("text").str.contains(_HEADER))
    if not rows.height or not headers.height:
        return pl.DataFrame(schema=FOUND)
    names = headers.select(under="row", names=pl.col("text").str.strip_chars().str.replace_all(r"\s{2,}", "\t"))
    names = names.with_columns(pl.col("names").str.split("\t").list.slice(1))
    placed = rows.sort("row").join_asof(names.sort("under"), left_on="row", right_on="under")
    steps = placed.select(
        "row", role=pl.lit("step"), name=pl.lit(""), value=pl.col("text").str.extract(r"(\d+)").cast(pl.Float64)
    )
    cells = placed.with_columns(cell=pl.col("text").str.extract_all(_LIST)).filter(
        pl.col("cell").list.len() == pl.col("names").list.len()
    )
    cells = cells.select("row", "cell", "names").explode("cell", "names")
    cells = cells.with_columns(value=pl.col("cell").str.extract_all(NUMBER))
    several = pl.col("value").list.len() > 1
    cells = cells.with_columns(several=several, nth=pl.int_ranges(1, pl.col("value").list.len() + 1))
    cells = cells.explode("value", "nth").drop_nulls("value")
    name = pl.when("several").then(pl.format("{}/{}", "names", "nth")).otherwise("names")
    found = pl.concat([steps, cells.select("row", role=pl.lit("metric"), name=name, value=as_number(pl.col("value")))])
    return found.sort("row", maintain_order=True)

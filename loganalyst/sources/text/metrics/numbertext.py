"""Numbers as programs print them into tables and lists, and the frame that they are collected in."""

import polars as pl

NUMBER = r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:nan|inf)\b)"  # `0.5`, `-1e-5`, `nan`
FOUND = {"row": pl.Int64, "role": pl.String, "name": pl.String, "value": pl.Float64}  # one row a number


def as_number(text: pl.Expr) -> pl.Expr:
    """The numbers of texts; NULL where one is none.

    >>> pl.DataFrame({"text": ["1e-3", "NaN", "-"]}).select(as_number(pl.col("text"))).to_series().to_list()
    [0.001, nan, None]
    """
    return text.str.to_lowercase().cast(pl.Float64, strict=False)

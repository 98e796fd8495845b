"""The node of a driver's word that a heading names: `--- epilog gpu07 ---` above the node's own records."""

import polars as pl

from loganalyst.blame.linetraits import has_trait

_FILE = ["session", "file"]


def below_headings(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The root-cause lines `found` with `first_node`: for a driver's word without a node, the node of the last heading
    above it.
    """
    headings = lines.filter(has_trait("node_heading"))
    asked = has_trait("device_word") & pl.col("first_node").is_null()
    if not headings.height or not found.filter(asked).height:
        return found
    named = pl.coalesce(pl.col("captures").str.json_path_match(f"$.{name}") for name in ("headed", "headed_first"))
    above = headings.select(*_FILE, at="line", above=named).sort("at")
    found = found.sort("line").join_asof(
        above, left_on="line", right_on="at", by=_FILE, check_sortedness=False, coalesce=False
    )
    node = pl.when(asked).then("above").otherwise("first_node")
    return found.with_columns(first_node=node).drop("above", "at").sort("session")

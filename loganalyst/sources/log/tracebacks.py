"""Python tracebacks in a job log: taken apart by rank, chains kept together, each with its exception and frame."""

import polars as pl

HEADER = "Traceback (most recent call last)"
LONGEST = 400  # rows of one rank between a header and its exception

_INDENTED = r"^(?:\s|│|╭|╰|$)"
_SUFFIX = "Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|Fault|Warning|Group|Abort|StopIteration"
_STRICT = rf"^((?:[A-Za-z_]\w*\.)*(?:[A-Z_]\w*)?(?:{_SUFFIX})\w*)(?:\s*:\s*(.*))?$"
_LOOSE = r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (.*))?$"  # only right below the frames: exceptions may have any name
_FRAME = r'^\s*File "([^"]+)", line (\d+)(?:, in (.+))?$'
_RICH_FRAME = r"^│\s+(\S+):(\d+) in (\S+)"
_LIBRARY = r"site-packages|dist-packages|/lib/python\d|^<frozen|[\\/]Lib[\\/]|^<string>"
_CHAIN = ("The above exception was the direct cause of", "During handling of the above exception")
_HARMLESS = r"Exception ignored in|Exception in thread|Error in atexit|Error in sys\.excepthook"

FOUND = pl.Schema(
    {
        "head": pl.Int64,
        "row": pl.Int64,
        "chain": pl.Int64,
        "exception": pl.String,
        "message": pl.String,
        "frame": pl.String,
        "harmless": pl.Boolean,
    }
)


def find(rows: pl.DataFrame) -> pl.DataFrame:
    """The tracebacks in `rows` (body and prefix, String; file order): one row each, by position.

    head, row: positions (Int64) of the header and of the exception's line (NULL where it is cut off); chain: number of
    the chain it belongs to; exception, message; frame: "file:line in function" of the innermost frame outside libraries
    (NULL where there is none); harmless: printed by the interpreter's clean-up or a side thread.
    """
    if not rows["body"].str.contains(HEADER, literal=True).any():
        return pl.DataFrame(schema=FOUND)
    inside = _inside(rows)
    blocks = inside.group_by("prefix", "block").agg(
        head=pl.col("row").first(),
        harmless=pl.col("harmless").first(),
        **_exception(),
        frame=_frame().drop_nulls().last(),
        linked=pl.col("chain").any(),
    )
    follows = pl.col("linked").shift(1).over("prefix", order_by="block").fill_null(value=False)
    found = blocks.with_columns(follows=follows).sort("head")
    # Chains of two ranks may interleave: a chain is counted within its rank, then numbered over all.
    keyed = found.with_columns(chain=(~pl.col("follows")).cum_sum().over("prefix"))
    return keyed.with_columns(chain=pl.struct("prefix", "chain").rank("dense")).select(
        pl.col(name).cast(dtype) for name, dtype in FOUND.items()
    )


def unfinished(rows: pl.DataFrame) -> int:
    """Position of the first header whose exception may still come after the last of `rows` (their number if none)."""
    tail = rows.tail(LONGEST)
    open_ = find(tail).filter(pl.col("row").is_null())["head"]
    return rows.height - tail.height + int(open_[0]) if len(open_) else rows.height


def _inside(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows from each header on, at most LONGEST of its rank, with what each of them is."""
    body = pl.col("body")
    head = body.str.contains(HEADER, literal=True)
    numbered = rows.select("prefix", "body").with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    numbered = numbered.with_columns(
        head=head,
        block=head.cum_sum().over("prefix"),
        before=body.shift(1).over("prefix"),
    ).filter(pl.col("block") > 0)
    numbered = numbered.with_columns(depth=pl.int_range(pl.len()).over("prefix", "block"))
    return numbered.filter(pl.col("depth") <= LONGEST).with_columns(
        harmless=(body.str.contains(_HARMLESS) | pl.col("before").str.contains(_HARMLESS)).fill_null(value=False),
        chain=body.str.contains_any(list(_CHAIN)),
        ends=~head
        & ~body.str.contains("%|", literal=True)
        & (body.str.contains(_STRICT) | (body.str.contains(_LOOSE) & pl.col("before").str.contains(_INDENTED))),
    )


def _exception() -> dict[str, pl.Expr]:
    """Place and parts of a block's first exception line."""
    ends, body = pl.col("ends"), pl.col("body")
    parts = pl.coalesce(body.str.extract(_STRICT, 1), body.str.extract(_LOOSE, 1))
    message = pl.coalesce(body.str.extract(_STRICT, 2), body.str.extract(_LOOSE, 2))
    return {
        "row": pl.col("row").filter(ends).first(),
        "exception": parts.filter(ends).first(),
        "message": message.filter(ends).first(),
    }


def _frame() -> pl.Expr:
    """The frames above the exception that are the user's own, as "file:line in function"."""
    body = pl.col("body")
    plain, rich = body.str.extract_groups(_FRAME), body.str.extract_groups(_RICH_FRAME)
    file, line, function = (pl.coalesce(plain.struct.field(k), rich.struct.field(k)) for k in ("1", "2", "3"))
    shown = pl.concat_str([file, pl.lit(":"), line, pl.lit(" in "), function.fill_null("?")])
    own = ~file.str.contains(_LIBRARY) & ~pl.col("ends").cum_max().fill_null(value=False)
    return shown.filter(own.fill_null(value=False))

"""What each line of a Python traceback is: header, frame, the exception; behind margins, stamps and boxes."""

import polars as pl

HEADER = "Traceback (most recent call last)"
LONGEST = 400  # rows of one rank between a header and its exception
LIBRARY = r"site-packages|dist-packages|/lib/python\d|^<frozen|[\\/]Lib[\\/]|^<string>|[\\/]bin[\\/][\w-]+$"
FRAME = r'^[\s>]*File "([^"]+)", line (\d+)(?:,? in (.+))?$'  # faulthandler leaves the second comma out

_INDENTED = r"^(?:\s|│|╭|╰|$)"
_SUFFIX = "Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|Fault|Warning|Group|Abort|StopIteration"
_STRICT = rf"^((?:[A-Za-z_]\w*\.)*(?:[A-Z_]\w*)?(?:{_SUFFIX})\w*)(?:\s*:\s*(.*))?$"
_LOOSE = r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (.*))?$"  # only right below the frames: exceptions may have any name
_RICH_FRAME = r"^│\s+(\S+):(\d+) in(?: ([^\s│]+))?"
_RICH_PATH = r"^│ ([/~]\S+) │$"  # the first part of a path that is longer than the box is wide
_RICH_NAME = r"^│ (\S+)\s+│$"  # a function's name that did not fit behind it
_CHAIN = ("The above exception was the direct cause of", "During handling of the above exception")
_HARMLESS = r"Exception ignored in|Exception in thread|Error in atexit|Error in sys\.excepthook"
# Members of an exception group stand behind a margin, one below the other, some of them without a header.
_MEMBER = r"^\s*\+[-+]+ \d+ -+$"
_MARGIN = r"^(\s+)[|+] "
_TOLD = r"^-- Process (\d+) terminated with the following error:"  # another process's traceback follows
_LEAD = r"^(.*?)(?:Exception Group |Original )?Traceback \(most"
_MESSAGE = 3  # rows below an exception without message in which it may stand


def inside(rows: pl.DataFrame) -> pl.DataFrame:
    """The `rows` (prefix, body) from each header on, at most LONGEST of its rank, with what each of them is."""
    body = pl.col("body")
    numbered = rows.select("prefix", "body").with_row_index("row").with_columns(
        pl.col("row").cast(pl.Int64),
        head=body.str.contains(HEADER, literal=True),
        member=body.str.contains(_MEMBER),
        before=body.shift(1).over("prefix"),
        after=body.shift(-1).over("prefix"),
    )  # fmt: skip
    bare_member = pl.col("member") & ~pl.col("after").str.contains(HEADER, literal=True).fill_null(value=True)
    numbered = numbered.with_columns(head=pl.col("head") | bare_member)
    numbered = numbered.with_columns(block=pl.col("head").cum_sum().over("prefix")).filter(pl.col("block") > 0)
    numbered = numbered.with_columns(far=pl.int_range(pl.len()).over("prefix", "block"))
    found = _bared(numbered.filter(pl.col("far") <= LONGEST))
    told = pl.col("before").str.extract(_TOLD, 1).cast(pl.Int64, strict=False)
    return found.with_columns(
        harmless=(body.str.contains(_HARMLESS) | pl.col("before").str.contains(_HARMLESS)).fill_null(value=False),
        chain=body.str.contains_any(list(_CHAIN)),
        process=told,
        inner=body.str.contains("Original Traceback", literal=True) | told.is_not_null(),
        ends=_ends(),
        own=_own(),
    )


def _bared(rows: pl.DataFrame) -> pl.DataFrame:
    """With `bare`: the text without what stands before each line of its traceback (the margin of a group's member, an
    indent, a logger's stamp); and `depth`: the width of that margin (0: none).
    """
    opening = pl.when(pl.col("member")).then("after").otherwise("body").first().over("prefix", "block")
    rows = rows.with_columns(
        depth=opening.str.extract(_MARGIN, 1).str.len_chars().cast(pl.Int64).fill_null(0),
        lead=opening.str.extract(_LEAD, 1).fill_null(""),
    )
    body, lead = pl.col("body"), pl.col("lead")
    width = lead.str.len_chars()
    same = _blanked(body.str.slice(0, width)) == _blanked(lead)
    indent = lead.str.extract(r"^(\s*)", 1)
    return rows.with_columns(
        bare=pl.when(pl.col("depth") > 0).then(body.str.replace(r"^\s*[|] ?", ""))
        .when(lead == "").then(body)
        .when(same).then(body.str.slice(width))
        .otherwise(body.str.strip_prefix(indent))
    )  # fmt: skip


def _blanked(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(r"[0-9]", "0")


def _ends() -> pl.Expr:
    """Whether a row names the exception; one between two frames is another process's line."""
    body, bare = pl.col("body"), pl.col("bare")
    in_margin = (pl.col("depth") == 0) | body.str.contains(r"^\s*[|]")
    below = pl.col("before").str.contains(_INDENTED)
    between = pl.col("after").str.contains(FRAME).fill_null(value=False)
    named = bare.str.contains(_STRICT) | (bare.str.contains(_LOOSE) & below & ~between)
    return ~pl.col("head") & in_margin & named & ~body.str.contains("%|", literal=True)


def _own() -> pl.Expr:
    """The frame on a row, as "file:line in function", where it is outside libraries; else NULL."""
    bare = pl.col("bare")
    plain, rich = bare.str.extract_groups(FRAME), bare.str.extract_groups(_RICH_FRAME)
    cut = pl.col("before").str.extract(_RICH_PATH, 1).fill_null("")
    file = pl.coalesce(plain.struct.field("1"), cut + rich.struct.field("1"))
    line, function = (pl.coalesce(plain.struct.field(k), rich.struct.field(k)) for k in ("2", "3"))
    boxed = pl.when(rich.struct.field("2").is_not_null()).then(pl.col("after").str.extract(_RICH_NAME, 1))
    function = pl.coalesce(function, boxed)
    shown = pl.concat_str([file, pl.lit(":"), line, pl.lit(" in "), function.fill_null("?")])
    return pl.when(~file.str.contains(LIBRARY)).then(shown)


def parts() -> dict[str, pl.Expr]:
    """Of a traceback (a group of rows): the place and words of its first exception, its frames, what else it names.

    endings, names, says: of all exceptions that follow the first with nothing but frames between.
    """
    ends, bare, far = pl.col("ends"), pl.col("bare"), pl.col("far")
    name = pl.coalesce(bare.str.extract(_STRICT, 1), bare.str.extract(_LOOSE, 1))
    says = pl.coalesce(bare.str.extract(_STRICT, 2), bare.str.extract(_LOOSE, 2))
    ended = ends.cum_max().fill_null(value=False)
    stray = (ended & ~ends & ~pl.col("body").str.contains(_INDENTED)).cum_sum() == 0
    frames = pl.col("own").filter(~ended).drop_nulls()
    whole = (~pl.col("head") & ~bare.str.contains(_INDENTED)).cum_sum() == 0
    deep = whole & (bare.str.contains(FRAME) | bare.str.contains(_RICH_FRAME))
    below = ended & ~ends & (far - far.filter(ends).first() <= _MESSAGE)
    words = bare.str.contains(r"\w") & ~pl.col("chain") & ~bare.str.contains(HEADER, literal=True)
    return {
        "row": pl.col("row").filter(ends).first(),
        "exception": name.filter(ends).first(),
        "message": says.filter(ends).first(),
        "more": bare.filter(below & words).first().str.strip_chars(),
        "frame": pl.when(ends.any()).then(frames.last()).otherwise(pl.col("own").filter(whole).drop_nulls().last()),
        "deep": pl.col("row").filter(deep).last(),
        "frames": frames,
        "endings": pl.col("row").filter(ends & stray),
        "names": name.filter(ends & stray),
        "says": says.filter(ends & stray),
    }

"""SQL over the tables of a store: what may be asked, and how the answer is written."""

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import polars as pl

from loganalyst.errors import StoreError, nearest
from loganalyst.store import Store
from loganalyst.store.tables import ALL_TABLES

BEGIN = ("SELECT", "WITH", "FROM", "SHOW", "EXPLAIN")
ROWS = 1000  # of a table that is drawn
CONTROL = r"\p{Cc}"
# What a statement is made of, to its first sign of a construct that hides text in other ways than these
_TOKEN = re.compile(
    r"(?P<string>'(?:[^']|'')*')|\"(?P<quoted>(?:[^\"]|\"\")*)\"|(?P<hidden>--|/\*|[\w&]'|[$`'\"#])"
    r"|(?P<word>[^\W\d]\w*)(?!')|(?P<open>\()|\s+|."
)
_NO_COLUMN = re.compile(r"unable to find column \"(.*?)\"; valid columns: \[(.*)\]")
_NO_TABLE = re.compile(r"relation '(.*?)' was not found")


def ask(store: Store, sql: str) -> pl.DataFrame:
    """The answer to one SELECT (or WITH, SHOW TABLES, EXPLAIN) over the tables of the store.

    Only the tables it names are opened, and of the big ones only the files of runs that a comparison of `run_id` with
    fixed values leaves. Naming a judged table judges first what was not judged yet. Raises StoreError.
    """
    words = _words(sql)
    frames = {name: store.table(name) if name in words else pl.LazyFrame() for name in ALL_TABLES}
    try:
        return pl.SQLContext(frames).execute(sql, eager=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        store.check(words.intersection(ALL_TABLES))  # of a file that is gone, polars says less
        raise _refused(str(error)) from None


def _words(sql: str) -> set[str]:
    """The names in a statement, in lower case. Raises StoreError where it may do more than read these tables."""
    words, before = [], ""
    for token in _TOKEN.finditer(sql):
        if token["hidden"]:
            raise _error(
                f"{token['hidden'][-2:]!r} at character {token.start() + 1}", "comments, $ and ` are not taken"
            )
        if token["open"] and before.startswith(("read_", "scan_")):
            raise _error(f"{before}() reads files", f"a query reads {', '.join(ALL_TABLES)}")
        name = token["word"] or token["quoted"]
        if name:
            words.append(name.lower())
        if not token[0].isspace():
            before = (name or "").lower()
    if not words or words[0].upper() not in BEGIN:
        raise _error(f"begins with {words[0] if words else 'nothing'!r}", f"it may with {', '.join(BEGIN)}")
    return set(words)


def _error(what: str, allowed: str) -> StoreError:
    return StoreError("query", what, allowed)


def _refused(text: str) -> StoreError:
    """What polars says of a query, with the nearest name that there is."""
    if found := _NO_TABLE.search(text):
        return _error(f"no table {found[1]!r}", nearest(found[1], ALL_TABLES) or f"there are {', '.join(ALL_TABLES)}")
    if found := _NO_COLUMN.search(text):
        known = re.findall(r'"(.*?)"', found[2])
        return _error(f"no column {found[1]!r}", nearest(found[1], known) or f"there are {', '.join(known)}")
    return _error(text.partition("\n")[0], "SHOW TABLES names the tables, SELECT * FROM … LIMIT 1 the columns")


def csv(rows: pl.DataFrame) -> str:
    """With a header; NULL is empty, lists are their values separated by ``; ``."""
    lists = [name for name, dtype in rows.schema.items() if isinstance(dtype, pl.List)]
    return rows.with_columns(pl.col(lists).list.eval(pl.element().cast(pl.String)).list.join("; ")).write_csv()


def json_lines(rows: pl.DataFrame) -> Iterator[str]:
    """An object a row; NaN and infinities are the strings "NaN", "Infinity" and "-Infinity"."""
    for row in rows.iter_rows(named=True):
        yield json.dumps({name: _plain(value) for name, value in row.items()}, allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def drawn(rows: pl.DataFrame, width: int, *, ascii_only: bool) -> str:
    """At most ROWS rows as a table that is `width` characters wide; signs that control a terminal are blanks."""
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=width,
        fmt_str_lengths=width,
        fmt_table_cell_list_len=-1,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_formatting="ASCII_BORDERS_ONLY_CONDENSED" if ascii_only else "UTF8_BORDERS_ONLY",
    ):
        shown = rows.head(ROWS).with_columns(pl.col(pl.String).str.replace_all(CONTROL, " "))
        more = f"{rows.height - ROWS:,} more rows; --format csv writes them all\n" if rows.height > ROWS else ""
        return f"{shown}\n{more}"

"""SQL queries of the tables of a store."""

import json
import math
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

import polars as pl

from loganalyst.errors import StoreError, nearest
from loganalyst.store import Store, meanings
from loganalyst.store.tablefiles import ALL_TABLES

FIRST_WORDS = ("SELECT", "WITH", "FROM", "SHOW", "EXPLAIN", "DESCRIBE")
MAX_LISTED_NAMES = 12  # in an error
_TERMINAL_CONTROLS = re.compile(r"[\x7f-\x9f]")  # JSON does not escape them and a terminal obeys them: \x9b31m
# The tokens of a statement: 'a string', "a name", a word, (. `hidden` are comments and other ways to hide text
_TOKEN = re.compile(
    r"(?P<string>'(?:[^']|'')*')|\"(?P<quoted>(?:[^\"]|\"\")*)\"|(?P<hidden>--|/\*|[\w&]'|[$`'\"#])"
    r"|(?P<word>[^\W\d]\w*)(?!')|(?P<open>\()|\s+|."
)
# polars' error: unable to find column "x"; valid columns: ["a", "b"]
_NO_COLUMN = re.compile(r"unable to find column \"([^\"]*)\"; valid columns: \[(.*)")
_NO_TABLE = re.compile(r"relation '([^']*)' was not found")


def ask(store: Store, sql: str) -> pl.DataFrame:
    """The answer to one SELECT (or WITH, SHOW TABLES, DESCRIBE, EXPLAIN) over the tables of the store.

    Only the named tables are opened. If `run_id` is compared with fixed values, only the files of these runs are
    opened. A query of a judged table first judges the runs that are not judged yet. Raises StoreError for a statement
    that does more than read these tables, and for an unknown table or column, with the nearest name.

    >>> import tempfile
    >>> from loganalyst import Store
    >>> store = Store(tempfile.mkdtemp())
    >>> _ = store.ingest(["fixtures/runs/nan-lr"])
    >>> ask(store, "SELECT count(*) AS n FROM points").item()
    2211
    >>> ask(store, "DESCRIBE gaps")["column"].to_list()
    ['run_id', 'file', 'offset', 'bytes', 'why']
    """
    words = _words(sql)
    if sql.split(maxsplit=1)[0].upper() == "DESCRIBE":
        return _described(store, sql)
    frames = {name: store.table(name) if name in words else pl.LazyFrame() for name in ALL_TABLES}
    try:
        return pl.SQLContext(frames).execute(sql, eager=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        store.check(words.intersection(ALL_TABLES))  # says more about a missing file than polars
        raise _refused(str(error)) from None


def _described(store: Store, sql: str) -> pl.DataFrame:
    """`DESCRIBE`: the tables with meaning and rows. `DESCRIBE TABLE`: its columns with type, unit and meaning."""
    named = sql.strip().rstrip(";").split()[1:]
    if not named:
        return pl.DataFrame(
            [(name, store.rows(name), meanings.TABLES[name]) for name in ALL_TABLES],
            schema={"table": pl.String, "rows": pl.Int64, "a row is": pl.String},
            orient="row",
        )
    table = named[0].strip('"').lower()
    if len(named) > 1:
        raise _error(f"DESCRIBE with {len(named)} names", "DESCRIBE takes one table, or none to list them all")
    if table not in ALL_TABLES:
        raise _error(f"no table {table!r}", _known(table, ALL_TABLES, "DESCRIBE lists them: "))
    return pl.DataFrame(meanings.columns(table), schema=list(meanings.Column._fields), orient="row")


def _known(name: str, known: Collection[str], lead: str) -> str:
    """The nearest of the known names; if none is similar, the first of them."""
    return (
        nearest(name, known)
        or f"{lead}{', '.join([*known][:MAX_LISTED_NAMES])}{' …' if len(known) > MAX_LISTED_NAMES else ''}"
    )


def _words(sql: str) -> set[str]:
    """The names in a statement, in lower case. Raises StoreError if it may do more than read these tables."""
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
    if not words or words[0].upper() not in FIRST_WORDS:
        what = f"begins with {words[0]!r}" if words else "is empty"
        raise _error(what, f"a query begins with one of {', '.join(FIRST_WORDS)}")
    return set(words)


def _error(what: str, allowed: str) -> StoreError:
    return StoreError("query", what, allowed)


def _refused(text: str) -> StoreError:
    """The error for a message of polars, with the nearest existing name."""
    if found := _NO_TABLE.search(text):
        return _error(f"no table {found[1]!r}", _known(found[1], ALL_TABLES, "DESCRIBE lists them: "))
    if found := _NO_COLUMN.search(text):
        known = re.findall(r'"([^"]*)"', found[2])
        return _error(f"no column {found[1]!r}", _known(found[1], known, "there are "))
    return _error(text.partition("\n")[0], "DESCRIBE lists the tables, DESCRIBE TABLE the columns of one")


def json_lines(rows: pl.DataFrame) -> Iterator[str]:
    """One JSON object a row; NaN and infinities are the strings "NaN", "Infinity" and "-Infinity"."""
    for row in rows.iter_rows(named=True):
        text = json.dumps({name: _plain(value) for name, value in row.items()}, allow_nan=False, ensure_ascii=False)
        yield _TERMINAL_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value

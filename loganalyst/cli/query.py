"""`loganalyst query`."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import Output, StoreDir, emit, layout, screen


class Layout(StrEnum):
    """Output formats of a query."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"


@command(
    "A store of runs",
    'loganalyst query "SHOW TABLES" --store store/',
    'loganalyst query "SELECT path, status FROM runs" --store store/',
)
def query(
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help="A SELECT. SHOW TABLES lists the tables, DESCRIBE TABLE the columns of one.",
            show_default=False,
        ),
    ],
    *,
    store: StoreDir,
    format_: Annotated[Layout, layout(Layout)] = Layout.TABLE,
    output: Output = None,
) -> None:
    """Query a store in SQL.

    A query that uses features, feature_sources, findings or diagnoses first diagnoses the runs that were only read so
    far.
    """
    from loganalyst import query as asking
    from loganalyst.errors import StoreError
    from loganalyst.report.common import csvtext, grid
    from loganalyst.store import Store

    if not store.is_dir():
        raise StoreError(store, "there is no store", "`loganalyst ingest PATH --store DIR` creates one")
    kept = Store(store)
    if output is not None:
        kept.refuse([output])
    rows = asking.ask(kept, sql)
    if format_ is Layout.CSV:
        text = csvtext.render(rows)
    elif format_ is Layout.TABLE:
        stdout = screen()
        width = stdout["width"] if sys.stdout.isatty() and output is None else 1 << 15
        text = grid.render(rows, width, ascii_only=stdout["ascii_only"] and output is None)
    elif format_ is Layout.JSONL:
        text = "".join(f"{line}\n" for line in asking.json_lines(rows))
    else:
        text = "[" + ",\n".join(asking.json_lines(rows)) + "]\n"
    emit(text, output)

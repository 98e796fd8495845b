"""How sure it is that rows of text are a table of metrics."""

from pathlib import Path

from loganalyst import filemeasure
from loganalyst.sources.discovery.filenames import may_be_table
from loganalyst.sources.tables import cells, csvexports, csvheader, stepcolumns
from loganalyst.sources.tables.stepcolumns import normalised

_WRITERS = ("metrics.csv", "progress.csv", "results.csv", "monitor.csv")
MONITOR = {"r", "l", "t"}  # Stable-Baselines3's monitor: return, length and end (seconds) of each episode
MIN_ROWS = 3  # of a table in a text, whose header has no counter


def likeness(path: Path, header: list[str], body: list[list[str]], *, ends_blank: bool) -> float:
    """`ends_blank`: each line ends with a separator, as those of Torch7's logger do."""
    listed = csvexports.comparison(header)
    counted = (not listed and bool(stepcolumns.matching(header, stepcolumns.COUNTERS))) or set(header) >= MONITOR
    if path.suffix.lower() not in {".csv", ".tsv"}:
        return _likeness_of_text(path, header, body, counted=counted, ends_blank=ends_blank)
    widths = [len(row) for row in body if len(row) > 1]
    if len(header) == 1 and len(widths) > 1 and min(widths) > 1 and len(widths) == len(body):
        return 0.0  # a title stands above the names: a text with a table in it
    if counted:
        return 1.0 if path.name.lower().endswith(_WRITERS) else 0.9
    if len(body) > 1 and not cells.numeric(header) and all(map(csvheader.is_unheaded, (header, *body))):
        return 0.6
    # a log has a loss and may have times; without a loss, times look like a list of files
    times = stepcolumns.TIMES if any("loss" in normalised(name) for name in header) else ()
    last = zip(header, body[-1], strict=False) if body else ()
    listing = listed or not cells.all_numbers([cell for name, cell in last if cell and normalised(name) not in times])
    return 0.2 if listing else 0.5


def _likeness_of_text(
    path: Path, header: list[str], body: list[list[str]], *, counted: bool, ends_blank: bool
) -> float:
    """The same for a file that is not named as a table: all rows are numbers below a header of names."""
    alike = len(body) > 1 and all(len(row) == len(header) and cells.numeric(row) for row in body)
    if not alike:
        return 0.0
    if len(header) == 1 and cells.numeric(header):
        return 0.6 if may_be_table(path.name) else 0.0  # losses.txt
    measured = any(map(filemeasure.says_measure, filemeasure.named(header, path)))
    named = len(body) >= MIN_ROWS and not any(map(cells.is_number, header)) and (measured or ends_blank)
    if named and counted and measured:
        return 0.9
    return 0.6 if named or (counted and len(header) > 1) else 0.0

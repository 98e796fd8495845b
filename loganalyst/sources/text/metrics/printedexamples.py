"""Whether the example lines of `prints` in `rules/trainers` are read as they state."""

from collections.abc import Iterator

import polars as pl

from loganalyst.errors import RuleError
from loganalyst.model import Time
from loganalyst.sources.text.lines.numberwords import SLOT
from loganalyst.sources.text.metrics import lineforms, printedforms
from loganalyst.sources.text.metrics.printedmetrics import parse
from loganalyst.sources.text.metrics.shapeparts import MIN_LINES
from loganalyst.sources.text.patterns import userpatterns
from loganalyst.sources.text.patterns.userpatterns import OwnPatterns
from loganalyst.trainerfiles import Print, trainer_files


def faults(own: OwnPatterns) -> tuple[RuleError, ...]:
    """The errors in `prints` of the user's own trainers."""
    with userpatterns.reading_with(own.folders):
        return (*printedforms.faults(own), *_misread(own))


def why_misread(entry: Print) -> str:
    """What is wrong with the example of an entry; empty if it is read as stated."""
    (form,) = lineforms.learn(pl.Series([entry.line]))
    if printedforms.in_plain_words(form.text) is None:
        return f"the example is no such line: its form is {form.text.replace(SLOT, printedforms.NUMBER)!r}"
    lines = pl.DataFrame({"text": [entry.line] * MIN_LINES}).with_columns(
        line=pl.int_range(1, pl.len() + 1), session=pl.lit(0, pl.Int32), time=pl.lit(None, Time)
    )
    points = parse(lines).unique("metric", keep="first", maintain_order=True)
    read = dict(points.select("metric", "value").iter_rows())
    if read != dict(entry.reads):
        return f"the example is read as {read}"
    place = {name: points[name].max() for name, stated in _place(entry).items() if stated != points[name].max()}
    return f"the example is read at {place}" if points.height and place else ""


def _place(entry: Print) -> dict[str, float]:
    """The place that the entry states: step and epoch."""
    stated = {"step": entry.step, "epoch": entry.epoch}
    return {name: value for name, value in stated.items() if value is not None}


def _misread(own: OwnPatterns) -> Iterator[RuleError]:
    refused = {fault.where for fault in printedforms.faults(own)}
    read, ours = trainer_files(own.folders), trainer_files().shapes
    for name in sorted(read.shapes.keys() - ours.keys()):
        for i, entry in enumerate(read.shapes[name].prints):
            where = read.files[name].where("prints", i, "regex")
            if where not in refused and (why := why_misread(entry)):
                yield RuleError(where, why, "reads, step and epoch must be what the line says")

"""`loganalyst ingest`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import MAX_PATH, NOTHING, USAGE, StoreDir, TrustRuns, complain, emit


@command("A store of runs", "loganalyst ingest experiments/ --store store/")
def ingest(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Runs, files, or folders of runs.", show_default=False, readable=False),
    ],
    *,
    store: StoreDir,
    processes: Annotated[int, typer.Option("--processes", min=1, metavar="N", help="Number of processes.")] = 1,
    trust_run_settings: TrustRuns = False,
) -> None:
    """Read new and changed runs into a store.

    The store is created if it does not exist. If a file only grew, just the appended part is read. Exits with 2 if a
    PATH could not be read.
    """
    from loganalyst.progressbar import Bar
    from loganalyst.report.common.wording import clean
    from loganalyst.store import Store

    counts = {"read": 0, "unchanged": 0, "failed": 0, "copy": 0}
    points, named, lost = 0, {os.path.abspath(path) for path in paths}, False
    bar, kept = Bar(), Store(store)
    for outcome in kept.readings(kept.below(paths), processes, trust_run_settings=trust_run_settings):
        counts[outcome.what] += 1
        points += outcome.points
        if outcome.what == "read":
            bar.clear()
            emit(f"{clean(outcome.path, MAX_PATH)}: {outcome.points:,} points\n")
        elif outcome.what == "failed":
            bar.clear()
            complain(outcome.why, USAGE)
            lost |= outcome.path in named
        bar.show(sum(counts.values()), points)
    bar.clear()
    for fault in kept.faults:
        complain(fault, USAGE)
    emit(_summary(counts, points))
    raise typer.Exit(NOTHING if counts["read"] + counts["unchanged"] and not lost else USAGE)


def _summary(counts: Mapping[str, int], points: int) -> str:
    """How many runs were read, and why not the others."""
    text = "{read:,} runs read ({points:,} points), {unchanged:,} unchanged, {failed:,} not read"
    text += ", {copy:,} left out as copies" if counts["copy"] else ""
    return text.format(points=points, **counts) + "\n"

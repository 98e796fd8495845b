"""The runs that lose rows by a damaged file of a store. Missing rows are always an error, never an empty table.

A damaged segment stays in the ledger until all runs that had rows in it were read again (or judged again).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from loganalyst.store.columns import JUDGED, KEPT, READ
from loganalyst.store.ledger import HEALING, DamagedError

if TYPE_CHECKING:
    from loganalyst.store.tablefiles import Folder

MAX_NAMED_RUNS = 3  # in an error
JUDGED_AGAIN = "they are judged again by the next command that can write the store"
BACKUP = "restore the file from a backup, or `loganalyst ingest` sets it aside"


def check(folder: "Folder", name: str, only: set[str] | None = None) -> None:
    """Raise DamagedError where rows of a small table are missing: of the runs `only`, or (None) of any run."""
    group = group_of(name)
    damaged = {**folder.damaged(name), **folder.damaged(group[-1])}
    if not damaged:
        return
    file, why = next(iter(damaged.items()))
    if name in KEPT:
        raise DamagedError(file, f"{why}: rows of {name} are missing", BACKUP)
    runs = affected(folder, group, damaged)
    unknown = bool(folder.damaged(group[-1]))
    if only is not None:
        runs, unknown = runs & only, unknown and not only.issubset(folder.counting(group[-1])["run_id"])
    if runs or unknown:
        allowed = HEALING if name in READ else JUDGED_AGAIN
        raise DamagedError(file, f"{why}: rows of {name} are missing, {named(folder, runs)}", allowed)


def check_big(folder: "Folder", name: str) -> None:
    """Raise DamagedError where a big table of a run is damaged."""
    runs = folder.heights(name)
    rows = ((run, path, folder.unsound(name, run, seals)) for run, path, seals in runs.iter_rows())
    if found := [row for row in rows if row[2]]:
        run, _, why = found[0]
        raise lost(folder.run_file(name, run), why, [path for _, path, _ in found])


def lost(file: Path, why: str, paths: list[str]) -> DamagedError:
    """The error for a damaged big table of the runs at these paths; `file` is that of the first run."""
    shown = ", ".join(paths[:MAX_NAMED_RUNS]) + (", …" if len(paths) > MAX_NAMED_RUNS else "")
    return DamagedError(file, f"{why}: rows of {file.stem} are missing, of {len(paths):,} runs ({shown})", HEALING)


def group_of(name: str) -> tuple[str, ...]:
    """The tables that are written together with this one; the last of them decides which rows count."""
    return READ if name in READ else JUDGED if name in JUDGED else (name,)


def affected(folder: "Folder", group: tuple[str, ...], damaged: Iterable[Path] | None = None) -> set[str]:
    """The runs that had rows in damaged segments of these tables (None: in all), and have no newer rows."""
    if damaged is None:
        damaged = [file for name in group for file in folder.damaged(name)]
    spans = {folder.span(file) for file in damaged}
    if not spans:
        return set()
    newest = dict(folder.counting(group[-1]).select("run_id", "newest").iter_rows())
    dropped = folder.ledger().dropped if group is READ else {}
    found = set[str]()
    for first, last in spans:
        had = {run for name in group for run in folder.within(name, first, last)}
        found |= {run for run in had if max(newest.get(run, 0), dropped.get(run, 0)) <= last}
    if group is JUDGED and found:  # runs that were dropped are not judged again
        found &= affected(folder, READ).union(folder.counting(READ[-1])["run_id"])
    return found


def named(folder: "Folder", runs: set[str]) -> str:
    """The runs in words, for an error."""
    if not runs:
        return "of unknown runs"
    paths = folder.paths(runs)
    shown = ", ".join(paths.get(run) or run for run in sorted(runs)[:MAX_NAMED_RUNS]) + (
        ", …" if len(runs) > MAX_NAMED_RUNS else ""
    )
    return f"of {len(runs):,} runs ({shown})"

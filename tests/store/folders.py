"""Folders of a store, for tests of their files."""

from pathlib import Path

import polars as pl

from loganalyst.store.columns import READ
from loganalyst.store.tablefiles import Folder


def add(folder: Folder, *runs: str, path: str = "p") -> None:
    """A batch of runs, as a reading writes it."""
    rows = pl.DataFrame({"run_id": list(runs), "path": path}, schema_overrides={"run_id": pl.String})
    sources = pl.DataFrame({"run_id": list(runs), "path": [f"{path}.csv"] * len(runs)})
    folder.append(READ, {name: {"runs": [rows], "sources": [sources]}.get(name, []) for name in READ})


def make_folder(path: Path, **limits: int) -> Folder:
    (path / "tables").mkdir(parents=True)
    return Folder(path, **limits)

"""A file may hold several runs (MLflow's SQLite store): one of them is addressed as ``FILE#RUN``."""

import os
from pathlib import Path

LOGS = ("-wal", "-journal")  # beside SQLite's file: changes that are not in it yet, or half in it


def split(path: Path) -> tuple[Path, str]:
    """The file that `path` names and the run in it; no run (empty) where `path` is a file or folder as it stands."""
    file, mark, run = str(path).rpartition("#")
    if mark and run and not os.path.lexists(path) and os.path.isfile(file):
        return Path(file), run
    return path, ""

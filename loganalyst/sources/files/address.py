"""Addresses of runs in a file that holds several (MLflow's SQLite store): ``FILE#RUN``."""

import os
from pathlib import Path

CHANGE_LOGS = ("-wal", "-journal")  # next to SQLite's file: changes that are not in it yet, or only in part


def split(path: Path) -> tuple[Path, str]:
    """The file that `path` names, and the run in it. The run is empty if `path` itself is a file or folder."""
    file, mark, run = str(path).rpartition("#")
    if mark and run and not os.path.lexists(path) and os.path.isfile(file):
        return Path(file), run
    return path, ""

"""The user's own healthy runs as a reference, in a folder of the user's rules."""

import math
import os
from hashlib import blake2b
from pathlib import Path

import polars as pl

from loganalyst import guard, pipeline
from loganalyst.diagnosis.healthyruns import FOLDER
from loganalyst.errors import LogAnalystError, SourceError
from loganalyst.evaluate.reference import HEALTHY, asked, reference, text
from loganalyst.store import Store
from loganalyst.writing import write_whole

HEAD = "Written by `loganalyst reference add`; do not edit."


def add_reference(store: str | Path | Store, folder: str | Path = ".") -> Path:
    """Write the reference of the runs of a store that were confirmed as healthy, and return its path.

    It is a file in `reference/` of a `folder` of the user's own rules, one for each store. A diagnosis with these rules
    compares values with the user's runs as well as with ours; each of the user's runs counts fully.

    Raises SourceError where no run of the store was confirmed as healthy, StoreError, and LogAnalystError where the
    file lies in a run or cannot be written.

    >>> import tempfile
    >>> import loganalyst as la
    >>> store = la.Store(tempfile.mkdtemp())
    >>> _ = store.ingest(["fixtures/runs/healthy-rl"])
    >>> _ = la.confirm("fixtures/runs/healthy-rl", "none", store=store)
    >>> la.add_reference(store, tempfile.mkdtemp())
    PosixPath('...reference/...yaml')
    """
    opened = store if isinstance(store, Store) else Store(store)
    path = Path(folder, FOLDER, _name(opened.path))
    guard.check([path], [guard.Read(run) for run in opened.runs.select("path").collect()["path"]])
    healthy = opened.truths.filter(label=HEALTHY).select("run_id", "path")
    runs = healthy.join(opened.features, on="run_id").sort("path").collect()
    if not runs.height:
        raise _nothing_confirmed(opened.path, healthy.collect()["path"])
    homes = [os.path.dirname(run) for run in runs["path"]]
    found = reference(runs, homes, asked(pipeline.catalogue()), least=(1, 1), most=math.inf)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogAnalystError(path.parent, f"cannot be made ({error.strerror})", "-o takes a folder") from None
    write_whole(path, text(found, HEAD), "-o takes a folder")
    return path


def _nothing_confirmed(store: Path, healthy: pl.Series) -> SourceError:
    """Why there is nothing to write, and the next step. `healthy`: paths of confirmed runs, none of which was read."""
    if len(healthy):
        what = f"holds no numbers of {healthy[0]}, which was confirmed as healthy"
        return SourceError(store, what, f"`loganalyst ingest RUN --store {store}` reads them")
    if not store.is_dir():
        return SourceError(store, "there is no store", "`loganalyst ingest PATH --store DIR` creates one")
    hint = f"`loganalyst confirm RUN none --store {store}` confirms one that was ingested"
    return SourceError(store, "holds no run that was confirmed as healthy", hint)


def _name(store: Path) -> str:
    """The file of a store: its name, and a hash of its path."""
    real = os.path.realpath(store)
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in os.path.basename(real)).strip("-")
    return f"{plain or 'store'}-{blake2b(os.fsencode(real), digest_size=4).hexdigest()}.yaml"

"""The store as users have it: runs are read and judged into its tables, and the tables are polars frames."""

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst import guard
from loganalyst.errors import StoreError, nearest
from loganalyst.limits import Limits
from loganalyst.model import Run
from loganalyst.processes.eachitem import Workers
from loganalyst.sources.assemble import run_id
from loganalyst.sources.discovery.runs import discover
from loganalyst.sources.filetables import BIG
from loganalyst.store import ingestion, judging, runrows
from loganalyst.store.batch import Batch
from loganalyst.store.changedruns import Below, Damage
from loganalyst.store.columns import ALL_TABLES, JUDGED, schema
from loganalyst.store.damage import check_big
from loganalyst.store.ledger import DamagedError
from loganalyst.store.outcome import Outcome
from loganalyst.store.tablefiles import Folder
from loganalyst.store.writer import PATIENCE, Writer, store_errors


class Store:
    """The store in folder `path`, made when it is first written. Tables are properties that give polars LazyFrames.

    Before a command writes, it waits `patience` seconds for another process that writes. Raises StoreError where the
    folder holds something else, and, when it is first written, where it lies in a run.

    >>> import tempfile
    >>> import loganalyst as la
    >>> store = la.Store(tempfile.mkdtemp())
    >>> store.ingest(["fixtures/runs/nan-lr"])
    {'...nan-lr': 'read'}
    >>> store.points.filter(metric="train/loss").collect().height
    661
    """

    def __init__(self, path: str | Path, *, patience: float = PATIENCE) -> None:
        self.path = Path(path)
        self._batch: type[Batch[Any]] | partial[Batch[Any]] = Batch
        self._folder = Folder(self.path)
        self._only: set[str] | None = None
        self.faults: list[str] = []  # damage that was found, and what is done about it
        with store_errors(self.path):
            names = {file.name for file in self.path.iterdir()} if os.path.lexists(self.path) else set()
            self._writer = Writer(self.path, patience, self.faults)
        if names and not names & {"state.sqlite", "lock.sqlite", "lock", "scan-lock"}:
            raise StoreError(self.path, "is no store: it holds other files", "an empty or a new folder is needed")

    def __getattr__(self, name: str) -> pl.LazyFrame:
        if name in ALL_TABLES:
            return self.table(name)
        raise AttributeError(f"a store has no table {name!r}; it has {', '.join(ALL_TABLES)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ALL_TABLES]

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}; tables {', '.join(ALL_TABLES)})"

    def ingest(
        self, paths: Iterable[str | Path], processes: int = 1, *, trust_run_settings: bool = False
    ) -> dict[str, str]:
        """Read every run at or below `paths` that changed. The result maps the path of each run to "read", "unchanged"
        or the reason why it was not read. `trust_run_settings`: obey a loganalyst.yaml in a run, or between it and
        `paths`, too.

        >>> import tempfile
        >>> import loganalyst as la
        >>> list(la.Store(tempfile.mkdtemp()).ingest(["no/such/run", "fixtures/runs/nan-lr"]).values())
        ['...no such file or directory; ...', 'read']
        """
        done = self.readings(self.below(paths), processes, trust_run_settings=trust_run_settings)
        return {o.path: f"a copy of {o.why}" if o.what == "copy" else o.why or o.what for o in done}

    def below(
        self,
        paths: Iterable[str | Path],
        writes: Iterable[str | Path | None] = (),
        seconds: float | None = None,
    ) -> Below:
        """The runs at or below `paths`, to be read. Raises LogAnalystError where the store, or a file or folder of
        `writes` (paths to be written too), belongs to one of them or lies in any run. `seconds`: the time that a file
        may take to list its runs.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> len(store.below(["fixtures/runs/nan-lr"]).met)
        1
        """
        found = Below(paths, seconds)
        found.refuse([self.path, *writes])
        return found

    def readings(
        self,
        below: Below,
        processes: int = 1,
        limits: Limits | None = None,
        *,
        full: bool = False,
        trust_run_settings: bool = False,
        workers: Workers | None = None,
    ) -> Iterator[Outcome]:
        """As `ingest`, run by run as they are done, each within `limits`. With `full`, unchanged runs are read too.
        Results are written every few seconds, and when the iterator is closed. `workers` replace our processes.

        Raises StoreError where the store cannot be written, or another process writes for longer than `patience`
        seconds.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> [outcome.what for outcome in store.readings(store.below(["fixtures/runs/nan-lr"]))]
        ['read']
        """
        with self._writer.writing(self._folder) as state:
            damage = Damage(self._writer.lost, self.run_file, self.faults)
            tasks = ingestion.work(self._folder, state, below, damage, full=full, trusted=trust_run_settings)
            batch = self._batch(partial(ingestion.write, self._folder, state))
            yield from ingestion.read_all(tasks, batch, processes, limits, workers)

    def diagnose(self, ids: Iterable[str] | None = None, processes: int = 1) -> dict[str, str]:
        """Judge the runs (of `ids`; None: all) that were not judged since they were read. The result maps the id of
        each run to "judged", or to the reason why not.

        Raises StoreError where the store cannot be written, or another process writes for longer than `patience`
        seconds.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> list(store.diagnose().values()), list(store.diagnose().values())
        (['judged'], [])
        """
        return {o.run: o.why or o.what for o in self.judgings(ids, processes)}

    def judgings(
        self,
        ids: Iterable[str] | None = None,
        processes: int = 1,
        limits: Limits | None = None,
        patience: float | None = None,
        workers: Workers | None = None,
    ) -> Iterator[Outcome]:
        """As `diagnose`, run by run as they are done, each within `limits` (None: in this process, without limits);
        `patience` replaces the store's, and `workers` are as in `readings`.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> [outcome.what for outcome in store.judgings()]
        ['judged']
        """
        wanted = None if ids is None else set(ids)
        if self.unjudged(wanted).height:
            with self._writer.writing(self._folder, patience):
                batch = self._batch(partial(judging.write, self._folder))
                yield from judging.judge_all(
                    self._folder, wanted, into=batch, processes=processes, limits=limits, workers=workers
                )

    def unjudged(self, ids: set[str] | None = None) -> pl.DataFrame:
        """`run_id` and `written` (the stamp of its reading) of each run, of `ids`, that was not judged since.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.unjudged().height
        1
        """
        return judging.unjudged(self._folder, ids)

    def table(self, name: str) -> pl.LazyFrame:
        """One table over all runs. For a judged table (features, feature_sources, findings, diagnoses), runs that are
        not judged yet are judged first, unless the store cannot be written just now. Raises DamagedError where rows
        that were written are gone.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.table("diagnoses").collect()["label"].item()
        'lr_too_high'
        """
        if name in JUDGED:
            try:
                for _ in self.judgings(self._only, patience=0.0):
                    pass
            except DamagedError:
                raise
            except StoreError:
                pass
        found = self._folder.scan(name, self._only)
        return found if self._only is None else found.filter(pl.col("run_id").is_in(list(self._only)))

    def of(self, runs: Iterable[str]) -> "Store":
        """The store reduced to the runs of these ids: its tables hold only their rows, and damage to other runs is no
        error.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.of(["no such id"]).points.collect().height
        0
        """
        found = copy(self)
        found._only = set(runs)
        return found

    def heal(self) -> None:
        """Repair damage, as every command that writes does first; `faults` lists what was damaged.

        Raises StoreError where the store cannot be written, or another process writes for longer than `patience`
        seconds.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> store.heal()
        >>> store.faults
        []
        """
        with self._writer.writing(self._folder):
            pass

    def check(self, names: Iterable[str]) -> None:
        """Raise DamagedError, which names the runs whose rows are missing, where one of these big tables is damaged.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.check(["points"])  # sound
        """
        for name in names:
            if name in BIG:
                check_big(self._folder, name)

    def rows(self, name: str) -> int | None:
        """How many rows a table has; None for a judged table while runs wait to be judged.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.rows("points"), store.rows("diagnoses")
        (2211, None)
        """
        if name in JUDGED and self.unjudged().height:
            return None
        if name in BIG:  # counted in `runs`: no file of a run is opened
            return int(self._folder.scan("runs").select(pl.col(name).sum()).collect().item() or 0)
        return int(self._folder.scan(name).select(pl.len()).collect().item())

    def run(self, run_id: str) -> Run:
        """One run, as `read_run` of its path gives it. Raises StoreError for an id the store does not have.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> id_, path = store.find("fixtures/runs/nan-lr")
        >>> store.run(id_).points.height
        2211
        """
        if found := runrows.load(self._folder, [run_id]):
            return found[0]
        known = self.runs.select("run_id").collect()["run_id"].to_list()
        raise StoreError(self.path, f"has no run {run_id!r}", nearest(run_id, known) or "the table runs has the ids")

    def find(self, run: str | Path) -> tuple[str, str]:
        """Id and path of a run that is named by its path, by its id in the store, or by an unambiguous beginning of it.

        Raises SourceError for a path without a run, StoreError for an unknown id.

        >>> import tempfile
        >>> import loganalyst as la
        >>> id_, path = la.Store(tempfile.mkdtemp()).find("fixtures/runs/nan-lr")
        >>> len(id_), path.endswith("nan-lr")
        (12, True)
        """
        if os.path.lexists(run):
            root = discover(Path(run)).root
            return run_id(root), os.path.abspath(root)
        ids = self.runs.filter(pl.col("run_id").str.starts_with(str(run))).select("run_id", "path").collect()
        if ids.height == 1:
            return ids.row(0)
        problem = f"begins the ids of {ids.height} runs" if ids.height else "is no path, and no run of the store"
        raise StoreError(
            run, problem, f"{', '.join(ids['run_id'][:5]) or 'a path, or an id in the table runs'} is needed"
        )

    def keep(self, name: str, rows: pl.DataFrame) -> None:
        """Add rows to a table that cannot be made again (`truths`, `verifications`), in its columns.

        Raises StoreError where the store cannot be written, or another process writes for longer than `patience`
        seconds.

        >>> import tempfile
        >>> import loganalyst as la, polars as pl
        >>> store = la.Store(tempfile.mkdtemp())
        >>> columns = dict.fromkeys(store.truths.collect_schema()) | {"run_id": "3f9a1c02b7de", "label": "lr_too_high"}
        >>> store.keep("truths", pl.DataFrame(columns))
        >>> store.truths.collect()["label"].item()
        'lr_too_high'
        """
        with self._writer.writing(self._folder):
            self._folder.append([name], {name: [rows.select(schema(name).names()).cast(schema(name))]})

    def refuse(self, targets: Iterable[str | Path | None]) -> None:
        """Raise LogAnalystError where a file to be written belongs to a run of the store, or lies in any run.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.refuse(["report.md"])  # allowed
        >>> store.refuse(["fixtures/runs/nan-lr/report.md"])
        Traceback (most recent call last):
        loganalyst.errors.LogAnalystError: ...
        """
        wanted = [Path(target) for target in targets if target is not None]
        guard.check(wanted, self._of_same_names([target.name for target in wanted]))

    def _of_same_names(self, names: Sequence[str]) -> Iterator[guard.Read]:
        """The runs of the store, with those of their files that lie elsewhere (joined logs) or have such a name."""
        path = pl.col("path").str
        alike = pl.any_horizontal([path.starts_with("/"), *map(path.ends_with, names)])
        files = self.sources.filter(alike).group_by("run_id").agg("path").collect()
        runs = self.runs.select("run_id", root="path").collect().join(files, on="run_id", how="left")
        for root, found in runs.select("root", "path").iter_rows():
            yield guard.Read(root, tuple(os.path.join(root, file) for file in found or ()), walk=str(self.path))

    def run_file(self, name: str, run_id: str) -> Path:
        """The path of a big table of one run; no folder is scanned to find it.

        >>> import tempfile
        >>> import loganalyst as la
        >>> la.Store(tempfile.mkdtemp()).run_file("points", "3f9a1c02b7de").as_posix()
        '...runs/3f/run_id=3f9a1c02b7de/points.parquet'
        """
        return self._folder.run_file(name, run_id)

    def make(self) -> None:
        """Make the folder if there is none. Raises StoreError where it lies in a run, or cannot be made.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import loganalyst as la
        >>> store = la.Store(Path(tempfile.mkdtemp(), "store"))
        >>> store.make()
        >>> store.path.is_dir()
        True
        """
        self._writer.make()

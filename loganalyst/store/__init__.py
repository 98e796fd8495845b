"""A cache of what was read and found: Parquet files any tool can open, and fingerprints that say what is unchanged.

What was read and judged can be deleted and is made again from the runs; what the user confirmed, and which fixes were
verified, cannot. See docs/store.md.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from loganalyst import guard
from loganalyst.errors import LogAnalystError, StoreError, nearest
from loganalyst.limits import Limits
from loganalyst.model import Run
from loganalyst.processes import NotStartedError, Ready, Workers, each
from loganalyst.sources.assemble import run_id
from loganalyst.sources.discovery.accountingdumps import jobs as dumped_jobs
from loganalyst.sources.discovery.runs import discover
from loganalyst.sources.filetables import BIG
from loganalyst.store import changedruns, judgedrows, lock, runreading, runrows
from loganalyst.store.changedruns import Below
from loganalyst.store.damage import check_big
from loganalyst.store.healing import heal
from loganalyst.store.judgedrows import Judged
from loganalyst.store.ledger import DamagedError
from loganalyst.store.runreading import Done, Task
from loganalyst.store.state import State, opened
from loganalyst.store.tablefiles import ALL_TABLES, JUDGED, READ, Folder, schema

__all__ = ["Below", "Outcome", "Store", "dumped_jobs"]

RUNS = 1000  # runs read, or
SECONDS = 5.0  # seconds gone by, before what was read is written down
JUDGED_AT_ONCE = 100
PATIENCE = 600.0  # seconds to wait for another process that writes


class Outcome(NamedTuple):
    """What became of one run (`run` is its id): `read`, `unchanged`, `judged`, `reported` (its report was written),
    `copy` (left out; `why` is the file it is a copy of), or `failed` and why. `points` counts those of a run just
    read.
    """

    path: str
    what: Literal["read", "unchanged", "judged", "reported", "copy", "failed"]
    why: str = ""
    points: int = 0
    run: str = ""


class Store:
    """The store in folder `path`, made when it is first written. Tables are properties that give polars LazyFrames.

    Raises StoreError where the folder holds something else; where it lies in a run, once it is to be written.

    >>> import tempfile
    >>> import loganalyst as la
    >>> store = la.Store(tempfile.mkdtemp())
    >>> store.ingest(["fixtures/runs/nan-lr"])
    {'...nan-lr': 'read'}
    >>> store.points.filter(metric="train/loss").collect().height
    661
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._folder = Folder(self.path)
        self._network = False
        self._lost = set[str]()
        self._only: set[str] | None = None
        self.faults: list[str] = []  # what was found damaged, and what is done about it
        with _told(self.path):
            names = {file.name for file in self.path.iterdir()} if os.path.lexists(self.path) else set()
            self._network = lock.on_network(self.path)
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
        """Read every run at or below `paths` that changed; path of the run -> "read", "unchanged" or why it was not
        read (it may be a copy of another).
        `trust_run_settings`: a loganalyst.yaml that lies in a run, or between it and `paths`, is obeyed too.

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
        """The runs at or below `paths`, to be read. Raises LogAnalystError where the store, or one of the files and
        folders `writes` that are to be written too, belongs to one of them or lies in any run. `seconds`: what a file
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
        """As `ingest`, run by run as they are done, each within `limits`; `full`: unchanged ones too. What was read is
        written down every few seconds, and when the iterator is closed. `workers` do it in place of our processes.

        Raises StoreError where the store cannot be written, or another process writes for longer than PATIENCE.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> [outcome.what for outcome in store.readings(store.below(["fixtures/runs/nan-lr"]))]
        ['read']
        """
        with self._writing() as state:
            batch: list[Done] = []
            since = time.monotonic()
            try:
                work = self._work(below, state, full=full, trusted=trust_run_settings)
                for done in each(_read, work, processes, _died, limits, workers=workers):
                    if isinstance(done, Done):
                        batch.append(done)
                    if len(batch) >= RUNS or time.monotonic() - since > SECONDS:
                        self._keep(batch, state)
                        batch, since = [], time.monotonic()
                    yield _outcome(done) if isinstance(done, Done) else done
            finally:
                self._keep(batch, state)

    def _work(self, below: Below, state: State, *, full: bool, trusted: bool) -> Iterator[Task | Ready[Done | Outcome]]:
        """What is to be read, and the outcome of what is not."""
        damage = changedruns.Damage(self._lost, self.run_file, self.faults)
        for found in changedruns.runs(below, state, full=full, trusted=trusted, damage=damage):
            if isinstance(found, changedruns.Changed):
                places = {name: self.run_file(name, found.note.run) for name in BIG}
                folder = self._folder.temporary / found.note.run
                yield Task(found.found, found.note, found.known, places, folder, found.rules, found.chosen)
            elif found.original:
                yield Ready(Outcome(found.path, "copy", found.original))
            else:
                yield Ready(Outcome(found.path, "failed" if found.why else "unchanged", found.why or "", run=found.run))

    def _keep(self, batch: Sequence[Done], state: State) -> None:
        """Put what was read into its place: big tables, small ones, then the notes. Whoever is killed in between
        leaves runs that count as changed.
        """
        read = [done for done in batch if not done.note.why]
        if read:
            files = [(file, done.task.written[name]) for done in read for name, file in done.files.items()]
            rows = {name: [d.rows[name] for d in read if name in d.rows] for name in READ}
            self._folder.append(READ, rows, files, {done.note.run: done.note.known.written for done in read})
        for done in read:
            for name in done.task.written.keys() - done.files.keys():
                done.task.written[name].unlink(missing_ok=True)
        state.note([done.note for done in batch])
        for folder in (done.task.folder for done in batch if done.task.folder.exists()):
            shutil.rmtree(folder, ignore_errors=True)

    def diagnose(self, ids: Iterable[str] | None = None, processes: int = 1) -> dict[str, str]:
        """Judge the runs (of `ids`; None: all) that were read and not judged since; run id -> "judged", or why not.

        Raises StoreError where the store cannot be written, or another process writes for longer than PATIENCE.

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
        patience: float = PATIENCE,
        workers: Workers | None = None,
    ) -> Iterator[Outcome]:
        """As `diagnose`, run by run as they are done, each within `limits` (None: in this process, without any);
        `workers` as in `readings`.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> [outcome.what for outcome in store.judgings()]
        ['judged']
        """
        wanted = None if ids is None else set(ids)
        if not self.unjudged(wanted).height:
            return
        with self._writing(patience):
            batch, broken = list[Judged](), list[DamagedError]()
            since = time.monotonic()
            try:
                work, given_up = self._to_judge(wanted), judgedrows.given_up
                for done in each(judgedrows.judge, work, processes, given_up, limits, workers=workers):
                    if done.damage is not None:
                        broken.append(done.damage)
                        continue
                    batch.append(done)
                    if len(batch) >= RUNS or time.monotonic() - since > SECONDS:
                        self._keep_judged(batch)
                        batch, since = [], time.monotonic()
                    why = done.rows["diagnoses"]["why"][0]
                    yield Outcome(done.task.path, "failed" if why else "judged", why or "", run=done.task.run_id)
            finally:
                self._keep_judged(batch)
            if broken:
                raise broken[0]

    def _to_judge(self, ids: set[str] | None) -> Iterator[judgedrows.Task]:
        for some in self.unjudged(ids).iter_slices(JUDGED_AT_ONCE):
            yield from judgedrows.tasks(self._folder, dict(some.select("run_id", "written").iter_rows()))

    def _keep_judged(self, batch: Sequence[Judged]) -> None:
        if batch:
            self._folder.append(JUDGED, {name: [done.rows[name] for done in batch] for name in JUDGED})

    def unjudged(self, ids: set[str] | None = None) -> pl.DataFrame:
        """`run_id` and `written` (the stamp of its reading) of each run, of `ids`, that was not judged since.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.unjudged().height
        1
        """
        found = self._folder.unjudged(judgedrows.version())
        return found if ids is None else found.filter(pl.col("run_id").is_in(list(ids)))

    def table(self, name: str) -> pl.LazyFrame:
        """One table over all runs. A judged one (features, feature_sources, findings, diagnoses) judges first what was
        not judged yet; where the store cannot be written just now, what is there is given. Raises DamagedError where
        rows that were written are gone.

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
        """The store reduced to the runs of these ids: its tables hold their rows alone, and damage of others is none.

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
        """Put right what is damaged, as every command that writes does first; `faults` says what was.

        Raises StoreError where the store cannot be written, or another process writes for longer than PATIENCE.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> store.heal()
        >>> store.faults
        []
        """
        with self._writing():
            pass

    def check(self, names: Iterable[str]) -> None:
        """Raise DamagedError, which says whose rows are missing, where one of these big tables is damaged.

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
        """How many rows a table has; None for a judged one while runs wait to be judged: nothing is judged to count.

        >>> import tempfile
        >>> import loganalyst as la
        >>> store = la.Store(tempfile.mkdtemp())
        >>> _ = store.ingest(["fixtures/runs/nan-lr"])
        >>> store.rows("points"), store.rows("diagnoses")
        (2211, None)
        """
        if name in JUDGED and self.unjudged().height:
            return None
        if name in BIG:  # told with each run: no file of a run is opened
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
        """Id and path of a run that is named by its path, or by the id of a run in the store or how only it begins.

        Raises SourceError for a path without a run, StoreError where neither is known.

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
        what = f"begins the ids of {ids.height} runs" if ids.height else "is no path, and no run of the store"
        raise StoreError(run, what, f"{', '.join(ids['run_id'][:5]) or 'a path, or an id in the table runs'} is needed")

    def keep(self, name: str, rows: pl.DataFrame) -> None:
        """Add rows to a table of what cannot be made again (`truths`, `verifications`), in its columns.

        Raises StoreError where the store cannot be written, or another process writes for longer than PATIENCE.

        >>> import tempfile
        >>> import loganalyst as la, polars as pl
        >>> store = la.Store(tempfile.mkdtemp())
        >>> columns = dict.fromkeys(store.truths.collect_schema()) | {"run_id": "3f9a1c02b7de", "label": "lr_too_high"}
        >>> store.keep("truths", pl.DataFrame(columns))
        >>> store.truths.collect()["label"].item()
        'lr_too_high'
        """
        with self._writing():
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
        """The runs of the store, of their files those that lie elsewhere (joined logs) or have one of these names."""
        path = pl.col("path").str
        alike = pl.any_horizontal([path.starts_with("/"), *map(path.ends_with, names)])
        files = self.sources.filter(alike).group_by("run_id").agg("path").collect()
        runs = self.runs.select("run_id", root="path").collect().join(files, on="run_id", how="left")
        for root, found in runs.select("root", "path").iter_rows():
            yield guard.Read(root, tuple(os.path.join(root, file) for file in found or ()), walk=str(self.path))

    def run_file(self, name: str, run_id: str) -> Path:
        """Where a big table of one run lies: no folder is scanned to open it.

        >>> import tempfile
        >>> import loganalyst as la
        >>> la.Store(tempfile.mkdtemp()).run_file("points", "3f9a1c02b7de").as_posix()
        '...runs/3f/run_id=3f9a1c02b7de/points.parquet'
        """
        return self._folder.run_file(name, run_id)

    def make(self) -> None:
        """Make the folder where there is none. Raises StoreError where it lies in a run, or cannot be made.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import loganalyst as la
        >>> store = la.Store(Path(tempfile.mkdtemp(), "store"))
        >>> store.make()
        >>> store.path.is_dir()
        True
        """
        try:
            guard.check([self.path])
        except LogAnalystError as error:
            raise StoreError(error.where, error.what, error.allowed) from None
        with _told(self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _writing(self, patience: float | None = None) -> Iterator[State]:
        """Be the one who writes. What others left half done is removed."""
        self.make()
        with (
            _told(self.path),
            lock.writing(self.path, PATIENCE if patience is None else patience),
            opened(self.path, network=self._network) as state,
        ):
            self._folder.clear()
            damaged = self._heal(state)
            yield state
            if damaged:  # what was read again needs no more than that
                self._heal(state)

    def _heal(self, state: State) -> bool:
        """Put right what is damaged. Whether anything was."""
        found = heal(self._folder, state.places, state.forget)
        self._lost = found.lost
        state.forget_runs(found.gone)  # one that comes back unchanged is to be read again
        if state.renewed:
            found.faults.append(f"{self.path / 'state.sqlite'}: was damaged: every run is read again")
            state.renewed = False
        self.faults += [fault for fault in found.faults if fault not in self.faults]
        return bool(found.faults)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Whatever keeps the store from being used is a StoreError."""
    try:
        yield
    except NotStartedError as error:
        raise StoreError(path, str(error), "or read with one process") from None
    except (OSError, sqlite3.Error) as error:
        raise StoreError(path, f"cannot be used as a store ({error})", "a folder that can be written") from None


def _read(task: Task) -> Done | Outcome:
    return runreading.read(task)


def _died(task: Task, why: str) -> Done | Outcome:
    return Outcome(str(task.found.root), "failed", f"{task.found.root}: {why}", run=task.note.run)


def _outcome(done: Done) -> Outcome:
    path = str(done.task.found.root)
    if done.note.why:
        return Outcome(path, "failed", done.note.why, run=done.note.run)
    return Outcome(path, "read", points=done.points, run=done.note.run)

"""Audits and scans of many runs: their speed, their memory, and how both grow.

    python tests/bench/audit_speed.py [--big 1000] [--growth 100,1000,10000] [--small 100000] [--files 100000]
                                      [--jobs 2] [--folder FOLDER]

`--big`: that many runs of 20 metrics x 5,000 steps, one event file each (six kinds of training, written by
TensorBoard's writer and copied under other names): audited once, then unchanged. The peer is what one does without this
tool: tbparse, for the first runs of the tree. `--growth`: trees of that many small runs (a table of 50 rows and a
configuration): the cost of a run, read and judged for the first time, then unchanged. `--small`: the same tree with so
many runs, audited again unchanged; `--files`: a scan of an unchanged tree of that many files, beside what `find` takes
to look at each of them. To read and judge so many would take hours: for these two the store is filled with copies of
what one run gives, under the ids and with the prints of all.

Each command is a process of its own. Its seconds are on the wall and of the processors, its memory the highest sum over
all its processes of what they hold (RSS: shared pages count in each). Processors that others use too are slower: what a
million squares take is told beside (a quiet machine: some 0.06 s). Nothing is run of a part whose number is 0. Linux
only.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst import Store, __version__
from loganalyst.sources.assemble import run_id
from loganalyst.sources.discovery.joining import Joiner
from loganalyst.sources.discovery.runs import Listed, listed
from loganalyst.store.notes import Joined, Note
from loganalyst.store.runreading import prints
from loganalyst.store.tablefiles import JUDGED, READ

STEPS = 5_000
LAYERS = 11
METRICS = ("train/loss", "val/loss", "train/accuracy", "val/accuracy", "lr", "grad_norm", "gpu_memory_gb",
           "samples_per_second", "epoch", *(f"grad_norm/layer_{i}" for i in range(LAYERS)))  # fmt: skip
KINDS = ("healthy", "diverged", "nan", "spikes", "plateau", "overfitting")
PEER_RUNS = 3
PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--big", type=int, default=1000)
    parser.add_argument("--growth", default="100,1000,10000")
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the trees are made (and removed afterwards)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loganalyst-bench-", dir=args.folder) as name:
        folder = Path(name)
        if args.big:
            big(folder, args.big, args.jobs)
        for count in [int(n) for n in args.growth.split(",") if int(n)]:
            growth(folder, count, args.jobs)
        if args.small:
            unchanged(folder, args.small, args.jobs)
        if args.files:
            scanned(folder, args.files, args.jobs)


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    wall: float
    cpu: float
    mebibytes: float
    processes: int

    def __str__(self) -> str:
        memory = f"{self.mebibytes:,.0f} MiB in {self.processes} processes"
        return f"{self.wall:8.1f} s   {self.cpu:8.1f} s of processors   {memory}"


def squares() -> float:
    """How slow the processors are just now: the seconds of a million squares."""
    began = time.process_time()
    sum(i * i for i in range(1_000_000))
    return time.process_time() - began


def say(what: str, cost: object, runs: int = 0) -> None:
    each = f"   {1e3 * cost.cpu / runs:.2f} ms of processors a run" if runs and isinstance(cost, Cost) else ""
    print(f"{what:40} {cost}{each}   (squares {squares():.2f} s)", flush=True)


def measured(*command: object) -> Cost:
    """The cost of a command and all its processes; its exit code must be 0."""
    began = time.perf_counter()
    child = subprocess.Popen([str(part) for part in command], start_new_session=True, stdout=subprocess.DEVNULL)
    peak, ended = [0, 0], threading.Event()
    watch = threading.Thread(target=_watch, args=(child.pid, peak, ended))
    watch.start()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    ended.set()
    watch.join()
    assert os.waitstatus_to_exitcode(status) == 0, command
    return Cost(wall, used.ru_utime + used.ru_stime, peak[0] / (1 << 20), peak[1])


def _watch(session: int, peak: list[int], ended: threading.Event) -> None:
    while not ended.wait(0.1):
        held = list(_held(session))
        peak[0], peak[1] = max(peak[0], sum(held)), max(peak[1], len(held))


def _held(session: int) -> Iterator[int]:
    """Bytes that each process of a session holds."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(stat[3]) == session:
                    yield int(Path(entry.path, "statm").read_text().split()[1]) * PAGE
            except (OSError, IndexError):
                continue


def audit(root: Path, store: Path, jobs: int) -> Cost:
    options = ["--store", store, "--jobs", jobs, "--format", "csv", "-o", store.with_suffix(".csv"), "--exit-zero"]
    return measured(sys.executable, "-m", "loganalyst.cli", "audit", root, *options)


def big(folder: Path, count: int, jobs: int) -> None:
    """Runs of 100,000 points."""
    root, store = folder / "big", folder / "store"
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        event_file(folder / kind, kind)
        (run := root / f"run{i:05}").mkdir(parents=True)
        shutil.copyfile(next((folder / kind).iterdir()), run / f"events.out.tfevents.{1_700_000_000 + i}.host.{i}.0")
    say(f"{count:,} runs of {len(METRICS) * STEPS:,} points", audit(root, store, jobs), count)
    say("  the same, unchanged", audit(root, store, jobs), count)
    began = time.process_time()
    for run in sorted(root.iterdir())[:PEER_RUNS]:
        tbparse(run)
    say("  peer: tbparse reads all", f"{(time.process_time() - began) / PEER_RUNS * count:8.1f} s of processors")
    shutil.rmtree(root)
    shutil.rmtree(store)


def tbparse(run: Path) -> None:
    from tbparse import SummaryReader

    assert SummaryReader(str(run)).scalars.shape[0] == len(METRICS) * STEPS


def event_file(folder: Path, kind: str) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    if folder.exists():
        return
    values = curves(kind)
    writer = EventFileWriter(str(folder), max_queue_size=10_000)
    for step in range(STEPS):
        told = [Summary.Value(tag=m, simple_value=float(values[m][step])) for m in METRICS]
        for value in told:
            writer.add_event(Event(wall_time=1.7e9 + 0.3 * step, step=step, summary=Summary(value=[value])))
    writer.close()


def curves(kind: str) -> dict[str, np.ndarray]:
    """A training of 5,000 steps that ends as `kind` says."""
    rng, at = np.random.default_rng(KINDS.index(kind)), np.arange(STEPS)
    loss = 3.5 * np.exp(-at / 900) + 0.8
    held_out = loss + 0.05
    gradient = np.full(STEPS, 1.2)
    if kind == "diverged":
        loss[3000:] += np.linspace(0, 60, 2000)
        gradient[2980:] *= 300
    if kind == "nan":
        loss[3500:], gradient[3499:] = np.nan, np.inf
    if kind == "spikes":
        loss[500::500] *= 6
    if kind == "plateau":
        loss, held_out = np.full(STEPS, 2.3), np.full(STEPS, 2.3)
    if kind == "overfitting":
        loss, held_out = 3.5 * np.exp(-at / 700) + 0.02, loss + np.clip(at - 2000, 0, None) / 2000
    noise = lambda scale: np.exp(scale * rng.standard_normal(STEPS))  # noqa: E731
    made = {
        "train/loss": loss * noise(0.03), "val/loss": held_out * noise(0.02),
        "train/accuracy": np.exp(-loss / 3) * noise(0.01), "val/accuracy": np.exp(-held_out / 3) * noise(0.01),
        "lr": 3e-4 * np.minimum(1, at / 200) * (1 - 0.9 * at / STEPS), "grad_norm": gradient * noise(0.2),
        "gpu_memory_gb": 21 + 0.01 * rng.standard_normal(STEPS), "samples_per_second": 800 * noise(0.02),
        "epoch": at // 500,
    }  # fmt: skip
    return made | {f"grad_norm/layer_{i}": gradient / (i + 2) * noise(0.3) for i in range(LAYERS)}


def growth(folder: Path, count: int, jobs: int) -> None:
    """Runs of 50 rows."""
    root, store = folder / "small", folder / "store"
    rng = random.Random(0)
    for i in range(count):
        small_run(root / f"sweep{i // 1000:03}" / f"run{i:06}", i, rng)
    say(f"{count:,} small runs", audit(root, store, jobs), count)
    say("  the same, unchanged", audit(root, store, jobs), count)
    shutil.rmtree(root)
    shutil.rmtree(store)


def small_run(run: Path, number: int, rng: random.Random) -> None:
    run.mkdir(parents=True)
    rate, failed = rng.choice([1e-4, 1e-3, 1e-1]), rng.random() < 0.2
    rows = [f"{i},{2 * 0.95**i + 0.1 + 0.01 * rng.random()},{rate}" for i in range(50)]
    if failed:
        rows[40:] = [f"{i},nan,{rate}" for i in range(40, 50)]
    (run / "metrics.csv").write_text("\n".join(["step,train/loss,lr", *rows]) + "\n")
    (run / "config.json").write_text(f'{{"lr": {rate}, "seed": {number}, "batch_size": {rng.choice([16, 64])}}}')


def unchanged(folder: Path, count: int, jobs: int) -> None:
    """Runs of 50 rows, which the store knows."""
    root, store = folder / "small", folder / "store"
    rng = random.Random(0)
    for i in range(count):
        small_run(root / f"sweep{i // 1000:03}" / f"run{i:06}", i, rng)
    filled(root, store)
    say(f"{count:,} small runs, unchanged", audit(root, store, jobs), count)
    shutil.rmtree(root)
    shutil.rmtree(store)


def filled(root: Path, store: Path) -> None:
    """Let the store know all runs below `root` as it knows the first, its big tables left out."""
    kept, every = Store(store), [found for found in listed(root) if found.files]
    kept.ingest([every[0].root])
    kept.diagnose()
    joiner, tables = Joiner(), {name: kept.table(name).collect() for name in (*READ, *JUDGED)}
    for start in range(1, len(every), 5000):
        some = every[start : start + 5000]
        own = pl.DataFrame({"run_id": [run_id(Path(f.root)) for f in some], "path": [f.root for f in some]})
        copies = {
            name: own.join(rows.drop("run_id", "path", strict=False), how="cross") for name, rows in tables.items()
        }
        copies = {name: rows.select(tables[name].columns) for name, rows in copies.items()}
        with kept._writing() as state:
            kept._folder.append(READ, {name: [copies[name]] for name in READ})
            state.note([note(found, joiner) for found in some])
            stamps = kept._folder.counting("runs").rename({"newest": "reading"})
            copies["diagnoses"] = copies["diagnoses"].drop("reading").join(stamps, on="run_id")
            copies["diagnoses"] = copies["diagnoses"].select(tables["diagnoses"].columns)
            kept._folder.append(JUDGED, {name: [copies[name]] for name in JUDGED})


def note(found: Listed, joiner: Joiner) -> Note:
    """What the store would remember of a run to which nothing from elsewhere belongs."""
    files, folder = [*found.files, *found.checkpoints], Path(found.root)
    near = "" if found.alone else joiner.near(os.path.realpath(folder), ())
    stats = prints(str(folder.parent if found.alone else folder), files)
    return Note(run_id(folder), __version__, stats, Joined(near))


def scanned(folder: Path, count: int, jobs: int) -> None:
    """A tree as a cluster's: half of the files are job logs side by side, half are runs of ten files."""
    root, store = folder / "files", folder / "store"
    (root / "logs").mkdir(parents=True)
    for i in range(count // 2):
        (root / "logs" / f"slurm-{100_000 + i}.out").write_text(f"step {i} loss 2.5\nstep {i + 1} loss 2.4\n")
    for i in range(count // 20):
        run = root / "runs" / f"run{i:05}"
        small_run(run, i, random.Random(i))
        for k in range(8):
            (run / f"checkpoint-{k}.pt").write_bytes(b"")
    command = [sys.executable, "-m", "loganalyst.cli", "scan", root, "--store", store, "--jobs", jobs, "--exit-zero"]
    filled(root, store)
    measured(*command)  # tells what is likely
    say(f"scan of {count:,} files, unchanged", measured(*command))
    say("  peer: find looks at each", measured("find", root, "-type", "f", "-newermt", "2100-01-01"))
    shutil.rmtree(root)
    shutil.rmtree(store)


if __name__ == "__main__":
    main()

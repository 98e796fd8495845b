"""The store at work: one run, a tree of runs, a big file, and what a crash leaves.

    python tests/bench/store.py [--runs 1000] [--processes 2] [--megabytes 600] [--kill 200] [--keep FOLDER]

A run is one event file of 20 metrics x 5,000 steps (100,000 points: noisy 32-bit values, wall times to the
microsecond), written by TensorBoard's writer and copied under other names. Times are the lowest of five, on the wall,
with nothing else at work. The peer is what one does without this tool: tbparse, then one Parquet file of its table.
`--kill` kills an ingest that many times at a random moment, looks at the store each time, and at last compares it with
one that was never disturbed. Nothing is run of a part whose number is 0. Linux only.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst import Store
from loganalyst.sources.tensorboard import reader as tensorboard
from loganalyst.store.tablefiles import BIG, READ

METRICS, STEPS = 20, 5_000
POINTS = METRICS * STEPS
KILLED = """
import sys
from functools import partial
from loganalyst.store import Store, batch
store = Store(sys.argv[1])
store._batch = partial(batch.Batch, max_seconds=0.2)
store.ingest([sys.argv[2]], processes=int(sys.argv[3]))
"""
PEAK = r"""
import re, sys
if len(sys.argv) > 1:
    from loganalyst import Store
    print(*Store(sys.argv[1]).ingest([sys.argv[2]]).values(), file=sys.stderr)
print(int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--megabytes", type=int, default=600)
    parser.add_argument("--kill", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    folder = args.keep or Path(tempfile.mkdtemp(prefix="loganalyst-bench-"))
    try:
        event_file(folder / "one")
        one_run(folder)
        if args.runs:
            tree(folder, args.runs, args.processes)
        if args.megabytes:
            big_file(folder, args.megabytes)
        if args.kill:
            killed(folder, args.kill)
    finally:
        if not args.keep:
            shutil.rmtree(folder)


def say(what: str, value: str) -> None:
    print(f"{what:64} {value}", flush=True)


def best(
    action: Callable[[], object],
    before: Callable[[], object] = lambda: None,
    times: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Milliseconds."""
    found = []
    for _ in range(times):
        before()
        start = clock()
        action()
        found.append(clock() - start)
    return 1e3 * min(found)


def event_file(folder: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    if folder.exists():
        return
    rng = np.random.default_rng(0)
    began = 1.7e9 + np.cumsum(0.3 + rng.normal(0, 0.015, STEPS))
    later = np.cumsum(rng.uniform(15e-6, 60e-6, (STEPS, METRICS)), axis=1)
    values = (np.exp(-np.arange(STEPS) / 2000)[:, None] + 0.1 * rng.standard_normal((STEPS, METRICS))).astype("f4")
    writer = EventFileWriter(str(folder), max_queue_size=POINTS)
    for step in range(STEPS):
        for metric in range(METRICS):
            value = Summary.Value(tag=f"train/metric_{metric}", simple_value=float(values[step, metric]))
            wall = began[step] + later[step, metric]
            writer.add_event(Event(wall_time=wall, step=step, summary=Summary(value=[value])))
    writer.close()


def copies(folder: Path, source: Path, count: int) -> Path:
    """The event file in as many runs, each under a name of its own."""
    root = folder / f"tree{count}"
    for i in range(count):
        run = root / f"run{i:05}"
        if not run.exists():
            run.mkdir(parents=True)
            shutil.copyfile(next(source.iterdir()), run / f"events.out.tfevents.{1_700_000_000 + i}.host.{i}.0")
    return root


def one_run(folder: Path) -> None:
    run, store = copies(folder, folder / "one", 1) / "run00000", Store(folder / "store1")
    (file,) = run.iterdir()
    store.ingest([run])
    (id_,) = store.runs.select("run_id").collect()["run_id"]
    size = store.run_file("points", id_).stat().st_size
    say("bytes a point, points.parquet", f"{size / POINTS:.2f}")

    def touch() -> None:
        os.utime(file, ns=(time.time_ns(), time.time_ns()))

    say("re-ingest of a run whose file is another, read anew (ms)", f"{best(lambda: store.ingest([run]), touch):.1f}")
    say("  of which the reader (ms)", f"{best(lambda: list(tensorboard.read(file))):.1f}")
    cpu = best(lambda: store.ingest([run]), touch, clock=time.process_time)
    reader = best(lambda: list(tensorboard.read(file)), clock=time.process_time)
    say("  CPU time of both (ms)", f"{cpu:.1f}, {reader:.1f}")
    say("ingest of an unchanged run (ms)", f"{best(lambda: store.ingest([run])):.1f}")
    say("points of one run, 8 columns, read back (ms)", f"{best(lambda: store.run(id_).points):.1f}")
    say("  by the direct path (ms)", f"{best(lambda: pl.read_parquet(store.run_file('points', id_))):.1f}")
    query = store.points.filter(run_id=id_, metric="train/metric_7").select("step", "value")
    say("  one metric of it, by a filter on the table (ms)", f"{best(query.collect):.1f}")
    with file.open("ab") as handle:
        handle.write(file.read_bytes()[-4700:])
    say("ingest of a run of which 5 kB were appended (ms)", f"{best(lambda: store.ingest([run]), times=1):.1f}")


def tree(folder: Path, runs: int, processes: int) -> None:
    root = copies(folder, folder / "one", runs)
    for count in sorted({1, processes}):
        shutil.rmtree(folder / "store", ignore_errors=True)
        store = Store(folder / "store")
        cpu, start = cpu_seconds(), time.perf_counter()
        done = store.ingest([root], processes=count)
        wall = time.perf_counter() - start
        cpu = cpu_seconds() - cpu
        assert set(done.values()) == {"read"}, set(done.values())
        rate = runs * POINTS / wall / 1e6
        say(f"{runs} runs of 100,000 points, {count} processes: points a second", f"{rate:.2f} million")
        say("  seconds on the wall, CPU seconds of all", f"{wall:.1f}, {cpu:.1f}")
    say("  the same again, unchanged (s)", f"{best(lambda: store.ingest([root]), times=2) / 1e3:.2f}")
    ids = store.runs.collect()["run_id"]
    one = store.points.filter(run_id=ids[0])
    say("  points of one run out of all, by a filter (ms)", f"{best(lambda: one.select(pl.len()).collect()):.1f}")
    say("  bytes a point, the whole store", f"{sum(f.stat().st_size for f in files(store)) / runs / POINTS:.2f}")
    peer(folder, runs)


def cpu_seconds() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def files(store: Store) -> list[Path]:
    return [file for file in store.path.rglob("*") if file.is_file()]


def peer(folder: Path, runs: int) -> None:
    from tbparse import SummaryReader

    start = time.perf_counter()
    rows = SummaryReader(str(folder / "one"), extra_columns={"wall_time"}).scalars
    pl.DataFrame({name: list(rows[name]) for name in rows}).write_parquet(folder / "peer.parquet", compression="zstd")
    seconds = time.perf_counter() - start
    say(
        "  peer, one process: points a second", f"{POINTS / seconds / 1e6:.2f} million ({runs * seconds:.0f} s for all)"
    )
    say("  peer, bytes a point", f"{(folder / 'peer.parquet').stat().st_size / POINTS:.2f}")


def big_file(folder: Path, megabytes: int) -> None:
    (folder / "big").mkdir(exist_ok=True)
    body = next((folder / "one").iterdir()).read_bytes()
    file = folder / "big" / "events.out.tfevents.1.host.1.0"
    with file.open("wb") as handle:
        while handle.tell() < megabytes * 1e6:
            handle.write(body)
    shutil.rmtree(folder / "store", ignore_errors=True)
    bare, ours = peak(), peak(folder / "store", folder / "big")
    say(f"peak memory over a bare interpreter's, file of {megabytes} MB (MiB)", f"{ours - bare:.0f}")
    file.unlink()


def peak(*arguments: Path) -> float:
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


def killed(folder: Path, times: int) -> None:
    root = folder / "killed-runs"
    shutil.rmtree(root, ignore_errors=True)
    for i in range(40):
        (root / f"{i:02}").mkdir(parents=True)
        rows = "".join(f"{step},{1 / (step + 1 + i)}\n" for step in range(2000))
        (root / f"{i:02}/metrics.csv").write_text("step,loss\n" + rows)
    (folder / "killed.py").write_text(KILLED)
    shutil.rmtree(folder / "killed", ignore_errors=True)
    shutil.rmtree(folder / "store", ignore_errors=True)
    chance, hit = random.Random(0), 0
    for i in range(times):
        for run in chance.sample(range(40), 20):
            with (root / f"{run:02}/metrics.csv").open("a") as handle:
                handle.write(f"{2000 + i},1\n")
        hit += ended(folder, root, chance, 1 + i % 2)
        content(Store(folder / "killed"))
    same = content_after(folder / "killed", root), content_after(folder / "store", root)
    equal = all(rows.equals(same[1][name]) for name, rows in same[0].items())
    say(
        f"{times} ingests killed, {hit} before they ended: the store is",
        "as if undisturbed" if equal else "NOT the same",
    )


def ended(folder: Path, root: Path, chance: random.Random, processes: int) -> bool:
    """Whether an ingest that is killed at a random moment had not ended by then."""
    arguments = [sys.executable, str(folder / "killed.py"), str(folder / "killed"), str(root), str(processes)]
    writer = subprocess.Popen(arguments, start_new_session=True)
    try:
        writer.wait(chance.uniform(0.3, 1.5))
    except subprocess.TimeoutExpired:
        os.killpg(writer.pid, signal.SIGKILL)
        writer.wait()
        return True
    return False


def content_after(store: Path, root: Path) -> dict[str, pl.DataFrame]:
    Store(store).ingest([root])
    return content(Store(store))


def content(store: Store) -> dict[str, pl.DataFrame]:
    read = {name: getattr(store, name).collect() for name in (*BIG, *READ)}
    return {name: rows.sort("run_id", maintain_order=True) for name, rows in read.items()}


if __name__ == "__main__":
    main()

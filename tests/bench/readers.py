"""Our readers beside today's tools: the same file, the same numbers, CPU seconds and memory.

    python tests/bench/readers.py [--points 200000] [--repeat 3] [--only CASE] [--scale] [--keep FOLDER] [--ours]
    python tests/bench/readers.py --memory [--megabytes 100 300] [--only CASE]

The cases stand in `formats/`, a file a format: the real writer of the input and the peers that read it. Every reading
is a fresh process; the figures are the lowest of `--repeat`. `cpu s` is processor time of all threads and children
from the path to the values in memory, with the modules loaded beforehand, `times` its multiple of ours; `wall s` the
time that passed; `start s` the loading of modules; `peak MB` the peak resident memory of the process (modules included)
over that of a bare interpreter. `same` compares every metric, step and value with ours, exactly, in file order within
a metric. `ours` is the format's reader, `ingest` the whole way to one run. `--scale` takes the big inputs instead of
`--points` numbers of 5 metrics, `--keep` writes inputs once into FOLDER, `--ours` leaves the peers out.

`--memory` reads files that repeat one body, batch by batch as the store does, and prints the peak. Linux only.
"""

import argparse
import json
import math
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from formats.case import METRICS, Case, Columns, Take

LIMIT = 250 * 2**20 / 1e6  # MB over a bare interpreter that reading any file may cost
FORMATS = Path(__file__).parent / "formats"


@cache
def cases() -> dict[str, Case]:
    modules = (import_module(f"formats.{file.stem}") for file in sorted(FORMATS.glob("*.py")))
    return {case.name: case for module in modules for case in getattr(module, "CASES", ())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=cases())
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 300])
    args = parser.parse_args()
    chosen = [cases()[args.only]] if args.only else list(cases().values())
    bare = child("bare")["peak"]
    if args.memory:
        memory(chosen, args.megabytes, bare)
    else:
        compare(chosen, args, bare)


# --- tables


def compare(chosen: list[Case], args: argparse.Namespace, bare: float) -> None:
    """Print one row a reader of each case."""
    print(
        f"{'case':22}{'points':>10}  {'reader':26}{'cpu s':>10}{'times':>8}{'wall s':>10}{'start s':>9}{'peak MB':>9}"
        "  same"
    )
    for case in chosen:
        rows, metrics = (args.points // len(METRICS), len(METRICS)) if not args.scale else case.scale or (0, 0)
        if not rows:
            continue
        with written(case, rows, metrics, args.keep) as path:
            ours: dict[str, Any] = {}
            peers = [] if args.ours else [peer.__name__ for peer in case.peers]
            for reader in ["ours", "ingest", *peers]:
                found = [child("read", case.name, reader, str(path)) for _ in range(args.repeat)]
                row = found[0] | {key: min(f[key] for f in found) for key in ("cpu", "wall", "start", "peak")}
                ours = ours or row
                print(line(case.name, reader, row, ours, bare), flush=True)


def line(case: str, reader: str, row: dict[str, Any], ours: dict[str, Any], bare: float) -> str:
    same = "-" if reader == "ours" else "yes" if row["digest"] == ours["digest"] else "NO"
    times = row["cpu"] / ours["cpu"]
    return (
        f"{case:22}{row['points']:10,}  {reader:26}{row['cpu']:10.3g}{times:7.1f}x{row['wall']:10.3g}"
        f"{row['start']:9.2f}{row['peak'] - bare:9.0f}  {same}"
    )


def memory(chosen: list[Case], sizes: list[int], bare: float) -> None:
    """Print the peak of reading a file of each of `sizes` (MB)."""
    print(f"{'case':22}{'file MB':>8}{'points':>13}{'cpu s':>8}{'MB/s':>7}{'peak MB':>9}  within {LIMIT:.0f} MB")
    for case in (case for case in chosen if case.grow):
        with tempfile.TemporaryDirectory() as folder:
            seed = Path(child("write", case.name, folder, "2000", "5")["path"])
            for size in sizes:
                big = seed.with_name(f"big-{seed.name}")
                child("grow", case.name, str(seed), str(big), str(size * 10**6))
                row = child("stream", str(big))
                top = row["peak"] - bare
                print(
                    f"{case.name:22}{size:8}{row['points']:13,}{row['cpu']:8.2f}{size / row['cpu']:7.0f}{top:9.0f}"
                    f"  {'yes' if top <= LIMIT else 'NO'}",
                    flush=True,
                )


@contextmanager
def written(case: Case, rows: int, metrics: int, keep: Path | None) -> Iterator[Path]:
    """The case's input, in a temporary folder or in `keep`, where it is written only once."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep.resolve() / f"{case.name.replace(' ', '-')}-{rows}x{metrics}" if keep else Path(temporary)
        note = folder / "path.json"
        if not note.exists():
            folder.mkdir(parents=True, exist_ok=True)
            note.write_text(json.dumps(child("write", case.name, str(folder), str(rows), str(metrics))))
        yield Path(json.loads(note.read_text())["path"])


# --- what child processes do


def child(task: str, *arguments: str) -> dict[str, Any]:
    """What a fresh process running one of TASKS reports."""
    code = f"import json, readers, sys; print(json.dumps(readers.TASKS[{task!r}](*sys.argv[1:])))"
    command, here = [sys.executable, "-c", code, *arguments], Path(__file__).parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here)
    if done.returncode:
        raise SystemExit(f"{task} {arguments}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def bare() -> dict[str, Any]:
    return {"peak": peak()}


def write(case: str, folder: str, rows: str, metrics: str) -> dict[str, Any]:
    return {"path": str(cases()[case].write(Path(folder), int(rows), int(metrics)))}


def grow(case: str, seed: str, path: str, size: str) -> dict[str, Any]:
    cases()[case].grow(Path(seed), Path(path), int(size))
    return {}


def read(case: str, reader: str, path: str) -> dict[str, Any]:
    """Load a reader's modules, read, and say how long each took and what was found."""
    loops = cases()[case].loops
    begin = time.perf_counter()
    take = next(f for f in (ours, ingest, *cases()[case].peers) if f.__name__ == reader)()
    loaded, spent = time.perf_counter(), cpu()
    for _ in range(loops):
        columns = take(Path(path))
    wall, spent, top = time.perf_counter() - loaded, cpu() - spent, peak()
    found = {"start": loaded - begin, "wall": wall / loops, "cpu": spent / loops, "peak": top}
    return found | digest(columns())


def stream(path: str) -> dict[str, Any]:
    """Read batch by batch, keeping none."""
    module, points = our_reader(Path(path)), 0
    spent = cpu()
    for tables in module.read(Path(path)):
        points += tables.points.height
    return {"points": points, "cpu": cpu() - spent, "peak": peak()}


def peak() -> float:
    """Peak resident memory of this process in MB (10^6 bytes)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / 1e6


def cpu() -> float:
    """Processor seconds of this process, all threads, and of the children it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def digest(columns: Columns) -> dict[str, Any]:
    """The number of points, and one text for them whatever the order of metrics."""
    import polars as pl

    metric, step, value = columns
    frame = pl.DataFrame({"metric": metric, "step": step, "value": value}).select(
        pl.col("metric").cast(pl.String),
        pl.col("step").cast(pl.Int64),
        pl.col("value").cast(pl.Float64).fill_nan(math.nan),
    )
    frame = frame.sort("metric", maintain_order=True)
    hashed = blake2b("\n".join(frame["metric"].unique(maintain_order=True).to_list()).encode())
    for numbers in (frame["metric"].rle_id().to_numpy(), frame["step"].to_numpy(), frame["value"].to_numpy()):
        hashed.update(numbers.tobytes())
    return {"points": frame.height, "digest": hashed.hexdigest()}


# --- our own readers


def our_reader(path: Path) -> ModuleType:
    from loganalyst.sources.formats import HEAD, reader

    with path.open("rb") as file:
        module = reader(path, file.read(HEAD))
    if module is None:
        raise SystemExit(f"{path}: no reader")
    return module


def ours() -> Take:
    """The format's reader."""
    from loganalyst.model import Tables
    from loganalyst.sources.files.compressed import unpacked
    from loganalyst.sources.formats import formats

    formats()

    def take(path: Path) -> Callable[[], Columns]:
        with path.open("rb") as file:
            head = file.read(64)
        with unpacked(path, head) as (inner, _):
            points = Tables.concat(our_reader(inner).read(inner)).points
        return lambda: (points["metric"], points["step"], points["value"])

    return take


def ingest() -> Take:
    """The whole way from a file to a run."""
    from loganalyst.sources.formats import formats
    from loganalyst.sources.ingest import ingest

    formats()

    def take(path: Path) -> Callable[[], Columns]:
        points = ingest(path).points
        return lambda: (points["metric"], points["step"], points["value"])

    return take


TASKS = {f.__name__: f for f in (bare, write, grow, read, stream)}


if __name__ == "__main__":
    main()

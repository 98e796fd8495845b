"""Our readers beside today's tools: the same file, the same numbers, seconds and memory.

    python tests/bench/readers.py [--points 200000] [--repeat 3] [--only NAME]

The files are made here by the real writers (torch's SummaryWriter, wandb offline; CSV, JSON lines and a stdout log by
the standard library), 5 metrics each. Every reading is a fresh process; the figures are the lowest of `--repeat`.
`read s` is from the path to the values in memory, with the modules loaded beforehand, `times` its multiple of ours;
`start s` is loading them; `peak MB` is the peak resident memory of the process (modules included) over that of a bare
interpreter. `same` compares every metric, step and value with ours, exactly. Linux only.

wandb ships no reader of its file in Python, so its peer is the shortest loop over its own compiled messages; the peer
for the stdout log is the regular expression people write for their own format.
"""

import argparse
import json
import math
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

METRICS = ("train/loss", "train/lr", "train/grad_norm", "val/loss", "val/accuracy")
SOURCES = {
    "tensorboard": ("ours", "tbparse", "event_accumulator"),
    "tensorboard new_style": ("ours", "tbparse", "tbparse_tensors", "event_accumulator_tensors"),
    "wandb": ("ours", "wandb_messages"),
    "csv": ("ours", "pandas", "pandas_exact"),
    "jsonl": ("ours", "json_lines"),
    "stdout": ("ours", "regex"),
}
Columns = tuple[list[str], Any, Any]  # metric, step, value of every point


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=SOURCES)
    args = parser.parse_args()
    bare = child("bare")["peak"]
    print(f"{'source':22}{'points':>9}  {'reader':26}{'read s':>8}{'times':>8}{'start s':>9}{'peak MB':>9}  same")
    for source in [args.only] if args.only else SOURCES:
        with tempfile.TemporaryDirectory() as folder:
            path = child("write", source, folder, str(args.points))["path"]
            compare(source, path, args.repeat, bare)


def compare(source: str, path: str, repeat: int, bare: float) -> None:
    """Print one row a reader."""
    ours: dict[str, Any] = {}
    for reader in SOURCES[source]:
        found = [child("read", reader, path) for _ in range(repeat)]
        row = {key: min(f[key] for f in found) for key in ("read", "start", "peak")}
        ours = ours or found[0] | row
        same = "-" if reader == "ours" else "yes" if found[0]["digest"] == ours["digest"] else "NO"
        times = f"{row['read'] / ours['read']:7.1f}x"
        print(
            f"{source:22}{found[0]['points']:9,}  {reader:26}{row['read']:8.3f}{times}{row['start']:9.2f}"
            f"{row['peak'] - bare:9.0f}  {same}",
            flush=True,
        )


def child(task: str, *arguments: str) -> dict[str, Any]:
    """What a fresh process running one of TASKS reports."""
    code = f"import readers, sys; readers.report(readers.TASKS[{task!r}](*sys.argv[1:]))"
    command, here = [sys.executable, "-c", code, *arguments], Path(__file__).parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here)
    if done.returncode:
        raise SystemExit(f"{task} {arguments}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def report(found: dict[str, Any]) -> None:
    print(json.dumps(found))


def bare() -> dict[str, Any]:
    return {"peak": peak()}


def peak() -> float:
    """Peak resident memory of this process in MB (10^6 bytes)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / 1e6


def read(reader: str, path: str) -> dict[str, Any]:
    """Load a reader's modules, read, and say how long each took and what was found."""
    begin = time.perf_counter()
    take = READERS[reader]()
    loaded = time.perf_counter()
    columns = take(path)
    done = time.perf_counter()
    top = peak()
    return {"start": loaded - begin, "read": done - loaded, "peak": top, "points": len(columns[0]), **digest(columns)}


def digest(columns: Columns) -> dict[str, str]:
    """One text for the points whatever their order over metrics: metric, step, then order of logging."""
    import polars as pl

    metric, step, value = columns
    frame = pl.DataFrame({"metric": metric, "step": step, "value": value}).select(
        pl.col("metric").cast(pl.String),
        pl.col("step").cast(pl.Int64),
        pl.col("value").cast(pl.Float64).fill_nan(math.nan),
    )
    frame = frame.sort("metric", "step", maintain_order=True)
    return {"digest": blake2b(frame.write_csv().encode() + frame["value"].to_numpy().tobytes()).hexdigest()}


# --- readers: each loads its modules and gives a function from the path to the points


def ours() -> Callable[[str], Columns]:
    from loganalyst.sources.ingest import formats, ingest

    formats()

    def take(path: str) -> Columns:
        points = ingest(Path(path)).points
        return points["metric"], points["step"], points["value"]

    return take


def tbparse() -> Callable[[str], Columns]:
    from tbparse import SummaryReader

    def take(path: str) -> Columns:
        frame = SummaryReader(path, event_types={"scalars"}).scalars
        return tuple(frame[c].tolist() if len(frame) else [] for c in ("tag", "step", "value"))

    return take


def tbparse_tensors() -> Callable[[str], Columns]:
    from tbparse import SummaryReader

    def take(path: str) -> Columns:
        frame = SummaryReader(path, event_types={"tensors"}).tensors
        return frame["tag"].tolist(), frame["step"].tolist(), [float(v) for v in frame["value"]]

    return take


def event_accumulator() -> Callable[[str], Columns]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def take(path: str) -> Columns:
        found = EventAccumulator(path, size_guidance={"scalars": 0}).Reload()
        events = [(tag, e.step, e.value) for tag in found.Tags()["scalars"] for e in found.Scalars(tag)]
        return tuple(zip(*events, strict=True))

    return take


def event_accumulator_tensors() -> Callable[[str], Columns]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    def take(path: str) -> Columns:
        found = EventAccumulator(path, size_guidance={"tensors": 0}).Reload()
        tags = found.Tags()["tensors"]
        events = [(tag, e.step, make_ndarray(e.tensor_proto).item()) for tag in tags for e in found.Tensors(tag)]
        return tuple(zip(*events, strict=True))

    return take


def wandb_messages() -> Callable[[str], Columns]:
    from wandb.proto.wandb_internal_pb2 import Record

    def take(path: str) -> Columns:
        events = []
        for payload in payloads(Path(path).read_bytes()):
            record = Record.FromString(payload)
            if record.HasField("history"):
                row = {"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in record.history.item}
                events += [(name, row["_step"], row[name]) for name in METRICS]
        return tuple(zip(*events, strict=True))

    return take


def payloads(data: bytes) -> list[bytes]:
    """The records of an undamaged .wandb file (LevelDB blocks of 32 KiB)."""
    at, parts, out = 7, b"", []
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + 7 : at + 7 + length]
        parts = part if kind in (1, 2) else parts + part
        if kind in (1, 4):
            out.append(parts)
        at += 7 + length
    return out


def pandas(**options: str) -> Callable[[str], Columns]:
    import pandas as pd

    def take(path: str) -> Columns:
        frame = pd.read_csv(path, **options).melt("step").dropna()
        return frame["variable"].tolist(), frame["step"].to_numpy(), frame["value"].to_numpy()

    return take


def pandas_exact() -> Callable[[str], Columns]:
    return pandas(float_precision="round_trip")


def json_lines() -> Callable[[str], Columns]:
    def take(path: str) -> Columns:
        rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
        events = [(name, row["step"], row[name]) for row in rows for name in METRICS if name in row]
        return tuple(zip(*events, strict=True))

    return take


def regex() -> Callable[[str], Columns]:
    line = re.compile(r"step (\d+): (.*)")
    item = re.compile(r"([\w/]+)=(\S+)")

    def take(path: str) -> Columns:
        rows = [(m[1], item.findall(m[2])) for m in map(line.search, Path(path).read_text().splitlines()) if m]
        events = [(name, int(step), float(value)) for step, items in rows for name, value in items]
        return tuple(zip(*events, strict=True))

    return take


# --- writers


def values(step: int) -> dict[str, float]:
    """What is logged at `step`."""
    x = step / 1000
    wave = math.sin(step * 12.9898) * 0.01
    numbers = (2 * math.exp(-x) + 0.3 + wave, 1e-3 / (1 + x), 1 + wave * 7, 2 * math.exp(-x) + 0.4 - wave, 0.5 + wave)
    return dict(zip(METRICS, numbers, strict=True))


def write(source: str, folder: str, points: str) -> dict[str, Any]:
    """Log so many points by the real writer of `source`; returns the path."""
    steps = range(int(points) // len(METRICS))
    if source == "wandb":
        return {"path": write_wandb(folder, steps)}
    if source.startswith("tensorboard"):
        return {"path": write_events(folder, steps, new_style=source.endswith("new_style"))}
    path = Path(folder) / {"csv": "metrics.csv", "jsonl": "metrics.jsonl", "stdout": "train.log"}[source]
    with path.open("w") as file:
        if source == "csv":
            print("step", *METRICS, sep=",", file=file)
        for step in steps:
            logged = values(step)
            if source == "csv":
                print(step, *logged.values(), sep=",", file=file)
            elif source == "jsonl":
                print(json.dumps({"step": step, **logged}), file=file)
            else:
                print(f"step {step}: " + " ".join(f"{k}={v:.6g}" for k, v in logged.items()), file=file)
    return {"path": str(path)}


def write_events(folder: str, steps: range, *, new_style: bool) -> str:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(folder, flush_secs=3600) as writer:
        for step in steps:
            for name, value in values(step).items():
                writer.add_scalar(name, value, step, new_style=new_style)
    (path,) = Path(folder).glob("events.*")
    return str(path)


def write_wandb(folder: str, steps: range) -> str:
    import wandb

    settings = wandb.Settings(console="off", silent=True, x_disable_stats=True)
    with wandb.init(mode="offline", dir=folder, project="bench", settings=settings) as run:
        for step in steps:
            run.log(values(step), step=step)
    (path,) = Path(folder).glob("wandb/offline-run-*/*.wandb")
    return str(path)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {"bare": bare, "write": write, "read": read}
READERS = {f.__name__: f for f in (
    ours, tbparse, tbparse_tensors, event_accumulator, event_accumulator_tensors, wandb_messages, pandas, pandas_exact,
    json_lines, regex,
)}  # fmt: skip


if __name__ == "__main__":
    main()

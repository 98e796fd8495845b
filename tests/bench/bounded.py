"""Peak memory and seconds of `loganalyst diagnose` on inputs that are too large, too long or no logs.

    python tests/bench/bounded.py [--only NAME] [--points 75000000] [--folder DIR]

Every input is made in a temporary folder (TMPDIR, or DIR) and removed. Each diagnosis is a fresh process; printed are
the size of the input, the seconds that passed, CPU seconds, and the largest peak of one process in MB (1 MB = 10^6
bytes). `--points` is the number of values in the large log, CSV file and event file: about 15 bytes each in the log.
The last column is the first line of the report or of the error. Linux only.
"""

import argparse
import gzip
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

LINE = 10_000_000  # bytes of a long line
NAMES = 30_000
STARTS = 100_000
METRICS = ("loss", "lr", "gnorm", "ppl", "mem", "aux", "kl")
HUGE = 1 << 40
BOMB = 10_000_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=INPUTS)
    parser.add_argument("--points", type=int, default=75_000_000)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    print(f"{'input':22}{'MB':>10}{'s':>8}{'CPU s':>8}{'peak MB':>9}  report")
    for name in [args.only] if args.only else INPUTS:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            path = INPUTS[name](Path(folder), args.points)
            print(row(name, path), flush=True)


def row(name: str, path: Path) -> str:
    """Diagnose the input; its line of the table."""
    code = "import sys; from loganalyst.cli import program; sys.argv[1:] = ['diagnose', *sys.argv[1:]]; program()"
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = child.stdout.read().decode(errors="replace") if child.stdout else ""
    _, _, used = os.wait4(child.pid, 0)
    passed = time.perf_counter() - begin
    peak = max(used.ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * 1024 / 1e6
    first = next((line.strip() for line in said.splitlines() if line.strip()), "")
    size = path.stat().st_size / 1e6
    return f"{name:22}{size:10,.0f}{passed:8.1f}{used.ru_utime + used.ru_stime:8.1f}{peak:9,.0f}  {first[:70]}"


def rows(points: int) -> Iterator[tuple[int, list[float]]]:
    """Steps with the values of METRICS, so many values in all."""
    made = random.Random(1)
    noise = [made.gauss(0, 0.1) for _ in range(9973)]
    steps = points // len(METRICS)
    for step in range(steps):
        x = noise[step % len(noise)]
        yield step, [2 + 3 * (1 - step / steps) + x, 1e-3, 1 + abs(x), 4 + x, 40 + x, x, 1 - x]


def large_log(folder: Path, points: int) -> Path:
    path = folder / "train.log"
    with path.open("w") as file:
        for step, values in rows(points):
            named = " ".join(f"{name} {value:.4g}" for name, value in zip(METRICS, values, strict=True))
            file.write(f"step {step} {named}\n")
    return path


def large_csv(folder: Path, points: int) -> Path:
    path = folder / "metrics.csv"
    with path.open("w") as file:
        file.write(",".join(("step", *METRICS)) + "\n")
        for step, values in rows(points):
            file.write(",".join((str(step), *(f"{value:.4g}" for value in values))) + "\n")
    return path


def large_events(folder: Path, points: int) -> Path:
    """Turns of one value of each metric."""
    from loganalyst.sources.tensorboard import crc32c

    path = folder / "events.out.tfevents.1700000000.host.1.0"
    lengths: dict[int, bytes] = {}
    with path.open("wb") as file:
        for step, values in rows(points // 8):  # a record takes some 50 bytes and long to write
            for name, value in zip(METRICS, values, strict=True):
                tag = name.encode()
                inner = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", value)
                summary = b"\x0a" + bytes([len(inner)]) + inner
                event = b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step)
                event += b"\x2a" + bytes([len(summary)]) + summary
                head = struct.pack("<Q", len(event))
                if len(event) not in lengths:
                    lengths[len(event)] = head + struct.pack("<I", crc32c.masked(head))
                file.write(lengths[len(event)] + event + struct.pack("<I", crc32c.masked(event)))
    return path


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def line(name: str, text: Callable[[], str]) -> Callable[[Path, int], Path]:
    """An input of one long line."""

    def make(folder: Path, _: int) -> Path:
        path = folder / name
        path.write_text(text() + "\n", newline="")
        return path

    return make


def bars() -> str:
    states = (
        f"{i // 1500}%|{'#' * (i // 8000)}| {i}/150000 [00:01<00:20, 3.2it/s, loss={i / 7:.3f}]" for i in range(150_000)
    )
    return "\r".join(states)


def many_names(name: str) -> Callable[[Path, int], Path]:
    """A metric in each line, cell or value."""

    def make(folder: Path, _: int) -> Path:
        made = random.Random(1)
        names = ["".join(made.choices("abcdefghijklmnop", k=12)) for _ in range(NAMES)]
        path = folder / name
        if name.endswith(".log"):
            path.write_text("".join(f"{n} loss: {i}\n" for i, n in enumerate(names)))
        else:
            lines = ({"step": i, **{f"{n}/loss": i / 7 for n in names[i::100]}} for i in range(100))
            path.write_text("".join(json.dumps(row) + "\n" for row in lines))
        return path

    return make


def many_starts(folder: Path, _: int) -> Path:
    """Each prints its settings and 20 steps, and ends in a traceback."""
    path = folder / "train.log"
    with path.open("w") as file:
        for start in range(STARTS):
            file.write(f"Namespace(lr=0.001, seed={start})\nStarting training\n")
            file.writelines(f"step {i} loss {3 - i / 100:.4f} lr 0.001 grad_norm 1.25\n" for i in range(20))
            file.write('Traceback (most recent call last):\n  File "train.py", line 10, in <module>\n    main()\n')
            file.write("RuntimeError: CUDA error: an illegal memory access was encountered\n")
    return path


def sparse(name: str) -> Callable[[Path, int], Path]:
    """A file of a TB that takes no room."""

    def make(folder: Path, _: int) -> Path:
        path = folder / name
        with path.open("wb") as file:
            file.truncate(HUGE)
        return path

    return make


def bomb(content: bytes) -> Callable[[Path, int], Path]:
    """A small file that unpacks to 10 GB."""

    def make(folder: Path, _: int) -> Path:
        path = folder / "train.log.gz"
        piece = content * ((1 << 24) // len(content))
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(BOMB // len(piece)):
                file.write(piece)
        return path

    return make


INPUTS: dict[str, Callable[[Path, int], Path]] = {
    "large log": large_log,
    "large CSV": large_csv,
    "large event file": large_events,
    "line of metrics": line("a.log", lambda: " ".join(f"step {i} loss {i / 7:.3f}" for i in range(500_000))),
    "line of JSON": line("a.jsonl", lambda: json.dumps({f"k{i}": i / 7 for i in range(400_000)})),
    "line of bars": line("a.log", bars),
    "line of base64": line("a.log", lambda: "QUJD" * (LINE // 4)),
    "line of blanks": line("a.log", lambda: " " * LINE),
    "line of brackets": line("a.log", lambda: "step 1 loss " + "([{" * (LINE // 3)),
    "line of an error": line("a.log", lambda: "ValueError: " + "x y " * (LINE // 4)),
    "line of words": line("a.log", lambda: "loss " * (LINE // 5)),
    "line of YAML": line("config.yaml", lambda: f"a: '{'x' * LINE}'"),
    "row of cells": line("a.csv", lambda: "step,loss\n" + ",".join(str(i) for i in range(1_000_000))),
    "names in a log": many_names("a.log"),
    "names in JSON": many_names("a.jsonl"),
    "starts in a log": many_starts,
    "sparse log": sparse("a.log"),
    "sparse event file": sparse("events.out.tfevents.1.host.1.0"),
    "sparse W&B file": sparse("run-a.wandb"),
    "bomb of zeros": bomb(b"\0" * 4096),
    "bomb of lines": bomb(b"step 1 loss 2.0\n"),
}


if __name__ == "__main__":
    main()

"""CPU seconds to find every run in a big tree, beside what only lists it.

    python tests/bench/discovery.py [--folders N] [--tree DIR]

The tree has N folders (default 100,000): half are runs (metrics, settings, a log, some with event files), the others
hold them, or hold what is no run. `os.walk` and `find` list the same tree and decide nothing. The best of three rounds
counts. Peak memory is that of a process that only walks the runs and drops them.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROUNDS = 3
A_RUN = ("metrics.csv", "config.yaml", "train.log", "best.ckpt")
OURS = (
    "import sys, resource; from pathlib import Path; from loganalyst.sources.discovery.runs import runs; "
    "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; print(sum(1 for _ in runs(Path(sys.argv[1]))), "
    "(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) // 1024)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=int, default=100_000)
    parser.add_argument("--tree", type=Path, help="where to make the tree, or an existing one (default: temporary)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tree = args.tree or Path(scratch) / "tree"
        if not tree.exists():
            make(tree, args.folders)
        compare(tree)


def make(tree: Path, folders: int) -> None:
    """Experiments of 49 runs each, every run with a folder that is no run."""
    for number in range(folders // 99 + 1):
        for run in range(49):
            folder = tree / f"user{number % 10}" / f"exp{number:05}" / f"run_{run:02}"
            (folder / "images").mkdir(parents=True)
            for name in A_RUN:
                (folder / name).write_bytes(b"x")
            (folder / "images" / "a.png").touch()
            if run % 7 == 0:
                (folder / f"events.out.tfevents.{number}.node{run}.{run}.0").write_bytes(b"x")


def compare(tree: Path) -> None:
    from loganalyst.sources.discovery.runs import runs

    tasks: dict[str, Callable[[], int]] = {
        "loganalyst: runs": lambda: sum(1 for _ in runs(tree)),
        "os.walk: folders": lambda: sum(1 for _ in walked(tree)),
        "find: entries": lambda: found(tree),
    }
    for name, task in tasks.items():
        seconds, count = min(timed(task) for _ in range(ROUNDS))
        print(f"{name:20} {count:10,}  {seconds:6.2f} s CPU")
    told = subprocess.run([sys.executable, "-c", OURS, tree], capture_output=True, text=True, check=True)
    print(f"memory of the walk over that of the program: {told.stdout.split()[1]} MiB")


def timed(task: Callable[[], int]) -> tuple[float, int]:
    """CPU seconds of this process and of those it started, and what the task gives."""
    before = spent()
    count = task()
    return spent() - before, count


def spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def walked(tree: Path) -> Iterator[object]:
    return os.walk(tree)


def found(tree: Path) -> int:
    out = subprocess.run(["find", tree, "-name", "*"], capture_output=True, check=True).stdout
    return out.count(b"\n")


if __name__ == "__main__":
    main()

"""How long a person waits: the start of the command line, and one whole diagnosis.

    python tests/bench/startup.py [--repeat 5] [--profile]

Medians over fresh processes, pinned to one core with one polars thread. The run that is diagnosed is made here by the
real writer: TensorBoard, 6 metrics of 10,000 points, the training loss leaving its trend at step 6,000. "cold" means
that the process has nothing loaded and loganalyst keeps no cache; byte code is there, as after an installation by pip,
and the files are in the page cache, except in the row `files dropped`, where the kernel is asked to forget the run, the
package and the catalogue first.
`--profile` prints where the time of one diagnosis goes instead. A benchmark, no test; Linux only.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import loganalyst
from loganalyst.rulefiles import rules_dir

POINTS = 10_000
COMMAND = [sys.executable, "-m", "loganalyst.cli"]
GENERATE = "import startup, sys; startup.generate(sys.argv[1])"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="profile one diagnosis")
    args = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited by every process started below
    os.environ["POLARS_MAX_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as code:
        os.environ["PYTHONPYCACHEPREFIX"] = code
        subprocess.run([sys.executable, "-c", GENERATE, folder], check=True, cwd=Path(__file__).parent)
        diagnose = [*COMMAND, "diagnose", folder, "--exit-zero"]
        seconds(diagnose)  # writes the byte code
        if args.profile:
            command = f"import loganalyst.cli as c; c.main({diagnose[3:]!r})"
            subprocess.run([sys.executable, "-c", PROFILE.format(command=command)], check=True)
            return
        dropped = [Path(folder), Path(loganalyst.__file__).parent, rules_dir()]
        print(f"{'':36}{'CPU s':>8}{'wall s':>8}   limit")
        show("bare interpreter", [sys.executable, "-c", ""], args.repeat)
        show("import loganalyst", [sys.executable, "-c", "import loganalyst"], args.repeat)
        show("loganalyst --help", [*COMMAND, "--help"], args.repeat, cpu=0.15)
        show("diagnose, cold", diagnose, args.repeat, wall=1.5)
        show("diagnose, cold, files dropped", diagnose, args.repeat, drop=dropped)


def show(
    name: str,
    command: list[str],
    repeat: int,
    *,
    cpu: float | None = None,
    wall: float | None = None,
    drop: Iterable[Path] = (),
) -> None:
    """Print the medians of one command beside its limit."""
    timed = []
    for _ in range(repeat):
        forget(drop)
        timed.append(seconds(command))
    used, waited = (statistics.median(column) for column in zip(*timed, strict=True))
    within = (cpu is None or used <= cpu) and (wall is None or waited <= wall)
    limit = f"{cpu} s CPU" if cpu else f"{wall} s wall" if wall else ""
    print(f"{name:36}{used:8.3f}{waited:8.3f}   {limit} {('pass' if within else 'FAIL') if limit else ''}")


def seconds(command: list[str]) -> tuple[float, float]:
    """CPU (user + system) and wall seconds of one fresh process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} exited with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def forget(folders: Iterable[Path]) -> None:
    """Ask the kernel to drop the files below `folders` from the page cache."""
    for path in (p for folder in folders for p in folder.rglob("*") if p.is_file()):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def generate(folder: str) -> None:
    """Write the run: six metrics as correlated noise around plain trends, the training loss rising from step 6,000."""
    import numpy as np
    from scipy.signal import lfilter
    from torch.utils.tensorboard import SummaryWriter

    rng = np.random.default_rng(0)
    x = np.arange(POINTS) / POINTS
    rise = np.clip(x - 0.6, 0, None) * 8
    curves = {
        "train/loss": 2.5 * np.exp(-6 * x) + 0.4 + rise,
        "val/loss": 2.5 * np.exp(-5 * x) + 0.5,
        "train/grad_norm": np.exp(-x) + rise,
        "train/accuracy": 0.9 - 0.8 * np.exp(-6 * x),
        "train/lr": np.minimum(x / 0.05, 1) * 3e-2,
        "perf/step_time": np.full(POINTS, 0.25),
    }
    noise = {name: lfilter([1], [1, -0.7], rng.standard_normal(POINTS)) * 0.02 for name in curves}
    noise["train/lr"] = np.zeros(POINTS)
    with SummaryWriter(folder, flush_secs=3600) as writer:
        for step in range(POINTS):
            for name, curve in curves.items():
                writer.add_scalar(name, curve[step] + noise[name][step], step, walltime=1.7e9 + 0.25 * step)


PROFILE = """
import cProfile, pstats
profile = cProfile.Profile()
try:
    profile.run({command!r})
except SystemExit:
    pass
pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
"""


if __name__ == "__main__":
    main()

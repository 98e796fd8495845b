"""How long a person waits: the start of the command line, one whole diagnosis, and their largest parts.

    python tests/bench/startup.py [--repeat 5] [--profile]

Medians over fresh processes, pinned to one core with one polars thread. The run that is diagnosed is made here by the
real writer: TensorBoard, 6 metrics of 10,000 points, the training loss leaving its trend at step 6,000. "cold" means
that the process has nothing loaded; byte code and the compiled catalogue are there, as after an installation by pip,
and the files are in the page cache, except in the row `files dropped`, where the kernel is asked to forget the run, the
package and the catalogue first. The rows `not compiled` have no compiled catalogue.

The last rows are seconds of a part in a fresh process. The whole catalogue (rules, symptoms, notes, trainers, roles,
patterns of log lines, wording) is loaded as a diagnosis needs it, and compared with PyYAML, which only parses the same
files. The 30,000 names are those of 100 layers and 20 measures in 15 groups.
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
CATALOGUE = """
import time
from loganalyst import features, patterntraits, pipeline, rulecatalogue, rulefiles
from loganalyst.curves import roles, trainers
from loganalyst.sources.text.patterns import catalogue
features.declared(), rulefiles.compiled.cache_clear(), rulefiles.text_files.cache_clear()
begin = time.process_time()
rulefiles.compiled(), rulecatalogue.catalogue(), trainers.trainers(), roles.all_roles(), catalogue.catalogue()
for name in sorted(path.name for path in rulefiles.rules_dir().glob("*.yaml")):
    rulefiles.load(rulefiles.rules_dir() / name)
print(time.process_time() - begin)
"""
PYYAML = """
import time, yaml
from loganalyst import rulefiles
begin = time.process_time()
for path in rulefiles.yaml_files(rulefiles.rules_dir()):
    yaml.load(path.read_bytes(), yaml.CSafeLoader)
print(time.process_time() - begin)
"""
NAMES = """
import time
from loganalyst.curves import roles
groups = [f"{a}/{b}" for a in ("train", "val", "grad", "weights", "perf") for b in ("encoder", "decoder", "head")]
measures = ["loss", "norm", "grad_norm", "std", "mean", "max", "acc", "kl", "entropy", "lr", "time", "ratio", "f1",
            "mae", "count", "attn_logit_max", "cls_loss", "recon", "update_ratio", "score"]
names = [f"{group}.layer_{i}.{measure}" for group in groups for i in range(100) for measure in measures]
begin = time.process_time()
assert len(roles.assign(names)) == 30_000
print(time.process_time() - begin)
"""
GENERATE = "import startup, sys; startup.generate(sys.argv[1])"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="profile one diagnosis")
    args = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited by every process started below
    os.environ["POLARS_MAX_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
        os.environ["PYTHONPYCACHEPREFIX"] = os.environ["XDG_CACHE_HOME"] = kept
        subprocess.run([sys.executable, "-c", GENERATE, folder], check=True, cwd=Path(__file__).parent)
        diagnose = [*COMMAND, "diagnose", folder, "--exit-zero"]
        seconds(diagnose)  # writes the byte code, and the compiled catalogue
        if args.profile:
            command = f"import loganalyst.cli as c; c.main({diagnose[3:]!r})"
            subprocess.run([sys.executable, "-c", PROFILE.format(command=command)], check=True)
            return
        dropped = [Path(folder), Path(loganalyst.__file__).parent, rules_dir()]
        print(f"{'':36}{'CPU s':>8}{'wall s':>8}   limit")
        show("bare interpreter", [sys.executable, "-c", ""], args.repeat)
        show("import loganalyst", [sys.executable, "-c", "import loganalyst"], args.repeat)
        show("loganalyst --help", [*COMMAND, "--help"], args.repeat, cpu=0.15)
        show("diagnose, cold", diagnose, args.repeat, wall=0.6)
        show("diagnose, cold, files dropped", diagnose, args.repeat, drop=dropped)
        show_inside("catalogue, compiled", CATALOGUE, args.repeat, 0.03)
        show_inside("the same files: PyYAML with libyaml", PYYAML, args.repeat)
        show_inside("roles of 30,000 names", NAMES, args.repeat, 0.3)
        os.environ["XDG_CACHE_HOME"] = "/dev/null"
        show_inside("catalogue, not compiled", CATALOGUE, args.repeat)
        show("diagnose, cold, not compiled", diagnose, args.repeat)


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


def show_inside(name: str, code: str, repeat: int, limit: float | None = None) -> None:
    """Print the median of what `code` measures in fresh processes."""
    runs = [subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True) for _ in range(repeat)]
    used = statistics.median(float(run.stdout) for run in runs)
    print(f"{name:36}{used:8.3f}{'':8}   " + (f"{limit} s CPU {'pass' if used <= limit else 'FAIL'}" if limit else ""))


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

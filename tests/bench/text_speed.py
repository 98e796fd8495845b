"""A job log of 1 GB: pattern scan, whole reading and whole diagnosis beside what one would use instead.

    python tests/bench/text_speed.py [--megabytes 1000] [--small 1000] [--only NAME]

The log is made here: 16 % of its lines print metrics in two forms, 2 % come from NCCL, one in 200 is a warning that a
pattern claims, the rest is chatter with times and numbers; it ends in a traceback. Of a second one 1 % of the lines
print metrics. A third, of 200 MB at most, is what tqdm writes into a file: a bar overwritten with CR, with blocks,
colours and a loss. A fourth is of a job that died and was begun anew, over and over; a folder holds the logs of a
thousand ranks. Every reader is a fresh process, the faster of two; printed are its CPU seconds (of all threads, and of
processes it starts; modules are loaded before), GB/s of CPU time, the seconds that passed and GB/s of those (two
processes read a large log where there are two processors), the CPU seconds of the first thread (no less can pass), and
the peak memory of all above that after loading. The peers look for the literals of the same patterns: ripgrep and
`grep -F` on the whole file, Python's re on its first 16 MB; of the bars one regex takes step and loss.
`--small` is the number of copies of a short failed log that are read one after another. Linux only.
"""

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CHATTER = (
    "prefetch queue has {} items waiting on worker {}",
    "gathered shard {} of {} from cache /scratch/data/shard-{}.tar",
    "allreduce bucket {} ready after {} us",
    "rank {} heartbeat ok, {} tasks pending",
    "resolved {} symbols in {} ms",
    "moving block {} to device cuda:{}",
)
MODULES = ("trainer", "data.loader", "dist.utils", "checkpointing", "engine", "sampler")
END = """Traceback (most recent call last):
  File "/home/me/train.py", line 10, in main
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""
SHORT = "".join(f"step {i} loss {1 / (i + 1):.4f} lr 1e-3\n" for i in range(50)) + END
PART = 16 << 20
RUNS = 2  # memory that a machine has not touched yet costs the first
BARS = "bars-1.err"
SELDOM = "slurm-2.out"
LOOP = "slurm-3.out"
STARTS = 10_000
RANKS = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--only", choices=READERS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, words = Path(folder) / "slurm-1.out", Path(folder) / "literals"
        write(log, args.megabytes * 1_000_000)
        write(log.with_name(SELDOM), args.megabytes * 1_000_000, metrics=0.01)
        log.with_name(LOOP).write_text(("Namespace(lr=0.001)\n" + SHORT) * STARTS)
        write_ranks(log.with_name("ranks"))
        write_bars(log.with_name(BARS), min(args.megabytes, 200) * 1_000_000)
        words.write_text("\n".join(literals()) + "\n")
        words.with_name("regexes").write_text("\n".join(map(escaped, literals())) + "\n")
        os.sync()  # or the kernel goes on writing the logs while they are read
        print(f"{'reader':25}{'MB':>8}{'CPU s':>9}{'GB/s':>8}{'s':>9}{'GB/s':>8}{'1st CPU s':>11}{'peak MB':>9}  found")
        for name in [args.only] if args.only else READERS:
            child(name, str(log), str(words), str(args.small))


def child(name: str, *arguments: str) -> None:
    """Print the row of one reader: the faster of its runs."""
    code = "import text_speed, sys; text_speed.measure(*sys.argv[1:])"
    command = [sys.executable, "-c", code, name, *arguments]
    here = Path(__file__).parent
    runs = [subprocess.run(command, capture_output=True, text=True, check=False, cwd=here) for _ in range(RUNS)]
    rows = [done.stdout.rstrip() for done in runs if done.returncode == 0]
    print(min(rows, key=_seconds, default=f"{name:25}  not here: {runs[0].stderr.splitlines()[-1:]}"), flush=True)


def _seconds(row: str) -> float:
    return float(row[25:].split()[3])


def measure(name: str, log: str, words: str, small: str) -> None:
    """Run one reader in this process and print its figures."""
    take = READERS[name](Path(log), Path(words), int(small))
    before, begin, first, clock = peak(), cpu(), time.thread_time(), time.perf_counter()
    found, size = take()
    seconds, passed = cpu() - begin, time.perf_counter() - clock
    rates = f"{seconds:9.2f}{size / 1e9 / seconds:8.3f}{passed:9.2f}{size / 1e9 / passed:8.3f}"
    print(f"{name:25}{size / 1e6:8.0f}{rates}{time.thread_time() - first:11.2f}{peak() - before:9.0f}  {found}")


def cpu() -> float:
    """CPU seconds of this process and its children, those that still run too."""
    ended, tick = resource.getrusage(resource.RUSAGE_CHILDREN), os.sysconf("SC_CLK_TCK")
    running = (Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split() for child in children())
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(int(s[11]) + int(s[12]) for s in running) / tick


def peak() -> float:
    """Peak resident memory in MB, of the children too."""
    statuses = (Path(f"/proc/{process}/status").read_text() for process in ["self", *children()])
    return sum(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / 1e6 for status in statuses)


def children() -> list[str]:
    """The processes that this one started and that still run."""
    return [child for of in Path("/proc/self/task").glob("*/children") for child in of.read_text().split()]


def literals() -> list[str]:
    from loganalyst.sources.text.patterns import catalogue

    return list(dict.fromkeys(word for p in catalogue.catalogue() for word in p.literals))


def escaped(word: str) -> str:
    """As a regex that any engine takes."""
    return re.sub(r"[.*+?()\[\]{}|^$\\]", r"\\\g<0>", word)


Reader = Callable[[], tuple[str, int]]


def scan(log: Path, _words: Path, _small: int) -> Reader:
    """All patterns on every line, captures on the lines they claim; no metrics, no sessions."""
    import numpy as np

    from loganalyst.sources.text.lines import loglines as textlines
    from loganalyst.sources.text.patterns import catalogue

    known = catalogue.catalogue()
    catalogue.candidates(b"", np.zeros(1, np.int64), known)

    def take() -> tuple[str, int]:
        hits = 0
        for chunk, _ in textlines.batches(log):
            rows, numbers = catalogue.candidates(chunk.data, chunk.starts[1:] - 1, known)
            lines, at = np.unique(rows, return_inverse=True)
            hits += catalogue.claims(chunk.rows(lines)["body"], at, numbers, known).height
        return f"{hits} lines", log.stat().st_size

    return take


def reading(log: Path, _words: Path, _small: int) -> Reader:
    """The whole reading: lines, tracebacks, sessions, metrics."""
    from loganalyst.sources.text import reader
    from loganalyst.sources.text.patterns import catalogue

    catalogue.catalogue()

    def take() -> tuple[str, int]:
        points = lines = 0
        for tables in reader.read(log):
            points, lines = points + tables.points.height, lines + tables.lines.height
        return f"{points} points, {lines} lines", log.stat().st_size

    return take


def reading_bars(log: Path, words: Path, small: int) -> Reader:
    """The whole reading of the bars."""
    return reading(log.with_name(BARS), words, small)


def diagnosed(log: Path, _words: Path, _small: int) -> Reader:
    """What `diagnose` does: the reading, the curves, the judgement and the report."""
    from loganalyst import pipeline
    from loganalyst.report.diagnosis import terminal

    pipeline.catalogue()

    def take() -> tuple[str, int]:
        found = pipeline.diagnose(log)
        shown = terminal.render(found).count("\n")
        return f"{', '.join(cause.id for cause in found.causes)}; {shown} lines", log.stat().st_size

    return take


def diagnosed_seldom(log: Path, words: Path, small: int) -> Reader:
    """The same of the log with few metrics."""
    return diagnosed(log.with_name(SELDOM), words, small)


def diagnosed_loop(log: Path, words: Path, small: int) -> Reader:
    """The same of the log whose every start has a cause of its own."""
    return diagnosed(log.with_name(LOOP), words, small)


def diagnosed_ranks(log: Path, words: Path, small: int) -> Reader:
    """The same of a run with a log of each rank."""
    ranks = log.with_name("ranks")
    take = diagnosed(ranks, words, small)
    return lambda: (take()[0], sum(file.stat().st_size for file in ranks.iterdir()))


def short_logs(log: Path, _words: Path, small: int) -> Reader:
    """Many short logs."""
    from loganalyst.sources.text import reader

    short = log.with_name("short.out")
    short.write_text(SHORT)
    list(reader.read(short))

    def take() -> tuple[str, int]:
        begin = cpu()
        for _ in range(small):
            list(reader.read(short))
        return f"{1000 * (cpu() - begin) / max(small, 1):.1f} ms a log", small * short.stat().st_size

    return take


def command(*words: str, given: str = "literals") -> Callable[[Path, Path, int], Reader]:
    """A program that counts the lines that hold a literal; it reads them from the file `given`."""

    def prepared(log: Path, literal: Path, _small: int) -> Reader:
        if not shutil.which(words[0]):
            raise SystemExit(f"{words[0]} is not installed")

        def take() -> tuple[str, int]:
            done = subprocess.run(
                [*words, str(literal.with_name(given)), str(log)], capture_output=True, text=True, check=False
            )
            return f"{done.stdout.strip()} lines", log.stat().st_size

        return take

    return prepared


def python_re(log: Path, words: Path, _small: int) -> Reader:
    """One alternation of all literals."""
    found = re.compile("|".join(map(re.escape, words.read_text().splitlines())))

    def take() -> tuple[str, int]:
        with log.open() as file:
            data = file.read(PART)
        return f"{sum(bool(found.search(line)) for line in data.splitlines())} lines", len(data)

    return take


def python_bars(log: Path, _words: Path, _small: int) -> Reader:
    """Step and loss of each refresh."""
    found = re.compile(r"(\d+)/\d+ \[[^\]]*loss=([0-9.e+-]+)")

    def take() -> tuple[str, int]:
        with log.with_name(BARS).open(newline="") as file:
            data = file.read(PART)
        taken = [(int(step), float(loss)) for step, loss in found.findall(data)]
        return f"{len(taken)} points", len(data.encode())

    return take


READERS: dict[str, Callable[[Path, Path, int], Reader]] = {
    "patterns": scan,
    "whole reading": reading,
    "whole diagnosis": diagnosed,
    "diagnosis, 1 % metrics": diagnosed_seldom,
    "diagnosis, 10,000 starts": diagnosed_loop,
    "diagnosis, 1,000 ranks": diagnosed_ranks,
    "short logs": short_logs,
    "whole reading, bars": reading_bars,
    "python re, bars": python_bars,
    "rg -j1 -F -f": command("rg", "-j1", "-c", "-F", "-f"),
    "rg -j1 -f": command("rg", "-j1", "-c", "-f", given="regexes"),
    "grep -F -f": command("grep", "-c", "-F", "-f"),
    "python re": python_re,
}


def write(path: Path, size: int, metrics: float = 0.16) -> None:
    """A log of about `size` bytes, of which a share of the lines print `metrics`."""
    made = random.Random(1)
    step, tenths, written = 0, 0, 0
    with path.open("w") as file:
        while written < size:
            lines = []
            for _ in range(20_000):
                tenths += 1
                step, line = one(made, step, tenths, metrics)
                lines.append(line)
            written += file.write("\n".join(lines) + "\n")
        file.write(END)


def write_ranks(folder: Path) -> None:
    """A log of each rank; of one the GPU fails, the others wait for it."""
    folder.mkdir()
    waits = "ran for 600099 milliseconds before timing out."
    for rank in range(RANKS):
        steps = "".join(
            f"[rank{rank}] step {i} loss {2 + 1 / (i + 1):.4f} lr 1e-4\n" for i in range(800 - (rank == 317))
        )
        fault = (
            "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"
            if rank == 317
            else f"Watchdog caught collective operation timeout: WorkNCCL(SeqNum=900, OpType=ALLREDUCE) {waits}"
        )
        (folder / f"rank_{rank:04}.log").write_text(f"{steps}[rank{rank}]: {fault}\n")


def write_bars(path: Path, size: int) -> None:
    """A log of about `size` bytes: epochs of 1,000 steps, each in one line."""
    made, written, epoch = random.Random(1), 0, 0
    with path.open("w", newline="") as file:
        while written < size:
            states = [bar(epoch, step, made.random()) for step in range(0, 1000, 2)]
            written += len("".join(states).encode()) + 1
            file.write("".join(states) + "\n")
            epoch += 1


def bar(epoch: int, step: int, x: float) -> str:
    """One refresh."""
    drawn, passed = "█" * (step // 40), f"{step // 600:02}:{step // 10 % 60:02}"
    return (
        f"\r\x1b[32mEpoch {epoch}\x1b[0m: {step // 10:3}%|{drawn:25}| {step}/1000 [{passed}<01:40, {9 + x:.2f}it/s, "
        f"loss={2 + x:.4f}]"
    )


def one(made: random.Random, step: int, tenths: int, metrics: float) -> tuple[int, str]:
    """The step after a line, and the line."""
    seconds = tenths // 10
    stamp = (
        f"2024-05-{1 + seconds // 86400 % 28:02} {seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    )
    kind, x = made.random(), made.random()
    if kind < 0.875 * metrics:
        values = (
            f"loss {2 + x:.4f} | lr {1 / (1e4 + step):.3e} | grad_norm {3 * x:.3f} | tokens/s {90_000 + step % 999}"
        )
        return step + 1, f"{stamp},{tenths % 10}00 - INFO - trainer - step {step + 1}/1000000 | {values}"
    if kind < metrics:
        return step, (
            f" iteration {step:8}/ 1000000 | consumed samples: {step * 512:12} | elapsed time per iteration (ms): "
            f"{300 + x:.1f} | learning rate: 1.000E-04 | lm loss: {2 + x:.6E} | grad norm: {x:.3f} | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
    if kind < metrics + 0.02:
        return (
            step,
            f"n{tenths % 64:03}:{tenths % 999}:9 [{tenths % 8}] NCCL INFO Channel 0{tenths % 9}/0 : 1[2] -> 3[4]",
        )
    if kind < metrics + 0.025:
        return (
            step,
            "/opt/env/torch/nn/functional.py:1967: UserWarning: nn.functional.tanh is deprecated. Use torch.tanh.",
        )
    said = made.choice(CHATTER).replace("{}", str(tenths * 7919 % 9999))
    return step, f"{stamp},{tenths % 10}00 - DEBUG - {MODULES[tenths % 6]} - {said}"


if __name__ == "__main__":
    main()

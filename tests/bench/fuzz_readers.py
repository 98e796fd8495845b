"""Readers on mutated files: no exception, no hang, no wrong value, no intact record lost, nothing kept silent.

    python tests/bench/fuzz_readers.py [--format NAME] [--inputs 200000] [--seed 0] [--seconds S] [--jobs 2]
    python tests/bench/fuzz_readers.py --replay NAME:SEED:NUMBER

Every reader that is found is given small files by the real writers (`fuzzing/seeds.py`) after one to four mutations
(`fuzzing/mutate.py`); `fuzzing/check.py` says what must hold. An input is determined by format, seed and number. Each
kind of fault is shown once, with its mutations shrunk to the fewest and smallest that show it; the input itself is kept
in `--failures`. A process that dies counts as an exception of the input it was at. Linux only.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fuzzing.check import Fault, Subject
from fuzzing.mutate import Mutation, mutated, plan
from fuzzing.seeds import SPECS, Spec

from loganalyst.sources.formats import HEAD, formats

COLUMNS = ("exceptions", "hangs", "invalid", "wrong", "lost", "untold")
CHUNK = 25_000  # inputs a process reads
LARGEST = 16 << 30  # bytes of address space a process may take
SHM = Path("/dev/shm")
TEMP = Path(tempfile.gettempdir())


class Fuzzer:
    """One reader with its seeds, as subjects; a reader without seeds of its own gets everyone's, loosely."""

    def __init__(self, name: str, seeds: Path, work: Path) -> None:
        module = next(m for m in formats() if name == m.NAME)
        spec, owners = (SPECS[name], [name]) if name in SPECS else (Spec(lambda _: None), list(SPECS))
        self.name, self.subjects = name, []
        for owner in owners:
            root = written(owner, seeds)
            files = sorted(path for path in root.rglob("*") if path.is_file())
            files = [path for path in files if name not in SPECS or module.sniff(path, path.read_bytes()[:HEAD])]
            folders = (work / f"{owner}-{i}" for i in range(len(files)))
            self.subjects += [Subject(module, spec, *of, root) for of in zip(files, folders, strict=True)]
        self.weights = [1 / max(1, len(s.data) / 16_000) ** 1.5 for s in self.subjects]

    def input(self, seed: int, number: int) -> tuple[Subject, Subject, list[Mutation]]:
        """The input of that number: the seed file, the one it may be spliced with, the mutations."""
        rng = random.Random(f"{self.name}-{seed}-{number}")
        subject, other = rng.choices(self.subjects, self.weights, k=2)
        borders = [place for unit in subject.units for place in unit]
        return subject, other, plan(rng, len(subject.data), borders)

    def faults(self, subject: Subject, other: Subject, steps: Sequence[Mutation]) -> list[Fault]:
        return subject.faults(mutated(subject.data, other.data, steps), other)

    def shrunk(self, subject: Subject, other: Subject, steps: list[Mutation], kind: str) -> list[Mutation]:
        """Fewer and smaller mutations that show a fault of the same kind."""

        def shows(fewer: list[Mutation]) -> bool:
            return bool(fewer) and any(f.kind == kind for f in self.faults(subject, other, fewer))

        i = 0
        while i < len(steps):
            if shows(fewer := steps[:i] + steps[i + 1 :]):
                steps = fewer
                continue
            smaller = steps[i]._replace(size=steps[i].size // 2)
            if smaller.size and smaller != steps[i] and shows(fewer := [*steps[:i], smaller, *steps[i + 1 :]]):
                steps = fewer
                continue
            i += 1
        return steps


def written(name: str, seeds: Path) -> Path:
    """The folder with the seeds of a format, written once."""
    root = seeds / name
    if not root.exists():
        SPECS[name].write(fresh := seeds / f"writing-{name}")
        fresh.rename(root)
    return root


def work(name: str, seeds: Path, seed: int, span: range, until: float, failures: Path, note: Path) -> dict[str, Any]:
    """Read the inputs of `span`; the counts of faults, and each new kind with its shrunk mutations."""
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    with tempfile.TemporaryDirectory(dir=SHM if SHM.is_dir() else None) as folder:
        fuzzer, counts, shown, done = Fuzzer(name, seeds, Path(folder)), Counter(), {}, 0
        begin = time.process_time()
        for number in span:
            if time.time() > until:
                break
            note.write_text(str(number))
            case = fuzzer.input(seed, number)
            done += 1
            for fault in {f.kind: f for f in fuzzer.faults(*case)}.values():
                counts[fault.kind] += 1
                if (key := f"{fault.kind} {fault.place}") not in shown:
                    shown[key] = told(fuzzer, fault, case, f"{name}:{seed}:{number}", failures)
    return {"done": done, "cpu": time.process_time() - begin, "counts": counts, "shown": shown}


def told(fuzzer: Fuzzer, fault: Fault, case: tuple[Subject, Subject, list[Mutation]], at: str, failures: Path) -> str:
    """What to print of a fault; its smallest input is kept in `failures`."""
    subject, other, steps = case
    small = fuzzer.shrunk(subject, other, steps, fault.kind)
    detail = next((f.detail for f in fuzzer.faults(subject, other, small) if f.kind == fault.kind), fault.detail)
    failures.mkdir(parents=True, exist_ok=True)
    kept = failures / f"{at.replace(':', '-')}-{fault.kind}-{subject.path.name}"
    kept.write_bytes(mutated(subject.data, other.data, small).data)
    return f"{at} {fault.kind} in {fault.place}, seed {subject.name}, {[tuple(s) for s in small]}\n  {kept}\n  {detail}"


def run(name: str, args: argparse.Namespace, until: float) -> dict[str, Any]:
    """All inputs of a format, a process a chunk; one that dies is started again behind the input it died of."""
    total: dict[str, Any] = {"done": 0, "cpu": 0.0, "counts": Counter(), "shown": {}}
    begin = 0
    while begin < args.inputs and time.time() < until:
        end = min(begin + CHUNK, args.inputs)
        with tempfile.NamedTemporaryFile() as note:
            order = [name, str(args.seeds), args.seed, begin, end, until, str(args.failures), note.name]
            command = [sys.executable, __file__, "--worker", json.dumps(order)]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                if not (reached := Path(note.name).read_text()):
                    raise SystemExit(f"{name}: {ended.stderr}")
                at = int(reached)
                found = {"done": at + 1 - begin, "cpu": 0.0, "counts": {"exceptions": 1}}
                found["shown"] = {
                    f"died {ended.stderr[-200:]}": f"{name}:{args.seed}:{at} died\n{ended.stderr[-1500:]}"
                }
                end = at + 1
            else:
                found = json.loads(ended.stdout.splitlines()[-1])
        total["counts"].update(found["counts"])
        total["shown"] = found["shown"] | total["shown"]
        total["done"] += found["done"]
        total["cpu"] += found["cpu"]
        begin = end
    return total


def main() -> None:
    names = sorted(m.NAME for m in formats())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=names)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each format")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=Path, default=TEMP / "loganalyst-fuzz-seeds")
    parser.add_argument("--failures", type=Path, default=TEMP / "loganalyst-fuzz-failures")
    parser.add_argument("--replay", metavar="NAME:SEED:NUMBER")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        name, seeds, seed, begin, end, until, failures, note = json.loads(args.worker)
        print(json.dumps(work(name, Path(seeds), seed, range(begin, end), until, Path(failures), Path(note))))
    elif args.replay:
        replay(args.replay, args)
    else:
        table([args.format] if args.format else names, args)


def table(names: list[str], args: argparse.Namespace) -> None:
    """Print a row a format, then each kind of fault."""
    print(f"{'format':14}{'inputs':>9}" + "".join(f"{c:>11}" for c in COLUMNS) + f"{'inputs/s':>10}", flush=True)
    for name in names:
        if name in SPECS:
            written(name, args.seeds)

    def row(name: str) -> dict[str, Any]:
        found = run(name, args, time.time() + args.seconds)
        numbers = "".join(f"{found['counts'].get(c, 0):11,}" for c in COLUMNS)
        print(f"{name:14}{found['done']:9,}{numbers}{found['done'] / (found['cpu'] or 1):10.0f}", flush=True)
        return found

    with ThreadPoolExecutor(args.jobs) as pool:
        every = list(pool.map(row, names))
    for found in every:
        print(*found["shown"].values(), sep="\n")
    sys.exit(1 if any(found["counts"] for found in every) else 0)


def replay(which: str, args: argparse.Namespace) -> None:
    """Read one input again and print what is wrong."""
    name, seed, number = which.rsplit(":", 2)
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(name, args.seeds, Path(folder))
        case = fuzzer.input(int(seed), int(number))
        for fault in fuzzer.faults(*case):
            print(told(fuzzer, fault, case, which, args.failures))


if __name__ == "__main__":
    main()

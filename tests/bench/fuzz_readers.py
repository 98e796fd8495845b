"""Mutated files: no reader raises, hangs, tells a wrong value or loses what is intact.

    python -m tests.bench.fuzz_readers [--format NAME ...] [--inputs 200000] [--first 0] [--seconds S] [--keep FOLDER]
    python -m tests.bench.fuzz_readers --format NAME --replay NUMBER

Each input has a number, from which its seed file, its mutations and the size of the reader's blocks follow; so it can
be read again. `fuzz/seeds.py` has the seed files, `fuzz/mutate.py` what is done to them, `fuzz/promises.py` what must
hold. Every fourth input is, where the reader can do so, also read up to a cut and then on from there: the same tables.
What fails is shrunk to the fewest mutations that fail alike, told, and its file kept. Inputs are read in this process:
POLARS_MAX_THREADS=1 makes that faster; run several with their own `--first` to use more processors. A loop in C that no
signal stops ends the whole run: the last file below the temporary folder is the one that was read.
"""

import argparse
import faulthandler
import gc
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple, NoReturn

from tests.bench.fuzz.mutate import Mutation, mutated, mutations
from tests.bench.fuzz.promises import Fault, sound
from tests.bench.fuzz.seeds import Seed
from tests.bench.fuzz.targets import Target, comparable, targets

HANG = 20  # seconds; the largest seed is read in a few milliseconds
LARGE = 1 << 18  # bytes: a mutant above that (a part repeated) would be thousands of small blocks, which take that long
READ_ON = 4  # every so many inputs are read in two parts too
KINDS = ("exception", "hang", "wrong", "lost", "resume")
SHOWN = 20  # failures of a format that are told and kept


class Input(NamedTuple):
    """A mutant: all follows from its number."""

    seed: Seed
    done: list[Mutation]
    small: bool
    cut: float | None


class _HangError(BaseException):
    """Reading takes too long; no Exception, so that no reader takes it for damage."""


def chosen(target: Target, number: int) -> Input:
    """The input of this number."""
    rng = random.Random(f"{target.name} {number}")
    seed = rng.choice(target.seeds)
    cut = rng.random() if number % READ_ON == 0 and hasattr(target.module, "resume") else None
    return Input(seed, mutations(rng, len(seed.data)), rng.random() < 0.5, cut)


def faults(target: Target, mutant: Input) -> list[Fault]:
    """What is wrong with the reading of a mutant."""
    data = mutated(mutant.seed.data, mutant.done, [seed.data for seed in target.seeds])
    path = target.path(mutant.seed)
    path.write_bytes(data)
    try:
        with _watched(), target.sizes(mutant.small and len(data) < LARGE):
            tables = target.read(path)
            found = [*sound(tables, len(data)), *target.promise(tables, data, mutant.seed)]
            if mutant.cut is not None:
                parts = target.read_on(path, data, int(mutant.cut * (len(data) + 1)))
                whole, read_on = comparable(tables), comparable(parts or tables)
                found += [
                    Fault("resume", f"{k}: {whole[k]}\n{read_on[k]}") for k in whole if not whole[k].equals(read_on[k])
                ]
    except (KeyboardInterrupt, SystemExit):
        raise
    except _HangError:
        return [Fault("hang", f"more than {HANG} s")]
    except BaseException as error:
        return [Fault("exception", f"{type(error).__name__}: {error}")]
    return found


@contextmanager
def _watched() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise _HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def shrunk(target: Target, mutant: Input, kind: str) -> Input:
    """The mutant with as few mutations, and as short ones, as still fail in this way."""

    def fails(done: Sequence[Mutation]) -> bool:
        return any(fault.kind == kind for fault in faults(target, mutant._replace(done=list(done))))

    done = mutant.done
    for mutation in mutant.done:
        if fails(fewer := [other for other in done if other is not mutation]):
            done = fewer
    for i in range(len(done)):
        while (length := done[i].length) > 1:
            shorter = [*done[:i], done[i]._replace(length=length // 2), *done[i + 1 :]]
            if not fails(shorter):
                break
            done = shorter
    return mutant._replace(done=done)


def run(target: Target, numbers: Sequence[int], seconds: float, keep: Path) -> Counter[str]:
    """Counts of inputs and of each kind of failure; what fails is told."""
    gc.freeze()  # what is there now is not looked through again and again
    counts, end = Counter[str](), time.monotonic() + seconds
    for number in numbers:
        if time.monotonic() > end:
            break
        counts["inputs"] += 1
        faulthandler.dump_traceback_later(6 * HANG, exit=True)  # a loop in C, which no signal stops
        mutant = chosen(target, number)
        if found := faults(target, mutant):
            counts[found[0].kind] += 1
            if sum(counts[kind] for kind in KINDS) <= SHOWN:
                tell(target, number, shrunk(target, mutant, found[0].kind), keep)
    faulthandler.cancel_dump_traceback_later()
    return counts


def tell(target: Target, number: int, mutant: Input, keep: Path) -> None:
    """Print a failure and keep its file."""
    path = keep / f"{target.name}-{number}-{Path(mutant.seed.path).name}"
    path.write_bytes(mutated(mutant.seed.data, mutant.done, [seed.data for seed in target.seeds]))
    blocks = "small" if mutant.small else "usual"
    print(f"{target.name} {number}: {mutant.seed.path}, {blocks} blocks, cut {mutant.cut}; {path}")
    for mutation in mutant.done:
        print("   ", *mutation)
    for fault in faults(target, mutant):
        print(f"  {fault.kind}: {fault.what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", action="append", default=[])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each format")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir(), "loganalyst-fuzz"))
    parser.add_argument("--replay", type=int)
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    numbers = range(asked.first, asked.first + asked.inputs) if asked.replay is None else [asked.replay]
    failed = False
    print(f"{'format':12}{'inputs':>9}" + "".join(f"{kind:>11}" for kind in KINDS) + f"{'inputs/s':>11}")
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="loganalyst-fuzz-", dir=memory) as folder:
        for target in targets(Path(folder), asked.format):
            begin = time.monotonic()
            counts = run(target, numbers, asked.seconds, asked.keep)
            rate = counts["inputs"] / (time.monotonic() - begin)
            told = "".join(f"{counts[kind]:11}" for kind in KINDS)
            print(f"{target.name:12}{counts['inputs']:9}{told}{rate:11.0f}", flush=True)
            failed |= any(counts[kind] for kind in KINDS)
    sys.exit(failed)


if __name__ == "__main__":
    main()

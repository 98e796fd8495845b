"""Blocks of logs, against what real programs print when they die, on several ranks at once."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.lines.chunks import chunk_of
from loganalyst.sources.text.sizes import SIZES, Sizes
from loganalyst.sources.text.tracebacks import textblocks


class Told(NamedTuple):
    """A block as a program must be read: `line` of its innermost own frame, `led_by` the message of its parent."""

    kind: str
    exception: str | None
    message: str | None
    place: str | None
    led_by: str | None = None
    times: int = 1


class Program(NamedTuple):
    """Source and what its death must be read as, in the order of the file."""

    source: str
    told: list[Told]


CHAINED = """
def load(path):
    return {}[path]
def main():
    try:
        load("a")
    except KeyError as first:
        try:
            raise OSError(5, "first handler") from first
        except OSError:
            raise RuntimeError("gave up: 3 tries")
main()
"""
GROUP = """
def one(n):
    raise ValueError(f"bad part {n}")
def main():
    errors = []
    for n in (1, 2):
        try:
            one(n)
        except ValueError as error:
            errors.append(error)
    raise ExceptionGroup("parts", [*errors, TypeError("never raised")])
main()
"""
RECURSION = """
def deeper(n):
    return deeper(n + 1)
deeper(0)
"""
NOTES = """
class Odd(Exception): pass
def main():
    error = Odd("with notes: a: b")
    error.add_note("a note: see the curves")
    error.add_note("File \\"x.py\\", line 3, in y")
    raise error
main()
"""
SYNTAX = "def main(:\n    pass\n"
SEGFAULT = """
import faulthandler, threading, time
faulthandler.enable()
threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
time.sleep(0.05)
def crash():
    faulthandler._sigsegv()
crash()
"""
WORKER = """
from concurrent.futures import ProcessPoolExecutor
def work(n):
    raise ValueError(f"in the worker")
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        pool.submit(work, 1).result()
"""
RICH = """
from rich.traceback import install
install(width=60)
def inner(x):
    return int(x)
def main():
    try:
        inner("a")
    except ValueError as error:
        raise RuntimeError("boxed") from error
main()
"""
RICH_GROUP = """
from rich.traceback import install
install(width=60)
def one(n):
    raise ValueError(f"bad part {n}")
def main():
    errors = []
    for n in (1, 2):
        try:
            one(n)
        except ValueError as error:
            errors.append(error)
    try:
        raise ExceptionGroup("parts", [*errors, LookupError("never raised")])
    except ExceptionGroup as group:
        raise RuntimeError("after the group") from group
main()
"""
SILENT = "def main():\n    assert 1 == 2\nmain()\n"
PROGRAMS = {
    "chained": Program(CHAINED, [
        Told("python", "KeyError", "'a'", "3 in load"),
        Told("python", "OSError", "[Errno 5] first handler", "9 in main", "'a'"),
        Told("python", "RuntimeError", "gave up: 3 tries", "11 in main", "[Errno 5] first handler"),
    ]),
    "group": Program(GROUP, [
        Told("python", "ExceptionGroup", "parts (3 sub-exceptions)", "11 in main", "bad part 1"),
        Told("python", "ValueError", "bad part 1", "3 in one", times=2),
        Told("python", "TypeError", "never raised", None),
    ]),
    "recursion": Program(RECURSION, [
        Told("python", "RecursionError", "maximum recursion depth exceeded", "3 in deeper"),
    ]),
    "notes": Program(NOTES, [Told("python", "Odd", "with notes: a: b", "7 in main")]),
    "syntax": Program(SYNTAX, [Told("python", "SyntaxError", "invalid syntax", "1 in ?")]),
    "segfault": Program(SEGFAULT, [Told("cpp", "Fatal Python error", "Segmentation fault", "7 in crash")]),
    "worker": Program(WORKER, [
        Told("python", "ValueError", "in the worker", "4 in work"),
        Told("python", "ValueError", "in the worker", "7 in <module>", "in the worker"),
    ]),
    "rich": Program(RICH, [
        Told("python", "ValueError", "invalid literal for int() with base 10: 'a'", "5 in inner"),
        Told("python", "RuntimeError", "boxed", "10 in main", "invalid literal for int() with base 10: 'a'"),
    ]),
    "rich-group": Program(RICH_GROUP, [
        Told("python", "ExceptionGroup", "parts (3 sub-exceptions)", "14 in main", "bad part 1"),
        Told("python", "ValueError", "bad part 1", "5 in one", times=2),
        Told("python", "LookupError", "never raised", None),
        Told("python", "RuntimeError", "after the group", "16 in main", "parts (3 sub-exceptions)"),
    ]),
    "silent": Program(SILENT, [Told("python", "AssertionError", None, "2 in main")]),
}  # fmt: skip


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What each program prints; all are called train.py, in folders of their own names."""
    root = tmp_path_factory.mktemp("dead")
    out = {}
    for name, program in PROGRAMS.items():
        (root / name).mkdir()
        path = root / name / "train.py"
        path.write_text(program.source)
        env = {"COLUMNS": "60", "PYTHONPATH": ":".join(p for p in sys.path if "site-packages" in p)}
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=env, check=False)
        assert done.returncode != 0
        out[name] = done.stderr.rstrip("\n").split("\n")
    return out


def read(path: Path, lines: list[str], sizes: Sizes = SIZES) -> Tables:
    path.write_text("\n".join(lines) + "\n")
    return Tables.concat(reader.read(path, sizes))


def found(tables: Tables) -> dict[str, tuple[Told, list[int] | None]]:
    """Each block with the ranks that printed it, by program (its file's folder; of those without frame `?`)."""
    rows = tables.blocks.to_dicts()
    said = {}
    for row in rows:
        frame = row["frame"]
        program = Path(frame.partition(":")[0]).parent.name if frame else "?"
        place = frame.rpartition(":")[2] if frame else None
        led_by = rows[row["parent"]]["message"] if row["parent"] is not None else None
        told = Told(row["kind"], row["exception"], row["message"] or None, place, led_by, row["repeated"])
        said[f"{program} {row['exception']} {place}"] = told, row["ranks"]
    assert len(said) == len(rows)
    return said


def expected(name: str, ranks: list[int] | None) -> dict[str, tuple[Told, list[int] | None]]:
    many = len(ranks) if ranks else 1
    return {
        f"{name if told.place else '?'} {told.exception} {told.place}": (told._replace(times=told.times * many), ranks)
        for told in PROGRAMS[name].told
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_death_of_each_program(tmp_path: Path, deaths: dict[str, list[str]], name: str) -> None:
    """Exception, message, innermost own frame and cause of each program that died."""
    tables = read(tmp_path / "a.log", ["step 1 loss 0.5", *deaths[name], "step 2 loss 0.25"])

    assert found(tables) == expected(name, None)
    assert tables.points["step"].to_list() == [1, 2]


PREFIXES = ("[rank{}]: ", "{}: ", "[default{}]:")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_ranks_that_print_at_once(tmp_path: Path, deaths: dict[str, list[str]], data: st.DataObject) -> None:
    """Lines of ranks may interleave in any way; a common death of several ranks is one block."""
    prefix = data.draw(st.sampled_from(PREFIXES))
    names = data.draw(st.lists(st.sampled_from(list(PROGRAMS)), min_size=1, max_size=4))
    ranks = data.draw(st.lists(st.integers(0, 99), min_size=len(names), max_size=len(names), unique=True))
    streams = [[prefix.format(r) + line for line in deaths[n]] for n, r in zip(names, ranks, strict=True)]
    steps = data.draw(st.integers(0, 5))
    streams.append([f"step {i} loss {i + 1}.5" for i in range(steps)])
    order = data.draw(st.permutations([i for i, stream in enumerate(streams) for _ in stream]))
    turns = [iter(stream) for stream in streams]
    tables = read(tmp_path / "a.log", [next(turns[i]) for i in order])

    of = {n: sorted(r for m, r in zip(names, ranks, strict=True) if m == n) for n in names}
    assert found(tables) == {k: v for name, who in of.items() for k, v in expected(name, who).items()}
    assert tables.points["value"].to_list() == [i + 1.5 for i in range(steps)]


def test_a_syntax_error_torn_apart_by_other_ranks(tmp_path: Path, deaths: dict[str, list[str]]) -> None:
    """It has no header, and its first line may be far above its last."""
    first, *rest = (f"[rank3]: {line}" for line in deaths["syntax"])
    others = [f"[rank0]: step {i} loss {i + 1}.5" for i in range(300)]

    assert found(read(tmp_path / "a.log", [first, *others, *rest])) == expected("syntax", [3])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chunk=st.integers(400, 4000), names=st.lists(st.sampled_from(list(PROGRAMS)), min_size=2, max_size=5, unique=True)
)
def test_batches_cut_no_block(tmp_path: Path, deaths: dict[str, list[str]], chunk: int, names: list[str]) -> None:
    """For any size of batches, blocks and causes equal those of the whole log."""
    tables = read(tmp_path / "a.log", [line for name in names for line in deaths[name]], Sizes(batch=chunk))

    assert found(tables) == {k: v for name in names for k, v in expected(name, None).items()}


@pytest.mark.parametrize(
    ("last", "row"),
    [
        (["step 3"], 4),
        (["Traceback (most recent call last):", '  File "a.py", line 1, in f'], 3),
        (['  File "a.py", line 1', "    x = = 1"], 3),
        (["terminate called without an active exception"], 3),
    ],
)
def test_a_block_that_may_go_on_waits_for_the_next_batch(last: list[str], row: int) -> None:
    lines = ["step 0", "step 1", "step 2", *last]

    assert textblocks.unfinished(chunk_of("\n".join(lines).encode(), np.arange(len(lines)))) == row

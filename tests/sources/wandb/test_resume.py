"""A run file that grows: read on from a mark, it gives what reading it at once gives."""

import json
import struct
import zlib
from collections.abc import Generator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.wandb import reader

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32768
HISTOGRAM = {"_type": "histogram", "values": [1, 2], "bins": [0.0, 1.0, 2.0]}


def history(step: int, **values: object) -> Record:
    out = Record()
    for key, value in {"_step": step, "_timestamp": 1.6e9 + step, **values}.items():
        out.history.item.add(nested_key=[key], value_json=json.dumps(value))
    return out


def records() -> list[Record]:
    """All kinds a run has: settings that change, rows, histograms, media, console, a summary, alerts, the exit."""
    run, config, end, alert, stats, said = (Record() for _ in range(6))
    run.run.run_id, run.run.project = "abc", "demo"
    run.run.start_time.seconds = 1_600_000_000
    run.run.config.update.add(key="lr", value_json="0.1")
    config.config.update.add(nested_key=["lr"], value_json="NaN")
    alert.alert.title = "look"
    stats.stats.timestamp.seconds = 1_600_000_003
    stats.stats.item.add(key="cpu", value_json="12.5")
    said.output_raw.line = "step 1\nstep 2\n"
    said.output_raw.timestamp.seconds = 1_600_000_009
    end.exit.exit_code = 1
    found = [run]
    for i in range(30):
        summary = Record()
        summary.summary.update.add(nested_key=["loss"], value_json=str(i))
        summary.summary.update.add(nested_key=[f"best{i // 10}"], value_json=str(i))
        pad = "x" * (5000 * (i % 4))
        found += [history(i, loss=1 / (i + 1), h=HISTOGRAM, pad=pad), summary]
        found += {5: [config], 9: [stats, said], 12: [alert], 20: [stats, said]}.get(i, [])
    gone = Record()
    gone.summary.remove.add(nested_key=["best0"])
    return [*found, gone, end]


def framed(messages: list[Record]) -> bytes:
    """The records in LevelDB's blocks."""
    out = bytearray(HEADER)
    for message in messages:
        data, first = message.SerializeToString(), True
        while first or data:
            if BLOCK - len(out) % BLOCK < 7:
                out += bytes(BLOCK - len(out) % BLOCK)
            room = BLOCK - len(out) % BLOCK - 7
            part, data = data[:room], data[room:]
            kind = (1 if first else 4) if not data else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
    return bytes(out)


WHOLE = framed(records())


def taken(reading: Generator[Tables, None, Mark | None]) -> tuple[Tables, Mark | None]:
    """All that a reading gives, and the mark it ends with, as JSON keeps it."""
    batches = []
    while True:
        try:
            batches.append(next(reading))
        except StopIteration as end:
            mark = end.value
            if mark is None:
                return Tables.concat(batches), None
            state = json.loads(json.dumps(mark.state, allow_nan=False))
            return Tables.concat(batches), Mark(mark.offset, dict(mark.kept), state)


def joined(before: Tables, mark: Mark | None, after: Tables) -> dict[str, pl.DataFrame]:
    """The file's rows: those kept of the earlier reading, then the new ones."""
    names = [name for name in SCHEMAS if hasattr(before, name)]
    rows = mark.kept if mark else {}
    kept = {name: getattr(before, name).head(rows.get(name, 0)) for name in names}
    return {name: pl.concat([kept[name], getattr(after, name)]) for name in names}


def same_as_at_once(path: Path, data: bytes, cuts: list[int], **limits: int) -> None:
    """Read growing parts of a file one after the other, and compare each with reading that part at once.

    As W&B leaves it: the console output is in a file of its own.
    """
    (path.parent / "files").mkdir(exist_ok=True)
    (path.parent / "files/output.log").touch()
    path.write_bytes(data[: cuts[0]])
    before, mark = taken(reader.resume(path, None, **limits))
    for cut in [*cuts[1:], len(data)]:
        path.write_bytes(data[:cut])
        after, new = taken(reader.resume(path, mark, **limits))
        found = joined(before, mark, after)
        at_once, whole = taken(reader.resume(path, None, **limits))
        for name, frame in found.items():
            assert frame.equals(getattr(at_once, name)), name
        assert new == whole
        before, mark = at_once, new


examples = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@examples
@given(cut=st.integers(0, len(WHOLE)))
def test_any_cut(tmp_path, cut):
    """Cut anywhere, also inside a record, and grown to its end: the same tables, the same mark."""
    same_as_at_once(tmp_path / "run-x.wandb", WHOLE, [cut])


@examples
@given(cuts=st.lists(st.integers(0, len(WHOLE)), min_size=2, max_size=6))
def test_many_cuts(tmp_path, cuts):
    """Read on several times, also where nothing was added."""
    same_as_at_once(tmp_path / "run-x.wandb", WHOLE, sorted(cuts))


@pytest.mark.parametrize("at", range(len(WHOLE) - 400, len(WHOLE) + 1, 7))
def test_cuts_in_the_last_records(tmp_path, at):
    """The exit record decides how the run ended, whenever it comes."""
    same_as_at_once(tmp_path / "run-x.wandb", WHOLE, [at])


@examples
@given(
    cut=st.integers(0, len(WHOLE)),
    damage=st.lists(st.tuples(st.integers(7, len(WHOLE) - 1), st.integers(1, 9000)), min_size=1, max_size=3),
)
def test_damaged(tmp_path, cut, damage):
    """Zeroed stretches before, behind and across the cut: gaps and records are those of reading at once."""
    data = bytearray(WHOLE)
    for at, length in damage:
        data[at : at + length] = bytes(len(data[at : at + length]))
    same_as_at_once(tmp_path / "run-x.wandb", bytes(data), [cut])


def test_a_wrong_length_before_the_cut(tmp_path):
    """A length that points past the cut is no end of the file where a whole record follows."""
    data = bytearray(framed([history(step, a=1.0) for step in range(9)]))
    data[len(HEADER) + 4 : len(HEADER) + 6] = (300).to_bytes(2, "little")

    for cut in range(100, len(data), 9):
        same_as_at_once(tmp_path / "run-x.wandb", bytes(data), [cut])


def test_small_windows(tmp_path):
    """A record longer than the window is resumed like any other."""
    data = framed([history(0, a=1.0), history(1, pad="x" * 100_000, a=2.0), history(2, a=3.0)])

    for cut in range(0, len(data), 9973):
        same_as_at_once(tmp_path / "run-x.wandb", data, [cut], window=BLOCK)


def test_console_output_is_read_as_a_whole(tmp_path):
    """If only the run file has the console output, it is read again from its beginning."""
    said, path = Record(), tmp_path / "run-x.wandb"
    said.output_raw.line = "RuntimeError: CUDA out of memory\n"
    path.write_bytes(framed([history(0, a=1.0)]))
    _, before = taken(reader.resume(path, None))
    path.write_bytes(framed([history(0, a=1.0), said]))
    found, mark = taken(reader.resume(path, before))

    assert found.lines["line"].to_list() == [1]
    with pytest.raises(StartAgainError, match="as a whole"):
        list(reader.resume(path, mark))


def test_only_appended_records_are_read(tmp_path):
    """The mark is behind the last whole record; the kept rows do not change."""
    path = tmp_path / "run-x.wandb"
    first, both = framed([history(0, a=1.0)]), framed([history(0, a=1.0), history(1, a=2.0)])
    path.write_bytes(both[:-1])
    before, mark = taken(reader.resume(path, None))
    path.write_bytes(both)
    after, _ = taken(reader.resume(path, mark))

    assert (mark.offset, mark.kept["points"]) == (len(first), 1)
    assert before.gaps["why"].to_list() == ["the file ends inside a record"]
    assert after.points["value"].to_list() == [2.0]
    assert after.gaps.height == 0


def test_a_shorter_file(tmp_path):
    """A file that became shorter must be read from its beginning."""
    path = tmp_path / "run-x.wandb"
    path.write_bytes(WHOLE)
    _, mark = taken(reader.resume(path, None))
    path.write_bytes(WHOLE[:100])

    with pytest.raises(StartAgainError, match="shorter"):
        list(reader.resume(path, mark))

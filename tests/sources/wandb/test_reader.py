"""W&B run files: the reader gives what wandb logged, and what its own compiled messages contain."""

import json
import math
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.text import reader as text
from loganalyst.sources.wandb import reader

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "fixtures/runs", ROOT / "../shared/corpus/runs")  # the second is not on every machine
REAL = [path for folder in FOLDERS if folder.is_dir() for path in sorted(folder.rglob("*.wandb"))]
HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32768
OWN = {"_step", "_timestamp", "_runtime", "_wandb"}

PROGRAM = """
import math, sys, time
import numpy as np
import wandb
config = {"lr": 1e-3, "opt": {"name": "adam", "betas": [0.9, 0.95]}, "text": "1e-3", "none": None, "flag": True}
run = wandb.init(mode="offline", dir=sys.argv[1], project="proj", name="first", config=config,
                 settings=wandb.Settings(console="off", silent=True, x_stats_sampling_interval=0.2))
run.config.update({"added": {"later": 5}})
for i in range(30):
    run.log({"loss": 1 / (i + 1), "nan": math.nan, "inf": -math.inf, "train/acc": i, "flag": i % 2 == 0, "epoch": i / 2,
             "text": "hello", "list": [1, 2], "none": None, "big": 2**70, "nested": {"a": 1, "b": {"c": 2.5}},
             "h": wandb.Histogram(np_histogram=([1, 0, 3], [0.0, 1.0, 2.0, 3.0])), "table": wandb.Html("<p>")})
run.summary["best"] = 0.5
run.summary["deep"] = {"x": 1, "word": "no number"}
time.sleep(0.6)
run.finish(exit_code=int(sys.argv[2]))
"""


def start(folder: Path, code: int, **env: str) -> Path:
    """A run file by the real wandb, offline."""
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true", "HOME": str(folder), **env}
    command = [sys.executable, "-c", PROGRAM, str(folder), str(code)]
    subprocess.run(command, env=environment, check=True, timeout=120, capture_output=True, cwd=folder)
    (path,) = folder.rglob("*.wandb")
    return path


@pytest.fixture(scope="module")
def offline(tmp_path_factory) -> Path:
    return start(tmp_path_factory.mktemp("offline"), 3, SLURM_JOB_ID="4711")


LIMITS: dict[str, int] = {}  # of the current test


@pytest.fixture(autouse=True, params=[4096, -1], ids=["in parallel", "one by one"])
def max_value(request):
    """Every test passes whether records are decoded in parallel or one by one."""
    LIMITS["max_value"] = request.param
    yield
    LIMITS.clear()


def read(path: Path, **limits: int) -> Tables:
    return Tables.concat(reader.read(path, **{**LIMITS, **limits}))


def payloads(data: bytes) -> Iterator[bytes]:
    """The records of an undamaged file, by a minimal reader."""
    at, parts = len(HEADER), b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
            continue
        crc, length, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + 7 : at + 7 + length]
        if len(part) < length:
            return
        assert zlib.crc32(part, zlib.crc32(bytes([kind]))) == crc
        parts = part if kind in (1, 2) else parts + part
        if kind in (1, 4):
            yield parts
        at += 7 + length


def path_of(item) -> tuple[str, ...]:
    return tuple(getattr(item, "nested_key", ())) or (item.key,)


def numbers(items, prefix: str = "") -> Iterator[tuple[str, float]]:
    """(metric, value) of a record's items by their compiled messages."""
    values = {path_of(item): json.loads(item.value_json) for item in items}
    objects = {path[:-1] for path in values if path[-1] == "_type"}
    for path, value in values.items():
        if any(path[:i] in objects for i in range(1, len(path))):
            continue
        for name, leaf in flat(".".join(path), value):
            if path[0] not in OWN and isinstance(leaf, int | float):
                yield prefix + name, float(leaf)


def flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, inner in value.items() if "_type" not in value else ():
            yield from flat(f"{name}.{key}", inner)
    else:
        yield name, {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(str(value), value)


def axes(items) -> dict:
    found = {path_of(item)[0]: item.value_json for item in items}
    return {k: json.loads(found[k]) for k in ("_step", "_timestamp") if k in found}


def oracle(path: Path) -> list[tuple]:
    """(metric, step, time in µs, value) of history, system metrics and what is in the summary only, in file order."""
    out, summary = [], {}
    for payload in payloads(path.read_bytes()):
        record = Record.FromString(payload)
        if record.HasField("history"):
            axis = axes(record.history.item)
            step, time = axis.get("_step", record.history.step.num), axis.get("_timestamp")
            out += [(name, step, time, value) for name, value in numbers(record.history.item)]
        elif record.HasField("stats"):
            time = record.stats.timestamp.seconds + record.stats.timestamp.nanos / 1e9
            out += [(name, None, time, value) for name, value in numbers(record.stats.item, "system/")]
        elif record.HasField("summary"):
            summary |= {path_of(item): item for item in record.summary.update}
            for item in record.summary.remove:
                summary.pop(path_of(item), None)
    logged = {name for name, *_ in out}
    axis = axes(summary.values())
    final = [(name, value) for name, value in numbers(summary.values()) if name not in logged]
    out += [(name, axis.get("_step"), axis.get("_timestamp"), value) for name, value in final]
    return [(n, s, t and round(t * 1e6), "nan" if math.isnan(v) else v) for n, s, t, v in out]


def rows(tables: Tables) -> list[tuple]:
    frame = tables.points.select("metric", "step", pl.col("time").cast(pl.Int64), "value")
    return [(m, s, t, "nan" if math.isnan(v) else v) for m, s, t, v in frame.iter_rows()]


def test_history_stats_and_summary(offline):
    """Every number wandb wrote is read exactly, in order: history, system metrics, summary-only values."""
    tables = read(offline)
    names = set(tables.points["metric"].unique())

    assert rows(tables) == oracle(offline)
    assert names >= {"loss", "nan", "inf", "train/acc", "flag", "big", "nested.a", "nested.b.c", "best", "deep.x"}
    assert not names & {"text", "list", "none", "_step", "_runtime", "table.size", "h.values", "_wandb.runtime"}
    assert any(name.startswith("system/") for name in names)
    assert tables.gaps["why"].to_list() == [
        "91 logged values are not numbers: 30 html-file (table), 30 list (list), 31 text (deep.word, text)"
    ]


def test_values_axes_and_nonfinite(offline):
    """Steps, times, epochs and non-finite values of a metric are what the program logged."""
    loss = read(offline).points.filter(metric="loss")
    other = read(offline).points

    assert loss["step"].to_list() == list(range(30))
    assert loss["value"].to_list() == [1 / (i + 1) for i in range(30)]
    assert loss["epoch"].to_list() == [i / 2 for i in range(30)]
    assert loss["time"].null_count() == 0
    assert other.filter(metric="nan")["value"].is_nan().all()
    assert set(other.filter(metric="inf")["value"]) == {-math.inf}
    assert other.filter(metric="flag")["value"].to_list()[:3] == [1.0, 0.0, 1.0]
    assert other.filter(metric="best").select("step", "value").rows() == [(29, 0.5)]


def test_histograms(offline):
    """Histogram objects become distributions, at the step they were logged."""
    found = read(offline).distributions

    assert found["step"].to_list() == list(range(30))
    assert found.select("metric", "count", "mean", "min", "max").row(0) == ("h", 4.0, 2.0, 0.0, 3.0)
    assert found["quantiles"][0].to_list() == pytest.approx([0, 0.2, 1, 2 + 1 / 3, 2 + 2 / 3, 3 - 1 / 15, 3])


def test_config_and_session(offline):
    """Settings have dotted keys; the run record, its end and the job's id are read."""
    tables = read(offline)
    config = {key: (value, number) for key, value, number, _ in tables.config.iter_rows()}

    assert config["lr"] == ("0.001", 0.001)
    assert config["opt.name"] == ("adam", None)
    assert config["opt.betas.1"] == ("0.95", 0.95)
    assert config["text"] == ("1e-3", 0.001)
    assert config["none"] == ("null", None)
    assert config["flag"] == ("true", None)
    assert config["added.later"] == ("5", 5.0)
    assert config["_wandb.project"] == ("proj", None)
    assert config["_wandb.display_name"] == ("first", None)
    assert config["_wandb.exit_code"] == ("3", 3.0)
    assert config["_wandb.run_id"][0] in offline.name
    assert tables.sessions.select("session", "source", "status", "job").rows() == [(0, offline.name, "failed", "4711")]
    assert tables.sessions["started"][0] <= tables.points["time"].min()
    assert tables.sessions["ended"][0] == tables.points["time"].max()


def history(step: int, **values: object) -> Record:
    out = Record()
    out.history.step.num = step
    for key, value in values.items():
        out.history.item.add(key=key, value_json=value if isinstance(value, str) else json.dumps(value))
    return out


def framed(records: list[Record]) -> tuple[bytes, list[tuple[int, int]]]:
    """A run file of `records`, and the extent of each, by LevelDB's description."""
    out, extents = bytearray(HEADER), []
    for message in records:
        data, first = message.SerializeToString(), True
        if BLOCK - len(out) % BLOCK < 7:
            out += bytes(BLOCK - len(out) % BLOCK)
        begin = len(out)
        while first or data:
            if BLOCK - len(out) % BLOCK < 7:
                out += bytes(BLOCK - len(out) % BLOCK)
            room = BLOCK - len(out) % BLOCK - 7
            part, data = data[:room], data[room:]
            kind = (1 if first else 4) if not data else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
        extents.append((begin, len(out)))
    return bytes(out), extents


def written(folder: Path, records: list[Record]) -> Path:
    path = folder / "run-x.wandb"
    path.write_bytes(framed(records)[0])
    return path


def test_items_in_any_form(tmp_path):
    """Old and new keys, typed values, values before keys, text for non-finite numbers: all are read."""
    typed = Record()
    typed.history.step.num = 4
    typed.history.item.add(nested_key=["a", "b"], number=1.5)
    typed.history.item.add(key="i", integer=-3)
    typed.history.item.add(key="t", boolean=True)
    typed.history.item.add(key="s", text="word")
    typed.history.item.add(key="j", json="[1]")
    typed.history.item.add(key="n", number=math.nan)
    odd = b"\x82\x01\x010" + b"\x0a\x03odd"  # the value first
    item = b"\x0a" + bytes([len(odd)]) + odd
    payload = b"\x12" + bytes([len(item)]) + item
    path = written(tmp_path, [typed, history(5, x='"NaN"', y='"-Infinity"', z="NaN"), Record.FromString(payload)])
    data = path.read_bytes()[: -len(Record.FromString(payload).SerializeToString()) - 7]
    path.write_bytes(data + struct.pack("<IHB", zlib.crc32(payload, zlib.crc32(b"\x01")), len(payload), 1) + payload)

    assert rows(read(path)) == [
        ("a.b", 4, None, 1.5), ("i", 4, None, -3.0), ("t", 4, None, 1.0), ("n", 4, None, "nan"),
        ("x", 5, None, "nan"), ("y", 5, None, -math.inf), ("z", 5, None, "nan"), ("odd", None, None, 0.0),
    ]  # fmt: skip


@pytest.mark.parametrize(("code", "status"), [(0, "finished"), (1, "failed"), (255, "cancelled"), (-9, "failed")])
def test_exit_record(tmp_path, code, status):
    """The exit code decides how the run ended; without one the status is unknown."""
    end = Record()
    end.exit.exit_code = code
    ended = read(written(tmp_path, [history(0, a=1), end]))
    open_ = read(written(tmp_path, [history(0, a=1)]))

    assert ended.sessions["status"].to_list() == [status]
    assert ended.config.filter(key="_wandb.exit_code")["number"].to_list() == [code]
    assert open_.sessions["status"].to_list() == [None]
    assert open_.config.height == 0


def test_preempted(tmp_path):
    """A run that announced its preemption and then failed was preempted."""
    said, end = Record(), Record()
    said.preempting.SetInParent()
    end.exit.exit_code = 1

    assert read(written(tmp_path, [said, end])).sessions["status"].to_list() == ["preempted"]


def test_config_changes_are_followed(tmp_path):
    """Later settings replace earlier ones, nested or whole; removed settings are gone."""
    one, two = Record(), Record()
    one.config.update.add(key="a", value_json='{"x": 1, "y": 2}')
    one.config.update.add(key="b", value_json="3")
    two.config.update.add(nested_key=["a", "x"], value_json="9")
    two.config.remove.add(key="b")
    config = read(written(tmp_path, [one, two])).config

    assert config.select("key", "number").rows() == [("a.x", 9.0), ("a.y", 2.0)]


def test_summary_follows_updates_and_removals(tmp_path):
    """Only the summary's last values count, and only of metrics the history does not have."""
    one, two = Record(), Record()
    for key, value in {"loss": "1", "best": "2", "gone": "3", "_step": "7"}.items():
        one.summary.update.add(key=key, value_json=value)
    two.summary.update.add(key="best", value_json="5")
    two.summary.remove.add(key="gone")

    assert rows(read(written(tmp_path, [history(7, loss=0.5), one, two]))) == [
        ("loss", 7, None, 0.5),
        ("best", 7, None, 5.0),
    ]


def test_packed_bins(tmp_path):
    """Histograms with evenly spaced bins are described by start and width."""
    packed = {"_type": "histogram", "values": [1, 1], "packedBins": {"min": 0, "size": 2, "count": 2}}
    found = read(written(tmp_path, [history(0, h=packed, bad={"_type": "histogram", "values": [1], "bins": ["x"]})]))

    assert found.distributions.select("metric", "count", "mean", "max").rows() == [("h", 2.0, 2.0, 4.0)]


def test_numbers_past_float64(tmp_path):
    """A whole number too large for float64 is infinite, not an error."""
    found = read(written(tmp_path, [history(0, a="1" + "0" * 400, b="-1" + "0" * 400, c=1)])).points["value"]

    assert found.to_list() == [math.inf, -math.inf, 1.0]


def test_half_a_surrogate_pair(tmp_path):
    """In a nested name, a question mark replaces half a surrogate pair."""
    found = read(written(tmp_path, [history(0, a='{"\\ud800": 1, "b": {"_type": "\\udfff"}}')]))

    assert found.points["metric"].to_list() == ["a.?"]
    assert found.gaps["why"].to_list() == ["1 logged values are not numbers: 1 ? (a.b)"]


def test_parts_of_a_value_that_is_not_an_object(tmp_path):
    """A name that is both a value and a mapping inside an object costs that object only."""
    odd = Record()
    for key, value in {("h", "_type"): '"histogram"', ("h", "x"): "1", ("h", "x", "y"): "2", ("loss",): "3"}.items():
        odd.history.item.add(nested_key=key, value_json=value)
    found = read(written(tmp_path, [odd]))

    assert found.points.select("metric", "value").rows() == [("loss", 3.0)]
    assert found.gaps["why"].to_list() == ["1 logged values are not numbers: 1 histogram (h)"]


def test_other_records_are_counted(tmp_path):
    """Alerts are counted."""
    alert = Record()
    alert.alert.title = "look"

    assert read(written(tmp_path, [alert, history(0, a=1), alert])).gaps["why"].to_list() == [
        "2 records of alert are not read"
    ]


CONSOLE = [
    "epoch 0 loss 1.5\nTraceback (most recent call last):\n",
    '  File "train.py", line 3, in <module>\n    step()\n',
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
]


def printing(text):
    said = Record()
    said.output_raw.line = text
    return said


def test_console_output_is_read(tmp_path):
    """Known lines and tracebacks get session 0 and their line in the text; its numbers are left to the history."""
    path = written(tmp_path, [history(0, loss=1.5), *map(printing, CONSOLE), history(1, loss=1.0)])
    found = read(path)
    log = tmp_path / "output.log"
    log.write_text("".join(CONSOLE))
    lines = Tables.concat(text.read(log)).lines

    assert found.lines.drop("offset").equals(lines.drop("offset"))
    assert found.lines.select("session", "line", "offset").rows() == [(0, 2, None), (0, 5, None)]
    assert found.blocks.select("first_line", "last_line").rows() == [(2, 5)]
    assert found.points.select("metric", "value").rows() == [("loss", 1.5), ("loss", 1.0)]
    assert found.sessions.height == 1
    assert found.gaps.height == 0


def test_console_output_is_read_once(tmp_path):
    """If the console output has a file of its own, that file is read instead."""
    path = written(tmp_path, [history(0, loss=1.5), *map(printing, CONSOLE)])
    (tmp_path / "files").mkdir(exist_ok=True)
    (tmp_path / "files/output.log").write_text("".join(CONSOLE))
    run = pipeline.read_run(tmp_path)

    assert (read(path).lines.height, read(path).blocks.height) == (0, 0)
    assert run.lines.select("file", "line").rows() == [("files/output.log", 2), ("files/output.log", 5)]


def test_values_too_long(tmp_path):
    """A list of millions is reported, not read; its row is read."""
    found = read(written(tmp_path, [history(0, a=1.0, many="[" + "1," * 600_000 + "1]")]))

    assert found.points["value"].to_list() == [1.0]
    assert found.gaps["why"].to_list() == ["1 logged values are not numbers: 1 value too long (many)"]


def test_empty_files(tmp_path):
    """Empty and header-only files are gaps; a broken header does not hide the records."""
    path = tmp_path / "run-x.wandb"
    found = []
    for content in (b"", HEADER[:3], HEADER):
        path.write_bytes(content)
        tables = read(path)
        found.append(tables.gaps.select("offset", "bytes", "why").row(0))
        assert (tables.points.height, tables.sessions.height) == (0, 0)
    data, _ = framed([history(0, a=1.0)])
    path.write_bytes(b"?" + data[1:])

    assert found == [
        (0, 0, "empty file"),
        (0, 3, "the file ends inside its header"),
        (7, 0, "the file ends after its header: nothing was logged"),
    ]
    assert read(path).points["value"].to_list() == [1.0]
    assert read(path).gaps.select("offset", "bytes", "why").rows() == [(0, 7, "no W&B file header")]


def test_sniff():
    """A run file is recognised by its first bytes, or by its name if those are damaged."""
    assert reader.sniff(Path("anything"), HEADER) == 1.0
    assert reader.sniff(Path("run-1.wandb"), b"") == 0.9
    assert reader.sniff(Path("a.csv"), b"step,loss\n") == 0.0


def test_a_record_that_is_not_a_message(tmp_path):
    """An intact record that cannot be decoded is a gap with its offset; its neighbours are read."""
    path = written(tmp_path, [history(0, a=1.0), history(1, a="{"), history(2, a=3.0)])
    _, extents = framed([history(0, a=1.0), history(1, a="{")])
    tables = read(path)

    assert tables.points["value"].to_list() == [1.0, 3.0]
    assert tables.gaps["offset"].to_list() == [extents[1][0]]


def sample() -> tuple[bytes, list[tuple[int, int]]]:
    """A file over several blocks; record i logs the number i, some records are longer than a block."""
    pads = [3000, 40_000, 100, 20_000, 0, 70_000, 10, 10, 29_000]
    records = [history(i, v=float(i), pad=json.dumps("x" * pads[i % len(pads)])) for i in range(24)]
    return framed(records)


DATA, EXTENTS = sample()
given_folder = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def values(tables: Tables) -> list[float]:
    return tables.points["value"].to_list()


def damaged(tables: Tables) -> list[tuple[int, int]]:
    """Offset and bytes of the damage (values that are not numbers have no offset)."""
    return tables.gaps.filter(~pl.col("why").str.contains("not numbers")).select("offset", "bytes").rows()


@given_folder
@given(share=st.floats(0, 1))
def test_truncated_anywhere(tmp_path, share):
    """A file cut off anywhere keeps every whole record; the rest is a gap of the right size."""
    cut = int(share * len(DATA))
    path = tmp_path / "run-x.wandb"
    path.write_bytes(DATA[:cut])
    whole = [i for i, (_, end) in enumerate(EXTENTS) if end <= cut]
    good = EXTENTS[whole[-1]][1] if whole else len(HEADER)
    tables = read(path)

    assert values(tables) == [float(i) for i in whole]
    if cut - good >= 7:
        assert damaged(tables) == [(good, cut - good)]


@given_folder
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_flipped_bit_anywhere(tmp_path, share, bit):
    """One flipped bit costs only the record it is in."""
    at = int(share * len(DATA))
    path = tmp_path / "run-x.wandb"
    path.write_bytes(DATA[:at] + bytes([DATA[at] ^ (1 << bit)]) + DATA[at + 1 :])
    tables = read(path)
    hit = {i for i, (a, b) in enumerate(EXTENTS) if a <= at < b}

    kept = [float(i) for i in range(len(EXTENTS)) if i not in hit]
    assert values(tables) in (kept, [float(i) for i in range(len(EXTENTS))])  # a block's padding may lie in a record
    assert len(values(tables)) == len(EXTENTS) or len(damaged(tables)) == 1


@given_folder
@given(share=st.floats(0, 1), length=st.integers(1, 50_000), fill=st.sampled_from(["zero", "random"]))
def test_damaged_pages(tmp_path, share, length, fill):
    """Zeroed or overwritten bytes: every record outside them is kept, and none is invented."""
    at = int(share * len(DATA))
    upto = min(at + length, len(DATA))
    middle = bytes(upto - at) if fill == "zero" else np.random.default_rng(length).bytes(upto - at)
    path = tmp_path / "run-x.wandb"
    path.write_bytes(DATA[:at] + middle + DATA[upto:])
    found = values(read(path))
    kept = {float(i) for i, (a, b) in enumerate(EXTENTS) if b <= at or a >= upto}

    assert found == sorted(set(found))
    assert kept <= set(found) <= {float(i) for i in range(len(EXTENTS))}


@given_folder
@given(payload=st.binary(max_size=60), kind=st.sampled_from([0x12, 0x1A, 0x2A, 0x3A, 0x8A, 0x92, 0xD2]))
def test_any_payload(tmp_path, payload, kind):
    """No payload of an intact record raises an exception."""
    data = (bytes([kind]) if kind < 0x80 else bytes([kind, 1])) + bytes([len(payload)]) + payload
    path = tmp_path / "run-x.wandb"
    path.write_bytes(HEADER + struct.pack("<IHB", zlib.crc32(data, zlib.crc32(b"\x01")), len(data), 1) + data)

    assert read(path).lines.height == 0


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_batches(tmp_path, blocks):
    """Long files come in batches, which together have the same rows."""
    path = tmp_path / "run-x.wandb"
    path.write_bytes(DATA)
    window = blocks * BLOCK

    assert len(list(reader.read(path, window=window))) == len(DATA) // window + 2
    assert contents(read(path, window=window)) == contents(read(path))


SPELLINGS = (
    "1", "-0", "-0.0", "0.1", "1e400", "-1E+400", "1e-400", "5e-324", "1.7976931348623157e308", "9007199254740993",
    "-9223372036854775808", "123456789012345678901234567890", "0.30000000000000004", "NaN", "Infinity", "-Infinity",
    '"NaN"', '"-Infinity"', '"nan"', '"1.5"', "true", "false", "null", "[]", "[1, 2]", " 1 ", "1\n", '{"a": 1}',
    '{"a": {"b": NaN}}', '{"_type": "image-file", "size": 3}', '"caf\u00e9"', '"two words"', "01", "1.", ".5", "+1",
    "1_0", "inf", "nan", "1,2", "", "tru", '"open', "{", "0x1", "1.e5", "1.E5", "-.5", "-01", "00", "0e5",
    "-0e5", "1e5e5", "1.2.3", "1-2", "1+1", "0 1", "1\u00a02", "0b1", "1f1", "-", "--1", "1e-", "5e", "1" * 400,
    "1" * 5000,
)  # fmt: skip
KEYS = ("loss", "train/acc", "epoch", "_step", "_timestamp", "_runtime", "a.b", "t\u00e4g", "k" * 130, "loss ")


def messages(rows_: list[dict[str, str]]) -> list[Record]:
    """History rows, each with its step outside the items too."""
    return [history(i, **row) for i, row in enumerate(rows_)]


def one_by_one(path: Path) -> tuple:
    return contents(read(path, max_value=-1))


def contents(tables: Tables) -> tuple:
    """Everything that was read: bits of the values, order, offsets of the gaps."""
    points = tables.points.with_columns(pl.col("value", "epoch").map_batches(bits, return_dtype=pl.String))
    return points.rows(), tables.distributions.rows(), tables.gaps.rows(), tables.config.rows(), tables.sessions.rows()


def bits(values: pl.Series) -> pl.Series:
    return pl.Series(
        [None if v is None else "nan" if math.isnan(v) else float(v).hex() for v in values], dtype=pl.String
    )


@pytest.mark.parametrize("value", SPELLINGS, ids=lambda v: v[:24])
def test_every_spelling_of_a_value(tmp_path, value):
    """Both ways of decoding agree on a value: the same float64 to the bit, no point, or the same gap."""
    plain = [{"_step": str(i), "loss": "0.5", "_timestamp": "1.5e9"} for i in range(70)]
    path = written(tmp_path, messages([*plain, {"_step": "70", "x": value, "loss": "2"}, *plain]))
    points = read(path).points

    assert contents(read(path)) == one_by_one(path)
    assert points.filter(metric="loss").height in (140, 141)
    try:
        expected = json.loads(value)
    except ValueError:
        assert points.height == (140 if value else 141)  # an empty text is not written: the item is null
        return
    if isinstance(expected, float):
        assert bits(points.filter(metric="x")["value"]).to_list() == bits(pl.Series([expected])).to_list()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows_=st.lists(
        st.dictionaries(st.sampled_from(KEYS), st.floats().map(json.dumps) | st.sampled_from(SPELLINGS)), max_size=12
    )
)
def test_any_rows(tmp_path, rows_):
    """Both ways of decoding agree on rows of any keys in any order, with any values, axes and steps."""
    path = written(tmp_path, messages(rows_))

    assert contents(read(path)) == one_by_one(path)


def test_summaries_in_parallel(tmp_path):
    """The last value of a key counts. Keys are in order of first use; removals are applied in order."""
    many = []
    for i in range(200):
        record = Record()
        for name in ("b", "a", f"k{i % 3}") if i % 2 else ("a", "b"):
            record.summary.update.add(nested_key=["deep", name], value_json=str(i))
        many.append(record)
    path = written(tmp_path, many)
    without = rows(read(path))
    gone = Record()
    gone.summary.remove.add(nested_key=["deep", "a"])
    removed = written(tmp_path, [*many[:100], gone, *many[:2], gone])

    assert without == [
        ("deep.a", None, None, 199.0), ("deep.b", None, None, 199.0), ("deep.k1", None, None, 199.0),
        ("deep.k0", None, None, 195.0), ("deep.k2", None, None, 197.0),
    ]  # fmt: skip
    assert rows(read(removed)) == [
        ("deep.b", None, None, 1.0), ("deep.k1", None, None, 1.0), ("deep.k0", None, None, 99.0),
        ("deep.k2", None, None, 95.0),
    ]  # fmt: skip


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.name)
def test_real_run_files(path):
    """Every recorded and every real run file reads as wandb's compiled messages do, cut off or not."""
    assert rows(read(path)) == oracle(path)

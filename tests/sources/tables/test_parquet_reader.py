"""Parquet tables of metrics: the values that were written, of every layout; what is no metric is told."""

import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.tables import parquet_reader, parquettable


def read(tmp_path: Path, frame: pl.DataFrame | dict[str, object], **options: object) -> Tables:
    frame = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame, strict=False)
    frame.write_parquet(tmp_path / "history.parquet", **options)
    return Tables.concat(parquet_reader.read(tmp_path / "history.parquet"))


def rows(tables: Tables) -> list[tuple[str, int, float]]:
    return tables.points.select("metric", "step", "value").rows()


def test_a_history_as_wandb_exports_it(tmp_path):
    """Steps and times are axes, columns of numbers metrics; null is no value, NaN one; histograms are told."""
    histogram = {"_type": "histogram", "bins": [0.0, 1.0], "values": [3]}
    found = read(
        tmp_path,
        {
            "_step": [0, 5, 10],
            "_timestamp": [1.7e9, 1.7e9 + 1, 1.7e9 + 2.5],
            "train/loss": [1.5, None, math.nan],
            "lr": [1e-3, 1e-4, None],
            "grad": [histogram, None, histogram],
        },
    )

    assert str(rows(found)) == "[('train/loss', 0, 1.5), ('train/loss', 10, nan), ('lr', 0, 0.001), ('lr', 5, 0.0001)]"
    assert found.points["time"][1] == datetime(2023, 11, 14, 22, 13, 22, 500000, tzinfo=UTC)
    assert found.points.schema == SCHEMAS["points"]
    assert found.gaps["why"].to_list() == [
        "3 columns are not numeric: grad/_type (String), grad/bins (List(Float64)), grad/values (List(Int64))"
    ]


def test_a_long_table(tmp_path):
    """The name stands in one column, the number in another, and a third parts them."""
    found = read(
        tmp_path,
        {
            "step": [1, 1, 2],
            "metric": ["loss", "acc", "loss"],
            "split": ["train", "val", None],
            "value": [0.5, 0.9, 0.4],
        },
    )

    assert rows(found) == [("train/loss", 1, 0.5), ("val/acc", 1, 0.9), ("loss", 2, 0.4)]
    assert found.gaps.height == 0


def test_types_of_numbers_and_times(tmp_path):
    """Decimals, every width of number, dictionary columns, structs and timestamps with a zone."""
    found = read(
        tmp_path,
        pl.DataFrame(
            {
                "epoch": pl.Series([0, 1], dtype=pl.UInt8),
                "when": pl.Series([datetime(2026, 1, 1), datetime(2026, 1, 2)]).dt.replace_time_zone("Europe/Berlin"),
                "cost": [Decimal("0.25"), Decimal("0.5")],
                "big": pl.Series([2**63, 1], dtype=pl.UInt64),
                "half": pl.Series([1.5, 2.5], dtype=pl.Float32),
                "phase": pl.Series(["train", "train"], dtype=pl.Categorical),
                "eval": [{"acc": 0.5, "more": {"f1": 0.25}}, {"acc": 0.75, "more": {"f1": None}}],
                "done": [False, True],
            }
        ),
    )

    assert rows(found) == [
        *(("train/cost", 0, 0.25), ("train/cost", 1, 0.5), ("train/big", 0, 2.0**63), ("train/big", 1, 1.0)),
        *(("train/half", 0, 1.5), ("train/half", 1, 2.5), ("train/eval/acc", 0, 0.5), ("train/eval/acc", 1, 0.75)),
        ("train/eval/more/f1", 0, 0.25),
    ]
    assert found.points["epoch"].unique().to_list() == [0.0, 1.0]
    assert [gap.partition(": ")[2] for gap in found.gaps["why"]] == [
        "when (Datetime(time_unit='us', time_zone='Europe/Berlin')), done (Boolean)"
    ]


def test_a_column_of_times_alone_is_an_axis(tmp_path):
    """Without a counter rows are counted, with the time each was written."""
    times = [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)]
    found = read(tmp_path, {"time": times, "loss": [1.0, 0.5]})

    assert rows(found) == [("loss", 0, 1.0), ("loss", 1, 0.5)]
    assert found.points["time"].to_list() == times


def test_windows_and_groups_of_columns_change_nothing(tmp_path):
    """In-epoch counters go on, and nothing is lost, where rows and columns are read piece by piece."""
    frame = {"epoch": [i // 10 for i in range(100)], "step": [i % 10 for i in range(100)]}
    frame |= {f"m{k}": [float(i * k) for i in range(100)] for k in range(7)}
    whole = read(tmp_path, frame).points
    place = parquettable.Place()
    events = parquet_reader.tables(tmp_path / "history.parquet", 7, place, (), batch_values=14)
    pieces = [tables.points for tables in events if isinstance(tables, Tables)]

    assert max(piece.height for piece in pieces) <= 14
    assert pl.concat(pieces).sort("metric", maintain_order=True).equals(whole.sort("metric", maintain_order=True))
    assert whole.filter(metric="m1")["step"].to_list() == list(range(100))


@pytest.mark.parametrize(
    "frame",
    [
        {"text": ["a", "b"], "label": [0, 1]},
        {"index": [0, 1], "pixel": [0.5, 0.25], "name": ["a", "b"]},
        {"x": [1.0, 2.0], "y": [1.0, 2.0]},
        {"x": []},
    ],
)
def test_a_data_set_is_no_table_of_metrics(tmp_path, frame):
    """Without a column that counts steps, epochs or time nothing is read, and the columns are named."""
    found = read(tmp_path, frame)

    assert found.points.height == 0
    assert found.gaps["why"][0].startswith("not a table of metrics: no column counts steps, epochs or time (columns: ")


def test_files_that_cannot_be_read(tmp_path):
    """Cut off, encrypted and broken files are one gap that covers them."""
    read(tmp_path, {"step": [1, 2], "loss": [1.0, 2.0]})
    data = (tmp_path / "history.parquet").read_bytes()
    for content, why in (
        (data[:-10], "cut off"),
        (b"PAR1", "Parquet: "),
        (b"PARE" + data[4:-4] + b"PARE", "encrypted"),
        (data[:-8] + b"\xff\xff\xff\x7fPAR1", "Parquet: "),
        (data[:100] + bytes(len(data) - 108) + data[-8:], "Parquet: "),
    ):
        (tmp_path / "x.parquet").write_bytes(content)
        found = Tables.concat(parquet_reader.read(tmp_path / "x.parquet"))

        assert why in found.gaps["why"].item()
        assert found.gaps["bytes"].item() == len(content)
    assert parquet_reader.sniff(tmp_path / "x.parquet", data[:64]) == 0.9
    assert parquet_reader.sniff(tmp_path / "x.parquet", b"step,loss\n") == 0.0


def test_a_damaged_column_loses_no_other(tmp_path):
    """Of a file with one broken page the columns beside it are read, and the broken one is named."""
    noise = [random.Random(i).random() for i in range(1000)]
    read(tmp_path, {"step": list(range(1000)), "bad": noise, "good": noise}, compression="zstd")
    path = tmp_path / "history.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : len(data) // 3] = bytes(len(data) // 3 - len(data) // 4)
    path.write_bytes(data)
    found = Tables.concat(parquet_reader.read(path))

    assert rows(found) == [("good", i, value) for i, value in enumerate(noise)]
    assert found.gaps["why"].item().startswith("column 'bad' from row 0 on: ")


FIFTY, NEGATIVE = b"\x2c\x15\x64", b"\x2c\x15\x65"  # how many values a page has: 50, or -51, at which polars aborts


def ended(data: bytes, pages: Sequence[int]) -> bytes:
    """A file with pages of 50 values, of which the chosen `pages` abort the decoder."""
    first, *parts = data.split(FIFTY)
    return first + b"".join((NEGATIVE if i in pages else FIFTY) + part for i, part in enumerate(parts))


def test_a_page_that_aborts_the_decoder_loses_no_other_column(tmp_path):
    """In the second of three windows two of four metrics abort it: earlier rows and all other metrics are read."""
    columns = {name: [i + k / 4 for i in range(150)] for k, name in enumerate("abcd")}
    read(tmp_path, {"step": list(range(150)), **columns}, compression="uncompressed", row_group_size=50)
    path = tmp_path / "history.parquet"
    path.write_bytes(ended(path.read_bytes(), [6, 8]))  # five pages a window, the first of them the steps
    found = Tables.concat(parquet_reader.read(path, window=50))

    kept = {"a": range(50), "b": range(150), "c": range(50), "d": range(150)}
    assert sorted(rows(found)) == [(name, i, columns[name][i]) for name in "abcd" for i in kept[name]]
    assert found.gaps["why"].to_list() == [
        f"column {name!r} from row 50 on: its decoder ended (signal 6)" for name in "ac"
    ]


def test_steps_that_abort_the_decoder_end_the_reading(tmp_path):
    """Without steps no row of the window can be placed; the rows before it are kept."""
    frame = {"step": list(range(100)), "a": [0.5] * 100}
    read(tmp_path, frame, compression="uncompressed", row_group_size=50)
    path = tmp_path / "history.parquet"
    path.write_bytes(ended(path.read_bytes(), [2]))
    found = Tables.concat(parquet_reader.read(path, window=50))

    assert rows(found) == [("a", i, 0.5) for i in range(50)]
    why = "Parquet: damaged so that its decoder ended (signal 6); what it had read before is kept"
    assert found.gaps["why"].to_list() == [why]


def test_after_many_deaths_the_rest_is_given_up(tmp_path):
    """A file full of such pages costs a bounded number of processes."""
    read(tmp_path, {"step": list(range(50)), **{name: [0.5] * 50 for name in "abcde"}}, compression="uncompressed")
    path = tmp_path / "history.parquet"
    path.write_bytes(ended(path.read_bytes(), range(1, 6)))
    # three decoders: of all five columns at once, of the first, of the second
    found = Tables.concat(parquet_reader.read(path, max_deaths=3))

    assert rows(found) == []
    assert [why.split(" (")[0] for why in found.gaps["why"]] == [
        "Parquet: damaged so that its decoder ended",
        "column 'a' from row 0 on: its decoder ended",
    ]


VALUES = st.none() | st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, -0.0])


@settings(max_examples=40, deadline=None)
@given(
    columns=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).map("m_{}".format),
        st.lists(VALUES, min_size=5, max_size=5),
        max_size=4,
    ),
    size=st.integers(1, 5),
    compression=st.sampled_from(["uncompressed", "snappy", "gzip", "zstd", "lz4"]),
)
def test_every_value_comes_back(tmp_path_factory, columns, size, compression):
    """Whatever the compression and the row groups: values to the bit, nulls left out, rows in order."""
    frame = pl.DataFrame({"step": range(5), **{n: pl.Series(v, dtype=pl.Float64) for n, v in columns.items()}})
    found = read(tmp_path_factory.mktemp("p"), frame, compression=compression, row_group_size=size)

    written = [(n, i, v) for n, values in columns.items() for i, v in enumerate(values) if v is not None]
    assert repr(sorted(rows(found), key=lambda row: row[:2])) == repr(sorted(written, key=lambda row: row[:2]))


@pytest.mark.parametrize("seed", range(40))
def test_damage_raises_nothing(tmp_path, seed):
    """Flipped bytes anywhere, most of them in the table of contents: an answer or a gap."""
    read(tmp_path, {"step": list(range(50)), "loss": [1.0] * 50, "s": [{"a": 1.0, "b": "x"}] * 50})
    path, chance = tmp_path / "history.parquet", random.Random(seed)
    data = bytearray(path.read_bytes())
    contents = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for _ in range(chance.choice((1, 1, 3))):
        data[chance.randrange(contents if chance.random() < 0.7 else 4, len(data))] = chance.randrange(256)
    path.write_bytes(data)

    assert Tables.concat(parquet_reader.read(path)).points.height <= 150

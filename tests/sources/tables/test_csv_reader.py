"""Tables of delimited text: real writers make them, exact values come back."""

import csv as csv_module
import io
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.tables import csv_reader

CORPUS = Path(__file__).parents[3] / "../shared/corpus/runs"


def read(path: Path) -> Tables:
    return Tables.concat(csv_reader.read(path))


def table(tmp_path: Path, text: str | bytes, name: str = "metrics.csv") -> Tables:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path)


def curve(tables: Tables, metric: str) -> list[tuple[int, float]]:
    return tables.points.filter(pl.col("metric") == metric).select("step", "value").rows()


def sniff(tmp_path: Path, text: str | bytes, name: str) -> float:
    return csv_reader.sniff(tmp_path / name, text.encode() if isinstance(text, str) else text)


def test_the_numbers_that_pandas_gives_to_columns_are_no_values(tmp_path):
    """`Series.to_csv` and `DataFrame.to_csv` without names write a header of 0, 1, … above their index."""
    one = table(tmp_path, ",0\n0,0.5\n1,0.25\n2,0.125\n", "train_loss.csv")
    two = table(tmp_path, ",0,1\n0,0.5,3.5\n1,0.25,2.5\n2,0.125,1.5\n", "history.csv")

    assert one.points.select("metric", "step").rows() == [("train_loss", k) for k in range(3)]
    assert one.points["value"].to_list() == [0.5, 0.25, 0.125]
    assert curve(two, "column_3") == [(0, 3.5), (1, 2.5), (2, 1.5)]
    assert one.gaps.height == 0


def test_reads_what_lightning_writes(tmp_path):
    """Lightning's logger: sparse rows, `x_step` and `x_epoch` as metrics of their own, step and epoch as axes."""
    pytest.importorskip("lightning")
    from lightning.pytorch.loggers import CSVLogger

    logger = CSVLogger(tmp_path, name="", version="")
    logger.log_metrics({"loss_step": 2.5, "epoch": 0}, step=9)
    logger.log_metrics({"loss_epoch": float("nan"), "val_acc": 0.25, "epoch": 0}, step=9)
    logger.log_metrics({"loss_step": float("inf"), "epoch": 1}, step=19)
    logger.save()

    tables = read(tmp_path / "metrics.csv")

    rows = tables.points.select("metric", "step", "epoch", "line").rows()
    assert rows == [
        ("loss_epoch", 9, 0.0, 3),
        ("loss_step", 9, 0.0, 2),
        ("loss_step", 19, 1.0, 4),
        ("val_acc", 9, 0.0, 3),
    ]
    assert [2.5, math.inf, 0.25] == [v for v in tables.points["value"] if not math.isnan(v)]
    assert math.isnan(tables.points["value"][0])
    assert tables.gaps.height == 0
    assert SCHEMAS["points"] == tables.points.schema
    assert {"metrics.csv"} == set(tables.points["source"])


def test_empty_is_null_and_nan_is_nan(tmp_path):
    """An empty cell and the words for no value are no points; nan, infinities and overflow are."""
    tables = table(tmp_path, "step,a\n0,nan\n1,\n2,-Infinity\n3,1e400\n4,None\n5,NaN\n6,1.#INF\n")

    steps, values = zip(*curve(tables, "a"), strict=True)
    assert steps == (0, 2, 3, 5, 6)
    assert [math.isinf(v) for v in values] == [False, True, True, False, True]
    assert values[1] < 0 < values[2]
    assert tables.gaps.height == 0


def test_yolo_pads_its_header(tmp_path):
    """Padded names and cells are stripped; a table that counts epochs only has them as steps too."""
    tables = table(
        tmp_path, "     epoch,   train/box_loss,  x/lr0\n         0,   0.06383,  0.0021\n  1, 0.048116,0.004\n"
    )

    assert tables.points["metric"].unique(maintain_order=True).to_list() == ["train/box_loss", "x/lr0"]
    assert curve(tables, "train/box_loss") == [(0, 0.06383), (1, 0.048116)]
    assert tables.points["epoch"].to_list() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_any_usual_separator(tmp_path, sep):
    """The separator is found by itself."""
    tables = table(tmp_path, sep.join(["Iteration", "G loss", "D loss"]) + "\n" + sep.join(["7", "0.5", "1.25"]) + "\n")

    assert tables.points.select("metric", "step", "value").rows() == [("G loss", 7, 0.5), ("D loss", 7, 1.25)]


def test_decimal_comma(tmp_path):
    """Between semicolons a comma is a decimal point."""
    assert curve(table(tmp_path, "step;loss\n1;0,5\n2;1,0e-3\n"), "loss") == [(1, 0.5), (2, 1e-3)]


def test_quoted_cells(tmp_path):
    """Quotes, separators, lists and line breaks within cells; `line` is where the row begins."""
    text = '"step","loss","note"\n"1","0.5","a, b"\n2,"[0.25]","x\ny"\n3,"tensor(0.125, device=\'cuda:0\')",""\n'
    tables = table(tmp_path, text)

    assert curve(tables, "loss") == [(1, 0.5), (2, 0.25), (3, 0.125)]
    assert tables.points["line"].to_list() == [2, 3, 5]
    assert tables.points["metric"].unique().to_list() == ["loss"]


@pytest.mark.parametrize(
    "encode",
    [
        lambda t: t.encode("utf-8-sig"),
        lambda t: t.replace("\n", "\r\n").encode(),
        lambda t: t.encode("utf-16"),
        lambda t: t.encode("latin-1"),
    ],
    ids=["bom", "crlf", "utf-16", "latin-1"],
)
def test_encodings(tmp_path, encode):
    """A byte order mark, CRLF, UTF-16 and Latin-1 change nothing."""
    tables = table(tmp_path, encode("step,größe\n1,0.5\n2,0.25\n"))

    assert curve(tables, "größe") == [(1, 0.5), (2, 0.25)]


def test_repeated_header_begins_a_session(tmp_path):
    """A header in the middle, the same or with other columns, is a new start of the program."""
    tables = table(tmp_path, "step,loss\n0,3\n1,2\nstep,loss\n0,2.5\nstep,lr,loss\n5,0.1,1\n")

    rows = tables.points.select("session", "metric", "step", "value", "line").rows()
    assert rows == [
        (0, "loss", 0, 3.0, 2),
        (0, "loss", 1, 2.0, 3),
        (1, "loss", 0, 2.5, 5),
        (2, "lr", 5, 0.1, 7),
        (2, "loss", 5, 1.0, 7),
    ]
    assert tables.gaps.height == 0


def test_steps_that_go_back_stay(tmp_path):
    """Without a header in between, steps that fall are kept as they are, in one session."""
    tables = table(tmp_path, "step,loss\n10,1\n20,2\n5,3\n15,4\n")

    assert curve(tables, "loss") == [(10, 1.0), (20, 2.0), (5, 3.0), (15, 4.0)]
    assert {0} == set(tables.points["session"])


def test_steps_within_the_epoch_go_on(tmp_path):
    """A counter that starts again with every epoch is continued, from 0 as from 1; going back to an epoch goes back."""
    text = "epoch,iter,loss\n1,50,9\n1,100,8\n2,50,7\n2,100,6\n3,50,5\n"
    assert [s for s, _ in curve(table(tmp_path, text), "loss")] == [50, 100, 150, 200, 250]
    text = "epoch,batch,loss\n0,0,9\n0,1,8\n1,0,7\n1,1,6\n1,0,5\n0,1,4\n"
    assert [s for s, _ in curve(table(tmp_path, text), "loss")] == [0, 1, 2, 3, 2, 1]


def test_rows_without_a_step_take_the_one_before(tmp_path):
    """An evaluation row without a step (OpenAI's logger) belongs to the step before it."""
    tables = table(tmp_path, "loss,step,eval_loss\n0.9,0,\n,,0.6\n0.5,20,\n,,0.4\n", "progress.csv")

    assert curve(tables, "eval_loss") == [(0, 0.6), (20, 0.4)]


def test_step_columns_by_priority(tmp_path):
    """The first usable name counts; the other counters stay metrics."""
    tables = table(tmp_path, "time/iterations,time/total_timesteps,epoch,r\n1,2048,0,5\n2,4096,0,6\n")

    assert curve(tables, "r") == [(2048, 5.0), (4096, 6.0)]
    assert tables.points["metric"].unique().sort().to_list() == ["r", "time/iterations"]
    standing = table(tmp_path, "step,epoch,loss\n100,0,3\n100,1,2\n100,2,1\n")
    assert curve(standing, "loss") == [(0, 3.0), (1, 2.0), (2, 1.0)]


@pytest.mark.parametrize("steps", [(480, 480, 480, 480), (12, 31, 9, 500)])
def test_the_length_of_an_episode_is_no_step(tmp_path, steps):
    """Nor is it where another column counts the rows; by itself it is all that there is."""
    rows = [f"{episode},{length},{episode / 2}" for episode, length in enumerate(steps)]

    told = table(tmp_path, "\n".join(["episode,steps,reward", *rows]) + "\n")
    assert curve(told, "reward") == [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5)]
    assert [value for _, value in curve(told, "steps")] == [float(length) for length in steps]

    alone = table(tmp_path, "\n".join(["steps,reward", *(row.split(",", 1)[1] for row in rows)]) + "\n")
    assert [step for step, _ in curve(alone, "reward")] == [*steps]


def test_fractional_steps_are_epochs(tmp_path):
    """A step column with fractions tells epochs; the rows count."""
    tables = table(tmp_path, "step,loss\n0.5,3\n1.0,2\n1.5,1\n")

    assert tables.points.select("step", "epoch", "value").rows() == [(0, 0.5, 3.0), (1, 1.0, 2.0), (2, 1.5, 1.0)]


def test_no_step_column(tmp_path):
    """Without any axis the rows count; without a header the file or the column number names the metric."""
    assert curve(table(tmp_path, "loss,acc\n3,0.1\n2,0.2\n"), "loss") == [(0, 3.0), (1, 2.0)]
    assert curve(table(tmp_path, "3\n2\n", "train_loss.csv"), "train_loss") == [(0, 3.0), (1, 2.0)]
    assert curve(table(tmp_path, "3,0.1\n2,0.2\n"), "column_2") == [(0, 0.1), (1, 0.2)]
    assert curve(table(tmp_path, "# epoch, loss\n3,0.1\n"), "loss") == [(3, 0.1)]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("1700000000.25", datetime(2023, 11, 14, 22, 13, 20, 250000, UTC)),
        ("1700000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-11-14T22:13:20.5Z", datetime(2023, 11, 14, 22, 13, 20, 500000, UTC)),
        ("2023-11-14 23:13:20+01:00", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-11-14 22:13:20", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
    ],
)
def test_times(tmp_path, cell, expected):
    """Seconds or milliseconds since the epoch and date texts are times, and no metric."""
    tables = table(tmp_path, f"step,timestamp,loss\n1,{cell},0.5\n")

    assert [("loss", expected)] == tables.points.select("metric", "time").rows()


def test_durations_are_metrics(tmp_path):
    """A `time` column that holds durations is a metric."""
    assert curve(table(tmp_path, "step,time,loss\n1,0.25,0.5\n"), "time") == [(1, 0.25)]


def test_durations_of_a_saved_frame_are_no_listing(tmp_path):
    """Pandas' own index counts the rows of a sweep whose epochs repeat; the durations are texts."""
    text = ",Epoch,lr,Training Loss,Training Time\n0,1,0.1,6.5,0:00:37\n1,1,0.01,3.5,0:00:38\n2,2,0.1,4.0,0:00:38\n"

    assert curve(table(tmp_path, text), "Training Loss") == [(0, 6.5), (1, 3.5), (2, 4.0)]


def test_rows_may_begin_like_a_compressed_file(tmp_path):
    """`x^` are the first bytes of zlib too."""
    text = "name,step,loss\n" + "".join(f"x^2,{i},{i / 2}\n" for i in range(3000))

    assert curve(table(tmp_path, text), "loss")[:2] == [(0, 0.0), (1, 0.5)]


def test_monitor_counts_timesteps(tmp_path):
    """Stable-Baselines3's monitor: the JSON comment is configuration, l sums to the step, t counts from the start."""
    text = '#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}\nr,l,t\n22.0,22,1.5\n10.0,10,2.0\n'
    tables = table(tmp_path, text, "monitor.csv")

    assert curve(tables, "r") == [(22, 22.0), (32, 10.0)]
    assert datetime(2023, 11, 14, 22, 13, 21, 500000, UTC) == tables.points["time"][0]
    assert tables.config.select("key", "number").rows() == [("monitor.t_start", 1.7e9), ("monitor.env_id", None)]
    assert tables.gaps.height == 0


def test_numbers_without_names_are_called_after_the_file(tmp_path):
    """One value a row, also behind a counter that only rises; anything else gets numbers for names."""
    counted = table(tmp_path, "0           , 1.5\n5           , 1.25\n10          , 1.0\n", "loss.csv")

    assert curve(counted, "loss") == [(0, 1.5), (5, 1.25), (10, 1.0)]
    assert set(table(tmp_path, "1.5\n1.25\n", "loss.csv").points["metric"]) == {"loss"}
    for text in ("3,1.5\n2,1.25\n1,1.0\n", "0.1,1.5\n0.2,1.25\n0.3,1.0\n", "1,1.5\n2,1.25\n"):
        assert set(table(tmp_path, text, "loss.csv").points["metric"]) == {"column_1", "column_2"}


def test_a_number_a_line_is_a_curve_where_the_name_tells(tmp_path):
    """numpy.savetxt's losses.txt is read; seeds.txt with the same lines, or a sentence among them, is not."""
    assert sniff(tmp_path, "1.5\n1.25\n1.0\n", "losses.txt") == 0.6
    assert sniff(tmp_path, "1.5\n1.25\n1.0\n", "seeds.txt") == 0.0
    assert sniff(tmp_path, "1.5\nfine\n1.0\n", "losses.txt") == 0.0
    assert curve(table(tmp_path, "1.5\n1.25\n1.0\n", "losses.txt"), "losses") == [(0, 1.5), (1, 1.25), (2, 1.0)]


def test_times_beside_a_loss_are_a_log(tmp_path):
    """Rows with a time and no step are read where a loss stands in them; a listing with dates is left alone."""
    rows = "1.5,2024-05-13 12:26:23\n0.5,2024-05-13 12:27:19\n"

    assert sniff(tmp_path, "train_loss,time\n" + rows, "a.csv") == 0.5
    assert sniff(tmp_path, "price,time\n" + rows, "a.csv") == 0.2
    assert curve(table(tmp_path, "loss,time\n" + rows), "loss") == [(0, 1.5), (1, 0.5)]


def test_frames_are_steps(tmp_path):
    """Frames of an environment count as its steps do."""
    assert curve(table(tmp_path, "episode_reward,frame\n0.5,640\n1.5,1280\n"), "episode_reward") == [
        (640, 0.5),
        (1280, 1.5),
    ]


def test_tensorboard_download_is_named_by_its_file(tmp_path):
    """The table that TensorBoard offers for download names its tag in the file name."""
    name = "run-train-tag-loss.csv"
    tables = table(tmp_path, "Wall time,Step,Value\n1700000000.5,3,0.25\n", name)

    assert tables.points.select("metric", "step", "value").rows() == [("loss", 3, 0.25)]
    assert tables.points["time"][0] is not None


def test_train_and_val_rows_are_apart(tmp_path):
    """A column that says train or val goes before the metric's name; a column of names is the metric's name."""
    tables = table(tmp_path, "epoch,phase,loss\n0,train,2\n0,val,3\n1,train,1\n1,val,4\n")
    assert curve(tables, "train/loss") == [(0, 2.0), (1, 1.0)]
    assert curve(tables, "val/loss") == [(0, 3.0), (1, 4.0)]
    tables = table(tmp_path, "step,tag,value\n0,loss,2\n0,acc,0.5\n1,loss,1\n")
    assert curve(tables, "loss") == [(0, 2.0), (1, 1.0)]
    assert curve(tables, "acc") == [(0, 0.5)]


def test_odd_cells_are_told_once_a_column(tmp_path):
    """Cells that are no numbers are counted in one gap row per column, with the place of the first."""
    tables = table(tmp_path, "step,loss\n0,1\n1,oops\n2,3\n3,bad\n4,5\n")

    assert curve(tables, "loss") == [(0, 1.0), (2, 3.0), (4, 5.0)]
    assert tables.gaps.select("file", "offset", "why").rows() == [
        ("metrics.csv", 14, "2 cells of column 'loss' are not numbers, the first in line 3: 'oops'")
    ]


def test_ragged_rows(tmp_path):
    """A short row is read as far as it goes, one with cells of no name is not; both are told."""
    tables = table(tmp_path, "step,a,b\n0,1\n1,2,3\n2,3,4,5\n3,4,5,\n")

    assert curve(tables, "a") == [(0, 1.0), (1, 2.0), (3, 4.0)]
    assert [why.removesuffix(", the first in line 2") for why in tables.gaps["why"]] == [
        "1 rows with more than 3 cells, the first in line 4",
        "1 rows with fewer than 3 cells (read as far as they go)",
    ]


def test_rows_without_their_beginning(tmp_path):
    """What is left of a row that lost its first cells would stand under the wrong names."""
    tables = table(tmp_path, "epoch,loss,lr\n1,2.5,1e-3\n2,2.25,1e-3\n.125,9e-4\n4,2,8e-4\n,1.75\n6,1.5\n")

    assert curve(tables, "loss") == [(1, 2.5), (2, 2.25), (4, 2.0), (4, 1.75), (6, 1.5)]
    assert tables.gaps["why"].to_list() == [
        "1 rows without their beginning, the first in line 4",
        "2 rows with fewer than 3 cells (read as far as they go), the first in line 6",
    ]


def test_cut_off_row(tmp_path):
    """A last row that breaks off is not read: its last number may be cut too."""
    tables = table(tmp_path, "step,a,b\n0,1,2\n1,12.")

    assert curve(tables, "a") == [(0, 1.0)]
    assert [(o + 2, w) for o, w in tables.gaps.select("offset", "why").rows()] == [
        (17, "1 row is cut off, the first in line 3")
    ]


def test_quote_at_the_very_end(tmp_path):
    """A file cut right behind an opening quote gives the rows before it and a gap."""
    found = table(tmp_path, '"epoch","loss"\n1,"0.5"\n2,"')
    assert curve(found, "loss") == [(1, 0.5)]
    assert found.gaps.height


def test_quote_gone_wrong_costs_one_row(tmp_path):
    """After a quote that never closes, reading goes on with the next line."""
    tables = table(tmp_path, 'step,a\n0,1\n1,"2\n2,3\n3,"4"\n')

    assert [p for p in curve(tables, "a") if p[0] in (0, 2)] == [(0, 1.0), (2, 3.0)]
    assert tables.gaps.height


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "binary data, not CSV: a NUL byte at offset 8"),
        (b"file,caption\na.png,cat\n", "no numeric column"),
        (b"image,label\na.png,3\nb.png,4\n", "not a table of metrics: texts without step, epoch or time"),
        (
            b"model,epochs,acc\ncnn,1,0.5\nmlp,1,0.6\nvit,1,0.4\n",
            "not a table of metrics: texts without step, epoch or time",
        ),
        (b"step,loss\n", "a header, no rows yet"),
        (b"step,loss", "a header, no rows yet"),
        (b"", "no rows: the file is empty"),
        (b"\n" * 5, "no rows: the file is empty"),
    ],
)
def test_what_is_no_table_of_metrics(tmp_path, text, why):
    """Binary data, listings and empty tables give no points and one gap that says why."""
    tables = table(tmp_path, text)

    assert tables.points.height == 0
    assert [why] == tables.gaps["why"].to_list()


def test_sniff(tmp_path):
    """Known writers are certain, step columns likely, listings unlikely, logs and binaries not at all."""
    assert sniff(tmp_path, "epoch,step,loss\n0,1,2\n", "metrics.csv") == 1.0
    assert sniff(tmp_path, "Iteration,loss\n0,1\n", "losses.csv") == 0.9
    assert sniff(tmp_path, "loss,acc\n0,1\n", "x.csv") == 0.5
    assert sniff(tmp_path, "file,label\na.png,1\n", "labels.csv") == 0.2
    assert sniff(tmp_path, "epoch\tloss\n0\t1\n1\t0.5\n", "log.txt") == 0.6
    assert sniff(tmp_path, "Epoch 1, loss 0.5\nEpoch 2, loss 0.4\n", "log.txt") == 0.0
    assert sniff(tmp_path, b"PK\0\0", "metrics.csv") == 0.0
    assert sniff(tmp_path, b"", "metrics.csv") == 0.0


def test_batches_carry_on(tmp_path):
    """A table of many blocks reads like one: rows, lines, in-epoch steps and quotes continue across blocks."""
    rows = [f'{e},{i},{e * 10 + i}.5,"a\nb"' for e in range(30) for i in range(10)]
    path = tmp_path / "metrics.csv"
    path.write_text("\n".join(["epoch,batch,loss,note", *rows]) + "\n")
    whole = read(path).points
    in_blocks = Tables.concat(csv_reader.read(path, size=64)).points

    assert list(range(300)) == whole["step"].to_list()
    assert whole.equals(in_blocks)


def test_one_foreign_byte_costs_one_line_its_letters(tmp_path):
    """In a table in UTF-8 a byte that is none does not touch the letters of other lines, nor lines in quotes."""
    text = 'schritt,größe,note\n0,1,ä\n1,2,"x\ny§"\n2,3,ö\n'.replace("schritt", "step")
    tables = table(tmp_path, text.encode().replace("§".encode(), b"\xff"))

    assert curve(tables, "größe") == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert tables.points["line"].to_list() == [2, 3, 5]


@pytest.mark.parametrize("size", [1, 4096, 6 << 20])
@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_zeroed_page(tmp_path, size, newline):
    """NUL bytes cost the lines they stand in; the rows before and after are read, the extent is told."""
    before, after = b"step,loss\n0,1\n1,0.5\n", b"4,0.2\n5,0.1\n"
    tables = table(tmp_path, before + b"2,0." + b"\0" * size + newline + b"3,7\n" + after)

    assert curve(tables, "loss") == [(0, 1.0), (1, 0.5), *[(3, 7.0)] * bool(newline), (4, 0.2), (5, 0.1)]
    gaps = tables.gaps.select("offset", "bytes").rows()
    assert gaps[0][0] == len(before)
    assert sum(extent for _, extent in gaps) == 4 + size + (len(newline) or 4)
    assert tables.gaps["why"][0] == "NUL bytes from line 4 on"
    assert sniff(tmp_path, before + b"2,0." + b"\0" * size, "metrics.csv") == 1.0


def test_many_holes_are_summed_up(tmp_path):
    """After 20 holes the others are one gap."""
    tables = table(tmp_path, b"step,a\n" + b"".join(b"%d,1\n\0\n" % i for i in range(50)))

    assert list(range(50)) == tables.points["step"].to_list()
    assert tables.gaps.height == 21
    assert tables.gaps["why"][20] == "30 more stretches of NUL bytes, the first in line 43"


def test_gaps_have_extents(tmp_path):
    """The gap of one row says where the row is and how long."""
    tables = table(tmp_path, "step,a\n0,1\n1,2,3,4\n2,3\n3")

    rows = tables.gaps.sort("offset").select("offset", "bytes", "why").rows()
    assert rows == [
        (11, 8, "1 rows with more than 2 cells, the first in line 3"),
        (23, 1, "1 row is cut off, the first in line 5"),
    ]


VALUE = st.none() | st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2**53), VALUE, VALUE), min_size=1, max_size=30),
    quoting=st.sampled_from([csv_module.QUOTE_MINIMAL, csv_module.QUOTE_ALL]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_values_round_trip(tmp_path, rows, quoting, ending):
    """What the csv module writes comes back bit for bit, NULL for None, in file order of each metric."""
    buffer = io.StringIO()
    writer = csv_module.writer(buffer, quoting=quoting, lineterminator=ending)
    writer.writerows([("step", "a", "b"), *rows])

    tables = table(tmp_path, buffer.getvalue().encode())

    expected = [(s, m, repr(row[i])) for i, m in enumerate("ab") for s, *row in rows if row[i] is not None]
    assert expected == [(s, m, repr(v)) for s, m, v in tables.points.select("step", "metric", "value").rows()]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=300) | st.text('0123456789.,;"\n\r#abstep-', max_size=300).map(str.encode))
def test_never_raises(tmp_path, data):
    """Whatever the bytes, sniffing and reading end, and nothing read means a gap that says why."""
    path = tmp_path / "metrics.csv"
    path.write_bytes(data)

    assert 0.0 <= csv_reader.sniff(path, data) <= 1.0
    tables = read(path)
    assert tables.points.height or tables.gaps.height


def test_corpus_metrics_match_their_labels():
    """Every table of the corpus is read whole, with the metrics its label lists."""
    if not CORPUS.exists():
        pytest.skip("no corpus here")
    for row in csv_module.DictReader((CORPUS / "labels.csv").open()):
        path = CORPUS / row["read_first"]
        if path.suffix != ".csv":
            continue
        tables = read(path)
        axes = {"step", "epoch", "Iteration", "time/total_timesteps"}
        named = {name for name in row["metrics"].split(";") if not name.startswith("... (")} - axes
        assert named <= set(tables.points["metric"]), path
        assert tables.gaps.height == 0, path
        assert tables.points["step"].null_count() == 0, path


def test_one_damaged_step_changes_no_other(tmp_path: Path) -> None:
    """A step with a fraction among whole ones is not known: its row takes the step before, the others keep theirs."""
    lines = [f"{3.5 if i == 4 else i},{i / 8}" for i in range(1, 31)]
    path = tmp_path / "metrics.csv"
    path.write_text("step,loss\n" + "\n".join(lines) + "\n")
    points = Tables.concat(csv_reader.read(path)).points

    assert points["step"].to_list() == [1, 2, 3, 3, *range(5, 31)]
    assert points["value"].to_list() == [i / 8 for i in range(1, 31)]


@pytest.mark.parametrize("damaged", ["x7", "nan", "2023-13-45", "17000000.5"])
def test_one_damaged_time_changes_no_other(tmp_path: Path, damaged: str) -> None:
    cells = [damaged if i == 4 else str(1_700_000_000 + i) for i in range(30)]
    tables = table(tmp_path, "step,time,loss\n" + "".join(f"{i},{cell},0.5\n" for i, cell in enumerate(cells)))
    start = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)

    expected = [None if i == 4 else start + timedelta(seconds=i) for i in range(30)]
    assert tables.points.filter(metric="loss")["time"].to_list() == expected


def test_a_step_below_zero_does_not_start_again(tmp_path: Path) -> None:
    """Where rows have epochs too, steps that start again near zero go on; a damaged one is no start."""
    rows = "".join(f"{i // 10},{-i if i == 20 else i},0.5\n" for i in range(30))

    steps = table(tmp_path, "epoch,step,loss\n" + rows).points["step"].to_list()
    assert steps == [*range(20), -20, *range(21, 30)]


@pytest.mark.parametrize("damaged", [0, 14, 19])
def test_a_step_far_too_high_does_not_make_the_next_epoch_start_again(tmp_path: Path, damaged: int) -> None:
    """Steps that go on over epochs stay as they are, wherever in an epoch one is damaged."""
    logged = [10**9 if i == damaged else i for i in range(40)]
    rows = "".join(f"{i // 10},{step},0.5\n" for i, step in enumerate(logged))

    assert table(tmp_path, "epoch,step,loss\n" + rows).points["step"].to_list() == logged


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("log.txt", "Train Loss\tValid Acc.\t\n2.5\t30.5\t\n2.25\t40\t\n2\t45\t\n", {"Train Loss": 0, "Valid Acc.": 1}),
        ("test.log", "% mean class accuracy (test set)\t\n 2.5e+00\t\n 2.25e+00\t\n 2.0e+00\t\n",
         {"% mean class accuracy (test set)": 0}),
        ("a.txt", "Output on real data;\n2.5;\n2.25;\n2;\n", {"Output on real data": 0}),
        ("b.txt", "train loss;val loss\n2.5;30.5;\n2.25;40;\n2;45;\n", {"train loss": 0, "val loss": 1}),
        ("val_loss.txt", "2.5,\n2.25,\n2,\n", {"val_loss": 0}),
        ("loss.csv", "1,2.5,\n2,2.25,\n3,2,\n", {"loss": 0}),
        ("scores_log.csv", "epoch_no,train_loss,train_dice,\b\n0,2.5,30.5,\b\n1,2.25,40,\b\n2,2,45,\b\n",
         {"train_loss": 0, "train_dice": 1}),
    ],
)  # fmt: skip
def test_separators_at_the_ends_of_lines(tmp_path, name, text, values):
    """Torch7's logger ends each line with a tab, GaNDLF's with a comma and a backspace."""
    tables = table(tmp_path, text, name)
    columns = ([2.5, 2.25, 2.0], [30.5, 40.0, 45.0])

    assert sniff(tmp_path, text, name) >= 0.5
    assert {m: curve_values(tables, m) for m in tables.points["metric"].unique()} == {
        metric: columns[k] for metric, k in values.items()
    }
    assert tables.gaps.height == 0


def curve_values(tables: Tables, metric: str) -> list[float]:
    return [value for _, value in curve(tables, metric)]


@pytest.mark.parametrize(
    "text",
    [
        "Train Loss\tValid Acc\n2.5\t30.5\nepoch 2 took 3 s\n2\t45\n",  # a text between the rows
        "width\theight\n2.5\t30.5\n2.25\t40\n2\t45\n",  # no measure
        "2.5\t30.5\n2.25\t40\n2\t45\n",  # no names
        "loss\t7\n2.5\t30.5\n2.25\t40\n2\t45\n",  # a number among the names
    ],
)
def test_other_texts_with_tabs_are_no_tables(tmp_path, text):
    assert sniff(tmp_path, text, "notes.txt") == 0


def test_a_table_named_after_data_has_the_measure_of_its_file(tmp_path):
    """Also where its header comes again: the program was started once more."""
    tables = table(tmp_path, "train,valid\n0.5,0.25\n0.6,0.5\ntrain,valid\n0.5,0.25\n", "AUC.csv")

    assert tables.points.sort("metric", "line").select("metric", "session", "value").rows() == [
        ("train/auc", 0, 0.5), ("train/auc", 0, 0.6), ("train/auc", 1, 0.5),
        ("valid/auc", 0, 0.25), ("valid/auc", 0, 0.5), ("valid/auc", 1, 0.25),
    ]  # fmt: skip


@pytest.mark.parametrize("comment", ["# train_loss, val acc", "# seed,3\n# train_loss; val acc", "#train_loss,val acc"])
def test_names_in_a_comment_of_another_spelling(tmp_path: Path, comment: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{comment}\n0.5,0.1\n0.4,0.2\n0.3,0.3\n")

    assert pipeline.read_run(path).points["metric"].unique().sort().to_list() == ["train_loss", "val acc"]


def test_a_text_with_columns_named_after_data_and_a_name_that_says_the_measure(tmp_path: Path) -> None:
    path = tmp_path / "net_accuracies.txt"
    path.write_text("train,test,min\n0.5,0.4,1\n0.6,0.5,2\n0.7,0.6,3\n")

    assert csv_reader.sniff(path, path.read_bytes()) == 0.6

"""Tables as training programs and tracking tools write them: each family by its documented form."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.pipeline import diagnose
from loganalyst.sources.tables import csv_reader

Curve = list[tuple[int, float]]


def table(tmp_path: Path, text: str, name: str = "progress.csv") -> Tables:
    path = tmp_path / name
    path.write_text(text)
    return Tables.concat(csv_reader.read(path))


def curves(tables: Tables) -> dict[str, Curve]:
    groups = tables.points.group_by("metric", maintain_order=True)
    return {str(name): frame.select("step", "value").rows() for (name,), frame in groups}


def test_ray_tune(tmp_path):
    """The settings of a trial are configuration, one that changes is a curve as well; texts are told in one gap."""
    header = "loss,timesteps_total,timestamp,done,trial_id,config/lr,config/net/width,config/opt\n"
    row = "{},{},{},False,a_0,{},64,adam\n"
    tables = table(tmp_path, header + row.format(0.5, 100, 1700000000, 0.1) + row.format(0.4, 200, 1700000060, 0.2))

    assert curves(tables) == {"loss": [(100, 0.5), (200, 0.4)], "config/lr": [(100, 0.1), (200, 0.2)]}
    assert tables.config.select("key", "value", "number").rows() == [
        ("lr", "0.1", 0.1),
        ("net.width", "64", 64.0),
        ("opt", "adam", None),
    ]
    assert tables.gaps["why"].to_list() == ["text columns are not read (2): 'done', 'trial_id'"]


def test_baselines(tmp_path):
    """OpenAI's tables count `misc/total_timesteps`; those of TRPO `TimestepsSoFar`."""
    text = "eprewmean,misc/total_timesteps,misc/nupdates\n1.5,128,1\n2.5,256,2\n"
    assert curves(table(tmp_path, text))["eprewmean"] == [(128, 1.5), (256, 2.5)]
    text = "EpLenMean,TimestepsSoFar,TimeElapsed\n20,1024,1.5\n"
    assert curves(table(tmp_path, text)) == {"EpLenMean": [(1024, 20.0)], "TimeElapsed": [(1024, 1.5)]}


def test_wandb_page_of_one_run(tmp_path):
    """The run is no part of a metric's name; MIN and MAX that equal the value say nothing, others are kept."""
    names = ("Step", *("vivid-sun-1 - train/loss" + end for end in ("", "__MIN", "__MAX")))
    header = ",".join(f'"{name}"' for name in names) + "\n"

    same = table(tmp_path, header + '"0","0.5","0.5","0.5"\n"1","0.25","0.25","0.25"\n', "wandb_export.csv")
    assert curves(same) == {"train/loss": [(0, 0.5), (1, 0.25)]}
    wider = table(tmp_path, header + '"0","0.5","0.5","0.75"\n', "wandb_export.csv")
    assert curves(wider) == {"train/loss": [(0, 0.5)], "train/loss__MAX": [(0, 0.75)]}


def test_wandb_page_of_several_runs(tmp_path):
    """Runs stay apart: each metric has its run's name before it."""
    pairs = [f"{run} - loss{end}" for run in ("a-1", "b - 2") for end in ("", "__MIN", "__MAX")]
    tables = table(tmp_path, ",".join(["Step", *pairs]) + "\n0,1,1,1,,,\n1,0.5,0.5,0.5,3,3,3\n", "wandb_export.csv")

    assert curves(tables) == {"a-1/loss": [(0, 1.0), (1, 0.5)], "b - 2/loss": [(1, 3.0)]}


def test_wandb_history(tmp_path):
    """`run.history().to_csv()`: index and W&B's own columns are no metrics; texts and histograms are told."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "loss": [0.5, None, 0.25],
            "note": ["warm", None, None],
            "weights": [{"_type": "histogram", "bins": [0, 1], "values": [3]}] * 3,
            "_runtime": [1.5, 2.5, 3.5],
            "_timestamp": [1700000000.5, 1700000001.5, 1700000002.5],
            "_step": [0, 10, 20],
        }
    )
    frame.to_csv(tmp_path / "history.csv")
    tables = Tables.concat(csv_reader.read(tmp_path / "history.csv"))

    assert curves(tables) == {"loss": [(0, 0.5), (20, 0.25)]}
    assert tables.points["time"].dt.timestamp("ms").to_list() == [1700000000500, 1700000002500]
    assert tables.gaps["why"].to_list() == ["text columns are not read (2): 'note', 'weights'"]


@pytest.mark.parametrize(
    "text",
    [
        "Start Time,Duration,Run ID,Name,Status,epochs,loss\n2024-01-01 10:00:00,1min,a,b,FINISHED,3,0.5\n",
        "Run ID,Name,lr,loss\na,fast,0.1,0.5\nb,slow,0.2,0.4\n",
        "Name,State,Notes,Created,Runtime,epoch,loss\nfast,finished,-,2024-01-01,10,3,0.5\n",
    ],
)
def test_comparisons_of_runs(tmp_path, text):
    """The list of runs of MLflow's or W&B's page is no curve, though `epochs` is among its columns."""
    tables = table(tmp_path, text, "runs.csv")

    assert tables.points.height == 0
    assert tables.gaps["why"][0].startswith("a comparison of runs")
    assert csv_reader.sniff(tmp_path / "runs.csv", text.encode()) == 0.2


def test_keras_csv_logger(tmp_path):
    """Values of the validation that are not known yet (NA) are NULL; an appended training is a session."""
    header = "epoch,accuracy,loss,val_loss\n"
    tables = table(tmp_path, header + "0,0.5,2.5,NA\n1,0.75,1.5,2\n" + header + "0,0.25,3,4\n", "training.csv")

    assert curves(tables)["val_loss"] == [(1, 2.0), (0, 4.0)]
    assert tables.points.filter(metric="loss")["session"].to_list() == [0, 0, 1]


def test_lists_in_cells(tmp_path):
    """A list of one is its number; longer ones are texts, never their first number."""
    tables = table(tmp_path, 'step,loss,one,per_class\n0,0.5,[2.5],"[0.1, 0.2]"\n1,0.25,[1.5],"[0.1, 0.3]"\n')

    assert curves(tables) == {"loss": [(0, 0.5), (1, 0.25)], "one": [(0, 2.5), (1, 1.5)]}
    assert tables.gaps["why"].to_list() == ["text columns are not read (1): 'per_class'"]


def test_stages_start_again(tmp_path):
    """Steps that go back without an epoch stay as logged, in file order."""
    tables = table(tmp_path, "stage,step,loss\npre,0,3\npre,1,2\nfine,0,1\n", "metrics.csv")

    assert curves(tables) == {"pre/loss": [(0, 3.0), (1, 2.0)], "fine/loss": [(0, 1.0)]}


def test_a_header_alone(tmp_path):
    """A table that has no rows yet is too little to judge, and no sign of a training that died."""
    path = tmp_path / "metrics.csv"
    path.write_text("epoch,step,loss\n")
    diagnosis = diagnose(path)

    assert (diagnosis.status, diagnosis.causes) == ("insufficient_data", ())
    assert diagnosis.run.gaps["why"].to_list() == ["a header, no rows yet"]


def test_names_are_not_lost(tmp_path):
    """Columns that become one name are told apart by number."""
    text = "epoch,r - epoch,r - epoch__MIN,r - epoch__MAX\n0,0,0,0\n1,1,1,1\n"

    assert curves(table(tmp_path, text))["epoch.1"] == [(0, 0.0), (1, 1.0)]

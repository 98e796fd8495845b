"""Which truths of runs count."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.auditing.confirm import confirm
from loganalyst.errors import SourceError
from loganalyst.evaluate.labelled import TRUTH, Place, labelled, recorded
from loganalyst.store import Store


def test_truths_of_files_and_of_users_count(tmp_path: Path) -> None:
    """Files next to runs, with `labels` or `label` and `secondary`, and confirmed truths; ambiguous runs do not."""
    for name in ("one", "two", "three", "four"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "metrics.csv").write_text(
            "step,loss\n" + "".join(f"{i},{9 - i}\n" for i in range(9))
        )
    for name, text in {
        "one": "labels: [lr_too_high, divergence]\nfamily: f\nonset_step: 3",
        "two": "label: healthy\nsecondary: []",
        "three": "labels: [ambiguous]",
    }.items():
        (tmp_path / "runs" / f"{name}.truth.yaml").write_text(text)
    store = Store(tmp_path / "store")
    store.ingest([tmp_path / "runs" / "four"])
    confirm(tmp_path / "runs" / "four", "overfitting", store=store)
    found = labelled([Place("made", tmp_path / "runs")], store)

    assert found.truths.select(
        name=pl.col("path").str.split("/").list.last(), labels="labels", family="family"
    ).rows() == [
        ("four", ["overfitting"], "confirmed"),
        ("one", ["lr_too_high", "divergence"], "f"),
        ("two", ["healthy"], "made"),
    ]
    assert found.truths["source"].to_list() == ["confirmed", "made", "made"]
    assert found.features["train_loss_points"].to_list() == [9, 9, 9]
    assert found.truths["onset_step"].to_list() == [None, 3, None]
    with pytest.raises(SourceError, match="holds no labelled runs"):
        labelled([Place("", tmp_path)], store)


def test_a_table_of_labels_is_read_with_its_runs(tmp_path: Path) -> None:
    """A log next to a run is a run of its own, although the run takes it if both are read at once.

    A run may be in two sources.
    """
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "metrics.csv").write_text("step,loss\n1,2\n2,1\n")
    (tmp_path / "job" / "config.yaml").write_text("SLURM_JOB_ID: 4711\n")
    (tmp_path / "slurm-4711.out").write_text("step 1 loss 2\nstep 2 loss 1\n")
    (tmp_path / "labels.csv").write_text("path,label\njob,healthy\nslurm-4711.out,hung\n")
    found = labelled([Place("one", tmp_path), Place("two", tmp_path / "labels.csv")], Store(tmp_path / "store"))

    assert found.truths.select(pl.col("path").str.split("/").list.last(), "labels", "source").rows() == [
        ("job", ["healthy"], "one"),
        ("job", ["healthy"], "two"),
        ("slurm-4711.out", ["hang"], "one"),
        ("slurm-4711.out", ["hang"], "two"),
    ]


def test_a_table_may_keep_the_features_of_runs_only(tmp_path: Path) -> None:
    """Its rows join the runs of folders and stores. An empty field is not known. A column must be a feature."""
    table = tmp_path / "logs.csv"
    table.write_text(
        "source,family,labels,log_root_label,log_traceback_count,run_done_share\n"
        "a/b#1,one,cuda_oom;cuda_error,cuda_oom,0,\nc/d#2,two,healthy,,2,0.5\n"
    )
    found = labelled([Place("logs", table)], Store(tmp_path / "store"))

    assert found.truths.select("path", "labels", "family").rows() == [
        ("a/b#1", ["cuda_oom", "cuda_error"], "one"),
        ("c/d#2", ["healthy"], "two"),
    ]
    assert found.features.select("log_root_label", "log_traceback_count", "run_done_share").rows() == [
        ("cuda_oom", 0, None),
        (None, 2, 0.5),
    ]
    assert (found.truths.schema, found.truths["source"].to_list()) == (TRUTH, ["logs", "logs"])
    assert len(found.witnesses) == 2
    table.write_text("source,family,labels,log_rot_label\na,b,c,d\n")
    with pytest.raises(SourceError, match="column 'log_rot_label' is no feature"):
        recorded(table)

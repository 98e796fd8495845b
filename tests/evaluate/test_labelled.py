"""Which truths of runs count."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.auditing.confirm import confirm
from loganalyst.errors import SourceError
from loganalyst.evaluate.labelled import TRUTH, labelled, recorded
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
    found = labelled([tmp_path / "runs"], store)

    assert found.truths.select(
        name=pl.col("path").str.split("/").list.last(), labels="labels", family="family"
    ).rows() == [
        ("four", ["overfitting"], "confirmed"),
        ("one", ["lr_too_high", "divergence"], "f"),
        ("two", ["healthy"], ""),
    ]
    assert found.features["train_loss_points"].to_list() == [9, 9, 9]
    assert found.truths["onset_step"].to_list() == [None, 3, None]
    with pytest.raises(SourceError, match="holds no labelled runs"):
        labelled([tmp_path], store)


def test_a_table_may_keep_the_features_of_runs_only(tmp_path: Path) -> None:
    """Its rows join the runs of folders and stores. An empty field is not known. A column must be a feature."""
    table = tmp_path / "logs.csv"
    table.write_text(
        "source,family,labels,log_root_label,log_traceback_count,run_done_share\n"
        "a/b#1,one,cuda_oom;cuda_error,cuda_oom,0,\nc/d#2,two,healthy,,2,0.5\n"
    )
    found = labelled([table], Store(tmp_path / "store"))

    assert found.truths.select("path", "labels", "family").rows() == [
        ("a/b#1", ["cuda_oom", "cuda_error"], "one"),
        ("c/d#2", ["healthy"], "two"),
    ]
    assert found.features.select("log_root_label", "log_traceback_count", "run_done_share").rows() == [
        ("cuda_oom", 0, None),
        (None, 2, 0.5),
    ]
    assert found.truths.schema == TRUTH
    assert len(found.witnesses) == 2
    table.write_text("source,family,labels,log_rot_label\na,b,c,d\n")
    with pytest.raises(SourceError, match="column 'log_rot_label' is no feature"):
        recorded(table)

"""The truth in a store: the newest counts, all is kept, nothing is written into the run."""

from pathlib import Path

import pytest

import loganalyst as la
from loganalyst import query
from loganalyst.auditing.confirm import truths
from loganalyst.errors import RuleError, SourceError, StoreError

RUNS = Path(__file__).parents[2] / "fixtures/runs"
OOM = RUNS / "cuda-oom"


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    return {f: (f.stat().st_size, f.stat().st_mtime_ns) for f in folder.rglob("*")}


def test_a_rule_names_its_label(tmp_path):
    truth = la.confirm(OOM, "cuda-out-of-memory", store=tmp_path, note="sized the batch for an A100")

    assert (truth.cause, truth.label, truth.note) == ("cuda-out-of-memory", "cuda_oom", "sized the batch for an A100")
    assert truth.run == la.read_run(OOM).id
    assert truths(tmp_path) == [(str(OOM / "slurm-48104.out"), "cuda_oom")]


def test_none_is_a_healthy_run_and_a_label_is_enough(tmp_path):
    assert la.confirm(RUNS / "healthy-slurm", "none", store=tmp_path).label == "healthy"
    found = la.confirm(OOM, "host_oom", store=tmp_path)

    assert (found.cause, found.label) == (None, "host_oom")
    assert [label for _, label in truths(tmp_path)] == ["host_oom", "healthy"]


def test_the_newest_word_counts_and_the_older_is_kept(tmp_path):
    for cause in ("host-out-of-memory", "cuda-out-of-memory"):
        la.confirm(OOM, cause, store=tmp_path)
    store = la.Store(tmp_path)

    assert [label for _, label in truths(store)] == ["cuda_oom"]
    assert store._folder._every("truths").collect()["label"].to_list() == ["host_oom", "cuda_oom"]


def test_nothing_is_dropped_when_segments_are_put_together(tmp_path):
    for i in range(40):
        la.confirm(OOM, "none" if i % 2 else "cuda-out-of-memory", store=tmp_path, note=str(i))
    every = la.Store(tmp_path)._folder._every("truths").collect()

    assert every["note"].to_list() == [str(i) for i in range(40)]
    assert truths(tmp_path) == [(str(OOM / "slurm-48104.out"), "healthy")]
    assert len(list((tmp_path / "tables/truths").glob("*.parquet"))) < 33


def test_a_run_is_named_by_its_id_too(tmp_path):
    store = la.Store(tmp_path)
    store.ingest([OOM])
    id_ = la.read_run(OOM).id

    assert la.confirm(id_[:5], "cuda-out-of-memory", store=store).run == id_
    with pytest.raises(StoreError, match="is no path, and no run of the store"):
        la.confirm("ffffffff", "none", store=store)


def test_an_unknown_cause_names_the_nearest(tmp_path):
    with pytest.raises(RuleError, match="did you mean 'cuda-out-of-memory'"):
        la.confirm(OOM, "cuda-out-of-memry", store=tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_path_without_a_run_is_none(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="is an empty directory"):
        la.confirm(tmp_path / "empty", "none", store=tmp_path / "store")


def test_a_query_can_read_it(tmp_path):
    la.Store(tmp_path).ingest([OOM])
    la.confirm(OOM, "cuda-out-of-memory", store=tmp_path)
    sql = "SELECT d.label, t.label AS truth FROM diagnoses d JOIN truths t ON t.run_id = d.run_id"

    assert query.ask(la.Store(tmp_path), sql).rows() == [("cuda_oom", "cuda_oom")]


def test_nothing_is_written_into_the_run(tmp_path):
    before = files(OOM)
    la.confirm(OOM, "none", store=tmp_path)

    assert files(OOM) == before

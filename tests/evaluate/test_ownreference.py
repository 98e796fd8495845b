"""Healthy runs of one's own in a reference."""

from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.diagnosis.healthyruns import read
from loganalyst.errors import LogAnalystError, SourceError
from loganalyst.evaluate.ownreference import add_reference
from loganalyst.pipeline import catalogue

LOSS = "step,loss\n" + "".join(f"{i},{9 - i / 2}\n" for i in range(16))


def stored(folder: Path, *names: str) -> la.Store:
    """A store with runs of these names, of which none is confirmed."""
    for name in names:
        (folder / "lab" / name).mkdir(parents=True)
        (folder / "lab" / name / "metrics.csv").write_text(LOSS)
    store = la.Store(folder / "store")
    store.ingest([folder / "lab"])
    return store


def test_confirmed_healthy_runs_are_written_and_obeyed(tmp_path: Path) -> None:
    """Only the newest truth counts. A second call replaces the file."""
    store = stored(tmp_path, "a", "b", "c")
    for name, truth in {"a": "none", "b": "overfitting", "c": "overfitting"}.items():
        la.confirm(tmp_path / "lab" / name, truth, store=store)
    first = add_reference(store, tmp_path / "rules")
    assert read(first).runs == 1

    la.confirm(tmp_path / "lab" / "b", "healthy", store=store)
    assert add_reference(tmp_path / "store", tmp_path / "rules") == first
    assert first.parent == tmp_path / "rules" / "reference"
    found = read(first)
    assert (found.runs, found.repositories) == (2, 1)
    assert found.features["train_loss_points"]["training"].values == (16.0,) * 9
    assert found.features["train_loss_points"]["training"].weight == 2.0
    ours, both = (catalogue(folders).healthy_runs.range("train_loss_points", "training")
                  for folders in ((), (tmp_path / "rules",)))  # fmt: skip
    assert ours is not None
    assert both is not None
    assert (both.runs, both.repositories) == (ours.runs + 2, ours.repositories + 1)
    assert both.weight == pytest.approx(ours.weight + 2)
    [obeyed] = la.diagnose(tmp_path / "lab" / "a", rules=(tmp_path / "rules",)).settings_obeyed
    assert obeyed.what == "0 rules and 0 patterns of log lines, 2 healthy runs to compare with"


def test_two_stores_of_one_name_have_two_files(tmp_path: Path) -> None:
    files = set()
    for place in (tmp_path / "one", tmp_path / "two"):
        store = stored(place, "a")
        la.confirm(place / "lab" / "a", "none", store=store)
        files.add(add_reference(store, tmp_path / "rules"))

    assert len(files) == 2
    assert {file.name.rpartition("-")[0] for file in files} == {"store"}


def test_a_store_without_healthy_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no run that was confirmed as healthy; `loganalyst confirm RUN none"):
        add_reference(stored(tmp_path, "a"), tmp_path / "rules")
    assert not (tmp_path / "rules").exists()


def test_a_missing_store_and_runs_that_were_not_ingested_are_named(tmp_path: Path) -> None:
    """A run can be confirmed before it is read; the error says that it must be ingested."""
    with pytest.raises(SourceError, match="store: there is no store; `loganalyst ingest PATH --store DIR` creates one"):
        add_reference(tmp_path / "store", tmp_path / "rules")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "metrics.csv").write_text(LOSS)
    la.confirm(tmp_path / "a", "none", store=tmp_path / "store")

    with pytest.raises(SourceError, match=f"no numbers of {tmp_path / 'a'}, which was confirmed as healthy"):
        add_reference(tmp_path / "store", tmp_path / "rules")


def test_nothing_is_written_into_a_run_of_the_store(tmp_path: Path) -> None:
    store = stored(tmp_path, "a")
    la.confirm(tmp_path / "lab" / "a", "none", store=store)

    with pytest.raises(LogAnalystError, match="lab/a"):
        add_reference(store, tmp_path / "lab" / "a")
    assert sorted(p.name for p in (tmp_path / "lab" / "a").iterdir()) == ["metrics.csv"]

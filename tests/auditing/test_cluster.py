"""An audit on a dask cluster has the result of a local one, even if a process is killed."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import loganalyst
from loganalyst import cli
from loganalyst.auditing import cluster
from loganalyst.errors import LogAnalystError, StoreError
from loganalyst.limits import Limits
from loganalyst.processes.eachitem import Ready
from loganalyst.store import Outcome, Store, tablefiles

pytestmark = pytest.mark.takes_long

OOM = "step {i} loss 2.{i}\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate {i}.50 GiB. GPU 0 is full\n"


def make_runs(root: Path, count: int) -> Path:
    """Jobs that ran out of memory, with a table each."""
    for i in range(count):
        (root / f"job-{i}").mkdir(parents=True)
        (root / f"job-{i}" / f"slurm-90{i}.out").write_text(OOM.format(i=i))
        rows = "".join(f"{step},{1 / (step + 1 + i)}\n" for step in range(50))
        (root / f"job-{i}" / "metrics.csv").write_text("step,loss\n" + rows)
    return root


def content(store: Path) -> dict[str, pl.DataFrame]:
    """All that was read and judged, in an order of its own, but for when."""
    kept = Store(store)
    rows = {name: getattr(kept, name).collect() for name in (*tablefiles.BIG, *tablefiles.READ, *tablefiles.JUDGED)}
    return {
        name: r.drop("reading", strict=False).sort("run_id", maintain_order=True).with_columns(json=pl.lit(""))
        for name, r in rows.items()
    }


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": "2GB"}
    with distributed.LocalCluster(n_workers=2, **options) as found:
        yield found


def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_twice(dask_cluster: Any, tmp_path: Path) -> None:
    """Half-way, one of two workers is killed: each run is reported once; the store is that of a local audit."""
    from distributed import Client

    runs = make_runs(tmp_path / "runs", 6)
    with Client(dask_cluster) as client:
        (_, process), *_ = client.run(os.getpid).items()
    outcomes: list[Outcome] = []

    def watch(outcome: Outcome, _: int | None) -> None:
        outcomes.append(outcome)
        if len(outcomes) == 3:
            os.kill(process, signal.SIGKILL)

    far = loganalyst.audit([runs], tmp_path / "far", scheduler=dask_cluster.scheduler_address, watch=watch)
    near = loganalyst.audit([runs], tmp_path / "near", jobs=1)
    again = loganalyst.audit([runs], tmp_path / "far", scheduler=dask_cluster.scheduler_address)

    both = [(what, str(run)) for run in runs.iterdir() for what in ("judged", "read")]
    assert sorted((o.what, o.path) for o in outcomes) == sorted(both)
    assert far.counts == near.counts == {"read": 6, "judged": 6}
    assert far.runs.equals(near.runs)
    assert far.groups.equals(near.groups)
    assert all(rows.equals(content(tmp_path / "near")[name]) for name, rows in content(tmp_path / "far").items())
    assert again.counts == {"unchanged": 6}
    assert list((tmp_path / "far/tmp").iterdir()) == []


def _odd(item: str) -> str:
    if item == "slow":
        time.sleep(600)
    if item == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def _died(item: str, why: str) -> str:
    return f"{item}: {why}"


def test_what_hangs_or_dies_costs_itself(dask_cluster: Any) -> None:
    """Neither the worker nor the other runs; no process is left afterwards."""
    from distributed import Client

    items = ["a", "slow", Ready("known"), "dies", "b"]
    with Client(dask_cluster) as client:
        client.wait_for_workers(2)
        before = client.run(os.getpid)
        found = list(cluster.Cluster(client).each(_odd, items, _died, Limits(seconds=3)))
        held = client.run(_children)

        assert sorted(found) == [
            "a",
            "b",
            "dies: the process that read it died (signal 9)",
            "known",
            "slow: took longer than 3 s, and was given up",
        ]
        assert client.run(os.getpid) == before
        assert set(held.values()) == {0}


def _children() -> int:
    return len(cluster._crews)


def test_workers_that_would_give_other_answers_are_refused(
    dask_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of the program or its rules there than here."""
    monkeypatch.setattr("loganalyst.store.judgedrows.version", lambda: "9.9 other")
    with pytest.raises(LogAnalystError, match=r"has version .*; 9\.9 other is needed"):
        loganalyst.audit([tmp_path], tmp_path / "store", scheduler=dask_cluster.scheduler_address)


@pytest.mark.parametrize(("options", "module"), [({"scheduler": "x:1"}, "distributed"), ({"slurm": True}, "dask")])
def test_a_missing_extra_is_an_error_with_the_pip_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        LogAnalystError,
        match=r"is not installed; `pip install '\.\[cluster\]'` in a checkout of loganalyst installs it",
    ):
        loganalyst.audit([tmp_path], tmp_path / "store", **options)


def test_a_cluster_needs_a_store_and_a_scheduler_that_answers(tmp_path: Path) -> None:
    """The error names what is missing."""
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    with pytest.raises(StoreError, match="--store names a folder"):
        loganalyst.audit([tmp_path], scheduler="tcp://127.0.0.1:9")
    with (
        pytest.raises(LogAnalystError, match="no scheduler answers"),
        cluster.connected("tcp://127.0.0.1:9", tmp_path / "store", max_wait=0.5),
    ):
        pass


def test_a_scheduler_has_its_own_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It cannot be combined with `--jobs` or `--slurm`."""
    for more in (["--slurm"], ["--jobs", "2"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(["audit", str(tmp_path), "--scheduler", "tcp://127.0.0.1:9", *more])
        assert ended.value.code == 2
    assert "leave out --slurm and --jobs" in capsys.readouterr().err

"""An audit by jobs of a local SLURM; one job is cancelled half-way."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import loganalyst
from fixtures.slurm import cluster as slurm
from loganalyst.store import Outcome
from tests.auditing.test_cluster import make_runs

pytestmark = pytest.mark.takes_long


@pytest.fixture(scope="module")
def machines() -> Iterator[slurm.Cluster]:
    if not os.environ.get("LOGANALYST_LIVE_SLURM"):
        pytest.skip("runs in .ci/run (LOGANALYST_LIVE_SLURM=1)")
    if why := slurm.missing():
        pytest.skip(why)
    pytest.importorskip("dask_jobqueue", reason="needs the extra `cluster`")
    try:
        with slurm.cluster() as found:
            yield found
    except slurm.NotStartedError as error:
        pytest.skip(f"SLURM does not start here: {error}")


def test_jobs_of_slurm_do_the_work(machines: slurm.Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a local audit, though one of two jobs is cancelled; no job is left afterwards."""
    import dask

    monkeypatch.setenv("SLURM_CONF", str(machines.folder / "slurm.conf"))
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{slurm.PATH}")
    monkeypatch.chdir(tmp_path)  # jobs write their logs here
    runs, outcomes = make_runs(tmp_path / "runs", 6), list[Outcome]()

    def watch(outcome: Outcome, _: int | None) -> None:
        outcomes.append(outcome)
        if len(outcomes) == 2:
            machines.run("scancel", machines.run("squeue", "-h", "-o", "%A").split()[0])

    here = {"interface": "lo", "python": sys.executable, "memory": "1900MB", "log-directory": str(tmp_path / "logs")}
    with dask.config.set({"jobqueue.slurm": {**dask.config.get("jobqueue.slurm", {}), **here}}):
        far = loganalyst.audit([runs], tmp_path / "far", slurm=True, jobs=2, watch=watch)
    near = loganalyst.audit([runs], tmp_path / "near", jobs=1)
    machines.wait(60)

    assert far.counts == near.counts == {"read": 6, "judged": 6}
    assert far.runs.equals(near.runs)
    assert len({(o.what, o.path) for o in outcomes}) == len(outcomes) == 12

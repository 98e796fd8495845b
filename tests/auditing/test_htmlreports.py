"""Reports of failed runs: written again when the run changed, and removed when it is healthy."""

import json
import os
from pathlib import Path

import polars as pl
import pytest

import loganalyst
from loganalyst import cli
from loganalyst.auditing import htmlreports
from loganalyst.auditing.runlist import COLUMNS
from loganalyst.errors import StoreError
from loganalyst.report import audit
from loganalyst.report.audit.packed import address
from loganalyst.store import Store
from tests.auditing.test_batch import OOM

pytestmark = pytest.mark.usefixtures("workers_here")
HEALTHY = "".join(f"step {i} | loss {2 * 0.99**i + 0.1 + 0.01 * (i % 3):.4f}\n" for i in range(400))


def tree(folder: Path) -> Path:
    """Three jobs that ran out of memory, and a healthy one."""
    for i in range(3):
        (folder / f"job {i}").mkdir(parents=True)
        (folder / f"job {i}" / f"slurm-90{i}.out").write_text(OOM.format(i=i))
    (folder / "good").mkdir()
    (folder / "good" / "train.log").write_text(HEALTHY)
    return folder


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, loganalyst.Audit]:
    folder = tmp_path_factory.mktemp("audit")
    tree(folder / "runs")
    return folder, loganalyst.audit([folder / "runs"], folder / "store", jobs=1, reports=folder / "the reports")


def test_failed_runs_have_a_report(audited: tuple[Path, loganalyst.Audit]) -> None:
    """The other runs have none; the path is in the row."""
    folder, found = audited
    report_of = {os.path.basename(path): report for path, report in found.runs.select("path", "report").iter_rows()}

    assert found.counts == {"read": 4, "judged": 4, "reported": 3}
    assert found.faults == ()
    assert report_of.pop("train.log", None) is None
    files = [report_of.pop(f"slurm-90{i}.out") for i in range(3)]
    assert set(report_of.values()) <= {None}
    assert sorted(os.listdir(folder / "the reports")) == sorted(map(os.path.basename, files))
    assert "CUDA out of memory. Tried to allocate 1.50 GiB" in Path(files[1]).read_text(encoding="utf-8")


@pytest.mark.usefixtures("true_workers")
def test_only_what_changed_is_written_again(audited: tuple[Path, loganalyst.Audit]) -> None:
    """Reports of changed runs and missing ones are written; that of a healthy run is removed; other files stay."""
    folder, found = audited
    report_of = {os.path.basename(path): report for path, report in found.runs.select("path", "report").iter_rows()}
    before = {name: os.stat(report_of[name] or "").st_mtime_ns for name in ("slurm-900.out", "slurm-901.out")}
    with (folder / "runs" / "job 1" / "slurm-901.out").open("a") as log:
        log.write("srun: error: node3: task 0: Exited with exit code 1\n")
    (folder / "runs" / "job 2" / "slurm-902.out").write_text(HEALTHY)
    other = folder / "the reports" / "notes.html"
    other.write_text("mine")
    again = loganalyst.audit([folder / "runs"], folder / "store", jobs=1, reports=folder / "the reports")

    assert again.counts == {"read": 2, "unchanged": 2, "judged": 2, "reported": 1}
    assert os.stat(report_of["slurm-900.out"] or "").st_mtime_ns == before["slurm-900.out"]
    assert os.stat(report_of["slurm-901.out"] or "").st_mtime_ns > before["slurm-901.out"]
    assert not os.path.exists(report_of["slurm-902.out"] or "")
    assert other.read_text() == "mine"


def test_a_report_that_cannot_be_written_is_a_failure(
    audited: tuple[Path, loganalyst.Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's row has none then, and an old one is gone."""
    folder, found = audited
    kept = Store(folder / "store")
    ill = found.runs.filter(status="diagnosis_complete").head(1)
    old = tmp_path / "reports" / f"{ill['run_id'][0]}.html"
    old.parent.mkdir()
    old.write_text(htmlreports.MARK.format("of an older reading"))
    monkeypatch.setattr("loganalyst.model.Diagnosis.to_html", lambda self: 1 // 0)
    (outcome,) = htmlreports.write(kept, ill, old.parent, 1)

    assert outcome.what == "failed"
    assert outcome.why.endswith(
        "its report could not be written: ZeroDivisionError: integer division or modulo by zero"
    )
    assert htmlreports.linked(ill, old.parent)["report"].to_list() == [None]
    assert os.listdir(old.parent) == []


def test_the_folder_must_be_one(tmp_path: Path) -> None:
    """A file in its place is an error, and stays."""
    (tmp_path / "reports").write_text("mine")
    with pytest.raises(StoreError, match=r"reports: cannot be written .* takes a folder"):
        list(htmlreports.write(Store(tmp_path / "store"), pl.DataFrame(schema=COLUMNS), tmp_path / "reports", 1))

    assert (tmp_path / "reports").read_text() == "mine"


def test_the_page_links_them_from_where_it_lies(
    audited: tuple[Path, loganalyst.Audit], capsys: pytest.CaptureFixture[str]
) -> None:
    """Relative, so that page and reports can be moved together."""
    folder, _ = audited
    page = folder / "page.html"
    with pytest.raises(SystemExit):
        cli.main([
            "audit", str(folder / "runs"), "--store", str(folder / "store"), "--reports", str(folder / "the reports"),
            "--format", "html", "-o", str(page),
        ])  # fmt: skip
    text = page.read_text(encoding="utf-8")
    written = [name for name in os.listdir(folder / "the reports") if name != "notes.html"]

    for report in written:
        assert f'<a href="the%20reports/{report}">' in text
        assert json.dumps(f"the%20reports/{report}") in text
    assert len(written) in {2, 3}  # whatever became of the runs before


@pytest.mark.parametrize(
    ("file", "home", "expected"),
    [
        ("/a/reports/x.html", "/a", "reports/x.html"),
        ("/a/reports/x.html", "/a/pages", "../reports/x.html"),
        ('/a/"><script>/x.html', "/a", "%22%3E%3Cscript%3E/x.html"),
        ("/a/javascript:b/x.html", "/a", "javascript%3Ab/x.html"),
    ],
)
def test_addresses_are_harmless(file: str, home: str, expected: str) -> None:
    """Whatever a folder is called, it is a relative path."""
    assert address(file, Path(home)) == expected


def test_without_reports_there_are_no_links(audited: tuple[Path, loganalyst.Audit]) -> None:
    """The page is what it was."""
    _, found = audited
    page = audit.render(found.runs.drop("report"), found.groups, found.contrasts, found.nodes)

    assert "<a " not in page

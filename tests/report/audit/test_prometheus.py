"""An audit as Prometheus metrics."""

import polars as pl

from loganalyst.report.audit.prometheus import render, save


def test_counts_have_labels() -> None:
    """A label is escaped; names that look the same are added up."""
    runs = pl.DataFrame(
        {
            "status": ["healthy", "diagnosis_complete", "diagnosis_complete"],
            "verdict": [None, "likely", "likely"],
            "label": [None, "oom", "oom"],
            "severity": [None, "error", "error"],
            "node": [None, 'n"1', 'n"1\x1b[0m'],
        }
    )
    lines = render(runs, {"read": 3}, 2, 1.23456).splitlines()

    assert 'loganalyst_runs{status="diagnosis_complete"} 2' in lines
    assert 'loganalyst_causes{label="oom",severity="error"} 2' in lines
    assert 'loganalyst_node_causes{node="n\\"1"} 2' in lines
    assert ("loganalyst_new_findings 2" in lines, "loganalyst_scan_seconds 1.235" in lines) == (True, True)
    assert "# HELP loganalyst_new_findings Findings reported for the first time." in lines


def test_other_users_can_read_the_file(tmp_path) -> None:
    """The collector runs as another user."""
    save("x 1\n", tmp_path / "a.prom")

    assert (tmp_path / "a.prom").read_text() == "x 1\n"
    assert (tmp_path / "a.prom").stat().st_mode & 0o777 == 0o644

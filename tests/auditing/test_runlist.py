"""The order of the runs of an audit."""

import polars as pl

from loganalyst.auditing.runlist import COLUMNS, worst_first


def test_the_worst_come_first() -> None:
    """By status, then severity, then how sure, then path; NULL last."""
    rows = [
        {"path": "a", "status": "healthy", "confidence": 0.9},
        {"path": "b", "status": "diagnosis_complete", "severity": "error", "confidence": 0.9},
        {"path": "c", "status": "diagnosis_complete", "severity": "critical", "confidence": 0.6},
        {"path": "d", "status": "diagnosis_complete", "severity": "error", "confidence": 0.95},
        {"path": "e", "status": "unreadable"},
        {"path": "f", "status": "cause_unknown", "confidence": 0.5},
    ]

    assert worst_first(pl.DataFrame(rows, schema=COLUMNS))["path"].to_list() == ["c", "d", "b", "f", "e", "a"]

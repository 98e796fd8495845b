"""An audit as metrics of the node exporter's textfile collector (Prometheus text format 0.0.4)."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from loganalyst.report.common.wording import clean
from loganalyst.writing import write_whole

PREFIX = "loganalyst"


def render(runs: pl.DataFrame, counts: Mapping[str, int], new: int, seconds: float) -> str:
    """All metrics of a scan that took `seconds` and reported `new` findings."""
    by_status = runs["status"].value_counts(sort=True).rows()
    likely = runs.filter(verdict="likely")
    by_label = likely.group_by("label", "severity").len().sort("label", "severity").rows()
    by_node = likely.drop_nulls("node").group_by("node").len().sort("node").rows()
    return "".join(
        [
            _family("runs", "Runs by the status of their diagnosis.", [({"status": s}, n) for s, n in by_status]),
            _family(
                "causes",
                "Runs with a likely cause, by its label.",
                [({"label": a, "severity": b}, n) for a, b, n in by_label],
            ),
            _family("node_causes", "Runs with a likely cause, by node.", [({"node": a}, n) for a, n in by_node]),
            _family("read", "Runs by what was done with them.", [({"what": a}, n) for a, n in sorted(counts.items())]),
            _family("new_findings", "Findings reported for the first time.", [({}, new)]),
            _family("scan_seconds", "How long the scan took.", [({}, round(seconds, 3))]),
            _family("last_scan_timestamp_seconds", "When the last whole scan ended.", [({}, round(time.time(), 3))]),
        ]
    )


def _family(name: str, meaning: str, samples: Sequence[tuple[Mapping[str, str], float]]) -> str:
    lines = [f"# HELP {PREFIX}_{name} {meaning}", f"# TYPE {PREFIX}_{name} gauge"]
    by_labels = dict[str, float]()
    for labels, value in samples:  # names that look the same are added up: a series may appear only once
        key_text = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        by_labels[key_text] = by_labels.get(key_text, 0) + value
    for key_text, value in by_labels.items():
        lines.append(f"{PREFIX}_{name}{{{key_text}}} {value}" if key_text else f"{PREFIX}_{name} {value}")
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace('"', '\\"')


def save(text: str, path: Path) -> None:
    """Write the file whole, so that the collector never sees half of it. Raises LogAnalystError."""
    write_whole(path, text, "--prometheus takes a file", mode=0o644)  # the collector runs as another user

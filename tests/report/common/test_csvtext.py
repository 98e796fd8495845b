"""CSV that a spreadsheet shows and never runs, and that no terminal obeys."""

import csv as reader
import io
import json
import math
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import loganalyst as la
from loganalyst.report.audit import prometheus
from loganalyst.report.common import csvtext
from tests.commandline import called

pytestmark = pytest.mark.usefixtures("workers_here")
HOSTILE = [
    "=cmd|'/c calc'!A1",
    "+1+cmd()",
    "-2+3+cmd()",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "\x1b[31m=",
    "\u009b31m",
]
NUMBERS = ["-0.5", "+1e3", "-1", "+.5", "-1.", "-inf", "+NaN", "-1e-07"]


def cells(rows: pl.DataFrame) -> list[list[str]]:
    """As Python's own reader reads them."""
    return list(reader.reader(io.StringIO(csvtext.render(rows))))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("-", "'-"),
        ("-x", "'-x"),
        ("@a,b", "'@a,b"),
        ('="a"', '\'="a"'),
        ("\t=1", "'\\t=1"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a=b", "a=b"),
        ("é €", "é €"),
        *((number, number) for number in NUMBERS),
    ],
)
def test_a_cell(text: str, cell: str) -> None:
    assert cells(pl.DataFrame({"a": [text]})) == [["a"], [cell]]


def test_numbers_nulls_and_lists_are_as_they_were() -> None:
    rows = pl.DataFrame({"x": [-0.5, None], "n": [-3, 4], "l": [["=a", "b"], None], "t": ["-0.5", None]})
    assert cells(rows) == [["x", "n", "l", "t"], ["-0.5", "-3", "'=a; b", "-0.5"], ["", "4", "", ""]]


def test_headers_are_harmless_and_stay_apart() -> None:
    rows = pl.DataFrame({"=a": [1], "'=a": [2], "b\x1b": [3]})
    assert cells(rows)[0] == ["'=a", "'=a (2)", "b\\x1b"]


@given(st.lists(st.text() | st.sampled_from([*HOSTILE, *NUMBERS]), min_size=1, max_size=20))
def test_no_cell_begins_like_a_formula_but_numbers(texts: list[str]) -> None:
    """Each row has one cell, no control character, and text that is harmless is not changed."""
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    found = cells(pl.DataFrame({"head": texts, "more": range(len(texts))}))[1:]

    assert [int(more) for _, more in found] == [*range(len(texts))]
    for text, (cell, _) in zip(texts, found, strict=True):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", cell)
        if cell[:1] in {"=", "+", "-", "@", "＝", "＋", "－", "＠"}:
            assert math.isfinite(float(cell)) or cell.lower().endswith(("inf", "nan"))
        if text.isalnum():
            assert cell == text


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs whose names, settings, metrics and logs would do things in a spreadsheet or a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    for number in range(2):
        run = folder / f"=cmd()\x1b[3{number}m\u009b{number}m"
        run.mkdir()
        losses = [f'{{"step": {i}, "\\u001b[31mloss": {1 / (i + 1) if i < 40 else "NaN"}}}\n' for i in range(60)]
        (run / "metrics.jsonl").write_text("".join(losses))
        settings = {name: name + str(number) for name in HOSTILE} | {"lr": 0.1 * (1 + number)}
        (run / "config.yaml").write_text(json.dumps(settings))
        (run / "train.log").write_text(
            "\x1b[2J\u009b31m" + "RuntimeError: \x1b]0;x\x07CUDA out of memory \u009b31m\n" * 2
        )
    return folder


COMMANDS = [
    *(f"audit {{0}} --jobs 1 --store {{3}} --format {name}" for name in ("terminal", "json", "csv", "html")),
    *(f"compare {{0}} --jobs 1 --store {{3}} --format {name}"
      for name in ("terminal", "markdown", "json", "csv", "html")),
    *(f"diagnose {{1}} --format {name}" for name in ("terminal", "markdown", "json", "html", "sarif")),
    *("show {1}", "show {1} --features", "show {1} --features --format json", "scan {0} --jobs 1 --store {2}"),
    *(f"query SELECT+*+FROM+{t} --store {{3}} --format {f}" for t in ("config", "lines", "runs", "diagnoses")
      for f in ("csv", "json", "jsonl", "table")),
    "ingest {0} --store {2}",
    "verify {1} {1}",
    "replay {1}",
]  # fmt: skip


@pytest.fixture(scope="module")
def store(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("known")
    la.Store(folder).ingest([hostile])
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_report_carries_a_control(command: str, hostile: Path, store: Path, tmp_path: Path) -> None:
    """Of what a terminal obeys there is nothing in any format but line feeds."""
    run = min(path for path in hostile.iterdir() if path.is_dir())
    names = (hostile, run, tmp_path / "new", store)
    told = called(*(word.format(*names).replace("+", " ") for word in command.split()))

    assert told.code in {0, 1}, told.err
    assert told.out
    assert sorted(set(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", told.out + told.err))) == []


def test_metrics_carry_no_control(tmp_path: Path) -> None:
    """Names that look the same afterwards count together: a series may be told only once."""
    columns = {"status": "healthy", "verdict": "likely", "severity": "error", "label": "oom"}
    runs = pl.DataFrame([{**columns, "node": node} for node in ("n1", "n\x1b[31m1", "n\u009b1", 'n"2\\')])
    text = prometheus.render(runs, {"read": 4}, 0, 1.0)

    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text) == []
    assert {line for line in text.splitlines() if line.startswith("loganalyst_node_causes{")} == {
        'loganalyst_node_causes{node="n\\"2\\\\"} 1',
        'loganalyst_node_causes{node="n1"} 3',
    }

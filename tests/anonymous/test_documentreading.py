"""A document is untrusted: it is checked and redacted when it is read."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import loganalyst as la
from loganalyst import anonymous
from loganalyst.errors import SourceError
from tests.anonymous.conftest import ROOT
from tests.commandline import called


def broken(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Documents that no program of ours wrote."""

    def with_points(**changes: Any) -> dict[str, Any]:
        points = [{**document["tables"]["points"][0], **changes}]
        return {**document, "tables": {**document["tables"], "points": points}}

    yield "no rows", {**document, "tables": {"points": [{"step": [1]}]}}
    yield "another schema", {**document, "schema": "loganalyst/anonymous/99"}
    yield "too few values", with_points(step=[1, 2, 3])
    yield "an unknown column", with_points(secret=1)
    yield "words for numbers", with_points(value="lots")
    yield "rows that are no number", with_points(rows="7")
    yield "very many rows", with_points(rows=10**12, step=0, value=0.5)
    yield "a large number", with_points(step=2**70)
    yield "no tables", {key: value for key, value in document.items() if key != "tables"}
    yield "a list for tables", {**document, "tables": []}


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return json.loads(anonymous.render(la.diagnose(ROOT / "fixtures/runs/nan-lr")))


def test_a_broken_document_is_an_error_that_names_the_file(written: dict[str, Any], tmp_path: Path) -> None:
    """Each is refused in one line that names the file; nothing else is raised."""
    for what, document in broken(written):
        file = tmp_path / "case.json"
        file.write_text(json.dumps(document))
        with pytest.raises(SourceError) as refused:
            la.read_run(file)
        assert "case.json" in str(refused.value), what
    file.write_text('{"schema": "loganalyst/anonymous/1", "tables": ' + "[" * 100_000)
    with pytest.raises(SourceError, match="cannot be read"):
        la.read_run(file)


def test_only_a_file_may_be_a_document(tmp_path: Path) -> None:
    """A pipe is not waited for; a folder, a link to nothing and an empty file are none."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")

    assert not any(anonymous.is_document(tmp_path / name) for name in ("pipe", "empty", "link", "nothing", "."))


def test_a_documents_own_text_is_not_read(written: dict[str, Any], tmp_path: Path) -> None:
    """No foreign text of a document, and no file that it names, gets into a report."""
    (tmp_path / "zqfile").write_text("zqsecret\n" * 100)
    forged = json.loads(json.dumps(written))
    for pack in forged["tables"]["points"]:
        pack |= {"metric": f"zq\x1b[31m{pack['metric']}", "source": "../zqfile"}
    line = {
        "rows": 1,
        "session": 0,
        "file": "zqfile",
        "line": 1,
        "offset": 0,
        "pattern": "zqpattern",
        "text": "zqsecret",
    }
    forged["tables"]["lines"] = [{**line, "label": "nan_loss", "captures": '{"path": "zqfile"}'}]
    forged["tables"]["config"] = [{"rows": 1, "key": "zq.lr", "value": "zqvalue", "number": 0.1, "origin": "zqfile"}]
    forged["features"] |= {"log_root_message": "zqmessage", "artefact_missing_path": "zqpath", "zqfeature": 1}
    forged["run"]["status"] = "zqstatus"
    (tmp_path / "case.json").write_text(json.dumps(forged))
    found = la.diagnose(tmp_path / "case.json")
    report = "\n".join(
        [found.to_json(), found.to_markdown(), found.to_html(), called("show", tmp_path / "case.json").out]
    )

    assert re.findall(r"zq\w*", report.replace(str(tmp_path), ""), re.IGNORECASE) == []
    assert "\x1b" not in report


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("metric", json.loads("[" * 600 + "]" * 600), "metric has values that are not String"),
        ("value", {"a": 1}, "value has values that are not Float64"),
        ("step", [[1]], "step has values that are not Int64"),
        ("time", 10**18, "time has times beyond the years 1 to 9999"),
        ("time", -(10**17), "time has times beyond the years 1 to 9999"),
        ("rows", 19_000_000, "more than 10,000 rows need a column with a value for each row"),
        ("evil", 1, "no column 'evil'"),
    ],
)
def test_a_forged_part_costs_neither_memory_nor_the_process(tmp_path: Path, column: str, value: Any, why: str) -> None:
    part = {"rows": 1, "session": 0, "metric": "train/loss", "step": 1, "value": 0.5, column: value}
    forged = {"schema": "loganalyst/anonymous/1", "run": {}, "sources": [], "tables": {"points": [part]}}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    with pytest.raises(SourceError, match=why):
        la.read_run(tmp_path / "forged.json")

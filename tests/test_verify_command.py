"""`diagnose --baseline`, `verify` and `confirm` on the command line: what they print, and their exit codes."""

import json
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst import cli
from loganalyst.report.verification.schema import schema

RUNS = Path(__file__).parents[1] / "fixtures/runs"
OLD, NEW = RUNS / "divergence-lr", RUNS / "healthy-mended-rate"


def run(*arguments: object) -> int:
    """The exit code of the command line, called in this process."""
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    return int(stop.value.code or 0)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [(OLD, NEW, 0), (OLD, OLD, 1), (RUNS / "mode-collapse", RUNS / "healthy-slurm", 1), (OLD, RUNS / "gone", 2)],
)
def test_verify_exits_with_0_only_if_fixed(old, new, code):
    """Not fixed and not to be told are both 1."""
    assert run("verify", old, new) == code


def test_verify_of_a_healthy_run_is_a_misuse(capsys):
    assert run("verify", NEW, OLD) == 2
    assert "nothing was found in this run that could be fixed (healthy)" in capsys.readouterr().err


def test_verify_prints_json_that_fits_its_schema(capsys):
    assert run("verify", OLD, NEW, "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)

    jsonschema.validate(data, schema())
    assert data["outcome"] == "fixed"


def test_verify_writes_a_file_and_remembers(tmp_path, capsys):
    assert run("verify", OLD, NEW, "--store", tmp_path / "store", "-o", tmp_path / "answer.txt") == 0
    assert (tmp_path / "answer.txt").read_text().startswith("✓ Fixed: Learning rate too high")
    assert run("query", "SELECT outcome, fix FROM verifications", "--store", tmp_path / "store", "--format", "csv") == 0
    assert capsys.readouterr().out == "outcome,fix\nfixed,lr 0.05 → 0.016666666666666666\n"


def test_confirm_records_and_a_query_reads(tmp_path, capsys):
    assert run("confirm", OLD, "lr-too-high", "--note", "by bisection", "--store", tmp_path) == 0
    assert run("query", "SELECT cause, label, note FROM truths", "--store", tmp_path, "--format", "jsonl") == 0
    told, row = capsys.readouterr().out.splitlines()

    assert told.endswith("lr-too-high (lr_too_high), confirmed by you")
    assert json.loads(row) == {"cause": "lr-too-high", "label": "lr_too_high", "note": "by bisection"}
    assert la.Store(tmp_path).truths.collect()["label"].to_list() == ["lr_too_high"]


def test_confirm_says_healthy_once(tmp_path, capsys):
    assert run("confirm", NEW, "none", "--store", tmp_path) == 0
    assert capsys.readouterr().out.rpartition(": ")[2] == "healthy, confirmed by you\n"


def test_confirm_refuses_what_is_no_cause(tmp_path, capsys):
    assert run("confirm", OLD, "lr-to-high", "--store", tmp_path) == 2
    assert "did you mean 'lr-too-high'?" in capsys.readouterr().err


def test_diagnose_beside_a_baseline_names_the_change(capsys):
    assert run("diagnose", OLD, "--baseline", NEW) == 1
    lines = capsys.readouterr().out.splitlines()

    assert any(line.startswith("Changed    lr 0.01667 → 0.05: most likely responsible") for line in lines)
    assert any(line.startswith("Diverged   ") for line in lines)


def test_a_healthy_run_beside_a_baseline_tells_it_too(capsys):
    assert run("diagnose", NEW, "--baseline", OLD) == 0
    assert "lr 0.05 → 0.01667: most likely responsible" in " ".join(capsys.readouterr().out.split())


def test_a_baseline_that_is_none_is_a_misuse(capsys):
    assert run("diagnose", OLD, "--baseline", RUNS / "gone") == 2
    assert "no such file or directory" in capsys.readouterr().err

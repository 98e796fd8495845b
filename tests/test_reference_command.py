"""`loganalyst reference`: add healthy runs, and show what values are compared with."""

from pathlib import Path

import loganalyst as la
from tests.commandline import called

LOSS = "step,loss\n" + "".join(f"{i},{9 - i / 2}\n" for i in range(16))
PERCENT = ("0.5 %", "2.5 %", "10 %", "25 %", "50 %", "75 %", "90 %", "97.5 %", "99.5 %")
COLUMNS = [
    "kind",
    "runs",
    "repositories",
    *("0.5 %", "2.5 %", "10 %", "25 %", "50 %", "75 %", "90 %", "97.5 %", "99.5 %"),
]


def test_added_runs_are_shown_with_ours(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.csv").write_text(LOSS)
    store = la.Store(tmp_path / "store")
    store.ingest([tmp_path / "run"])
    la.confirm(tmp_path / "run", "none", store=store)
    added = called("reference", "add", tmp_path / "store", "-o", tmp_path / "rules")
    [written] = (tmp_path / "rules" / "reference").iterdir()
    shown = called("reference", "show", "--rules", tmp_path / "rules")

    assert (added.code, added.out) == (0, f"{written}\n")
    assert shown.out.splitlines()[0] == called("reference", "show").out.strip()
    assert shown.out.splitlines()[1:] == [f"{written}: 1 healthy run of 1 repository"]


def test_quantiles_of_a_feature() -> None:
    """One line for each kind, the kinds in alphabetical order."""
    head, first, *others = (line.split() for line in called("reference", "show", "grad_norm_max").out.splitlines())

    assert head == " ".join(("kind", "runs", "repositories", *PERCENT)).split()
    assert first[0] == "any"
    assert [row[0] for row in others] == sorted(row[0] for row in others)
    assert len(first) == 3 + len(PERCENT)


def test_a_feature_without_healthy_runs_and_a_wrong_name() -> None:
    assert called("reference", "show", "log_oom_tried_gib").out == "no reference has log_oom_tried_gib\n"
    wrong = called("reference", "show", "grad_norm_ma")
    assert wrong.code == 2
    assert "did you mean 'grad_norm_max'" in wrong.err


def test_a_faulty_reference_is_reported(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "a.yaml").write_text("runs: many\n")
    shown = called("reference", "show", "--rules", tmp_path)

    assert "a.yaml:1: " in shown.err
    assert len(shown.out.splitlines()) == 1

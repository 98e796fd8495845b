"""The reference of healthy runs: which runs count, for how much, and what is written."""

import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from loganalyst.diagnosis.healthyruns import Range, read
from loganalyst.evaluate import __main__
from loganalyst.evaluate.labelled import Place, labelled
from loganalyst.evaluate.reference import PROBABILITIES, asked, reference, text, write
from loganalyst.pipeline import catalogue
from loganalyst.store import Store
from tests.evaluate.evaluatedruns import runs

LOSS = "step,loss\n" + "".join(f"{i},{9 - i}\n" for i in range(9))
NAMES = ("grad_norm_max", "train_loss_points")


def grads(*values: float | None, kind: str = "supervised") -> list[tuple[dict[str, object], list[str], str]]:
    return [({"grad_norm_max": v, "training_kind": kind, "run_kind": "training"}, ["healthy"], "") for v in values]


def test_the_quantiles_of_equal_repositories_are_those_of_numpy() -> None:
    values = [float(v) for v in np.random.default_rng(3).normal(5, 2, 30)]
    found = reference(runs(grads(*values)).features, [f"r{i}" for i in range(30)], NAMES)
    expected = [float(f"{v:.3g}") for v in np.quantile(values, PROBABILITIES)]

    assert (found.runs, found.repositories, found.probabilities) == (30, 30, PROBABILITIES)
    assert found.features == {
        "grad_norm_max": {kind: Range(30, 30, 30, tuple(expected)) for kind in ("any", "supervised", "training")}
    }


def test_a_repository_counts_for_at_most_three_runs() -> None:
    """Nine runs of one repository weigh a third each: their middles are at 0, 1/3, ..., 8/3, the others later."""
    values = [*[1.0] * 9, 2.0, 3.0]
    found = reference(runs(grads(*values)).features, [*["big"] * 9, "a", "b"], NAMES, least=(1, 1))
    of = found.features["grad_norm_max"]["any"]

    assert (of.runs, of.repositories, of.weight) == (11, 3, 5.0)
    at = [0, 8 / 3, 8 / 3 + 2 / 3, 8 / 3 + 5 / 3]
    assert of.values == pytest.approx(np.interp(PROBABILITIES, np.array(at) / at[-1], [1, 1, 2, 3]), rel=5e-3)
    free = reference(runs(grads(*values)).features, [*["big"] * 9, "a", "b"], NAMES, least=(1, 1), most=9)
    assert free.features["grad_norm_max"]["any"].weight == 11.0


def test_unknown_values_and_rare_features_are_left_out() -> None:
    """Unknown, NaN and infinite values do not count. Twenty runs of four repositories are needed."""
    values = [*[1.0] * 19, None, float("nan"), float("inf")]
    homes = [f"r{i % 4}" for i in range(22)]

    assert reference(runs(grads(*values)).features, homes, NAMES).features == {}
    assert reference(runs(grads(*values[:19], 1.0)).features, homes[:20], NAMES).features != {}
    assert reference(runs(grads(*values[:19], 1.0)).features, [h[:1] for h in homes[:20]], NAMES).features == {}


def test_a_run_counts_for_its_kinds() -> None:
    table = runs([*grads(*[1.0] * 20), *grads(*[2.0] * 20, kind="detection")]).features
    found = reference(table, [f"r{i % 5}" for i in range(40)], NAMES).features["grad_norm_max"]

    assert {kind: (of.runs, of.values[4]) for kind, of in found.items()} == {
        "any": (40, 1.5), "detection": (20, 2.0), "supervised": (20, 1.0), "training": (40, 1.5),
    }  # fmt: skip


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Also tiny numbers, which YAML takes for texts if they have no point."""
    found = reference(runs(grads(*[4e-8] * 20)).features, [f"r{i}" for i in range(20)], NAMES)
    (tmp_path / "reference.yaml").write_text(text(found, "made by a test"))

    assert read(tmp_path / "reference.yaml") == found
    assert (tmp_path / "reference.yaml").read_text().splitlines()[:2] == ["# made by a test", "runs: 20"]


def test_questions_are_about_numbers_that_runs_share() -> None:
    """Steps differ from run to run."""
    names = asked(catalogue())

    assert {"grad_norm_max", "train_loss_points", "train_loss_divergence_count"} <= set(names)
    assert not {"train_loss_divergence_step", "run_kind", "val_loss_alone"} & set(names)
    assert list(names) == sorted(names)


def test_only_healthy_runs_of_folders_and_tables_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a folder belongs to its family. The command writes the same file."""
    for place, truth in {"suite/one": "label: healthy\nfamily: f", "suite/two": "label: nan_loss", "own": None}.items():
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "metrics.csv").write_text(LOSS)
        if truth:
            (tmp_path / f"{place}.truth.yaml").write_text(truth)
    (tmp_path / "labels.csv").write_text("path,label,certainty,repo\nown,healthy,high,me/own\n")
    places = [tmp_path / "suite", tmp_path / "labels.csv"]
    store = Store(tmp_path / "store")
    write(tmp_path / "a.yaml", labelled([Place.named(str(p)) for p in places], store), catalogue())
    line = ["evaluate", *map(str, places), "--store", str(tmp_path / "store"), "--reference", str(tmp_path / "b.yaml")]
    monkeypatch.setattr(sys, "argv", line)
    __main__.main()

    written = (tmp_path / "a.yaml").read_text()
    assert yaml.safe_load(written) == {
        "runs": 2, "repositories": 2, "probabilities": list(PROBABILITIES), "features": {},
    }  # fmt: skip
    made = "# Written by `python -m loganalyst.evaluate PLACE... --reference FILE`; do not edit."
    assert written.splitlines()[0] == f"{made} Sources: {', '.join(sorted(['suite', tmp_path.name]))}"
    assert (tmp_path / "b.yaml").read_text() == written

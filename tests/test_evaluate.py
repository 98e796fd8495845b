"""Evaluation: which truths count, the figures, and weights that learn from labels and from nothing else."""

import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import approx_fprime

from loganalyst import features, pipeline, rulefiles
from loganalyst.auditing.confirm import confirm
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.confidence import calibrate
from loganalyst.diagnosis.rule import Calibration, Weights
from loganalyst.errors import SourceError
from loganalyst.evaluate import firstsight, weightsfile
from loganalyst.evaluate.accuracy import bins, brier, by_class, calibration_error, figures, share
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.fitting import Fitting, platt
from loganalyst.evaluate.labelled import TRUTH, Labelled, labelled, recorded
from loganalyst.evaluate.ratios import problem, ratios
from loganalyst.store import Store

PUBLIC_LOGS = Path(__file__).parent / "bench" / "public_logs.csv"
PUBLIC_RECORDS = Path(__file__).parent / "bench" / "public_records.csv"
NAN = {"train_loss_points": 500, "train_loss_metric": "loss", "train_loss_nonfinite_count": 1, "run_kind": "training"}


@pytest.fixture(scope="module")
def judged() -> Catalogue:
    return load(features.declared(), (rulefiles.rules_dir(),), fitted=False)


def runs(rows: Sequence[tuple[dict[str, object], list[str], str]]) -> Labelled:
    """Runs of these features, labels and families."""
    schema = {f.name: {"int": pl.Int64, "float": pl.Float64, "text": pl.String, "bool": pl.Boolean}[f.dtype]
              for f in features.declared().values()}  # fmt: skip
    truths = [(f"id{i}", f"r{i}", labels, None, family, "", "") for i, (_, labels, family) in enumerate(rows)]
    table = pl.DataFrame([{name: row.get(name) for name in schema} for row, _, _ in rows], schema=schema)
    return Labelled(pl.DataFrame(truths, schema=TRUTH, orient="row"), table, [{} for _ in rows])


def nan_runs(*labels: str) -> Labelled:
    """Runs whose loss became NaN after it had run up, or without; a label each, in three families in turn."""
    climbed = NAN | {"train_loss_run_up_ratio": 3.0, "train_loss_nonfinite_step": 300, "train_loss_finite_before": 300}
    return runs([(climbed, [label], "abc"[i % 3]) for i, label in enumerate(labels)])


def table(*rows: tuple[str, str, bool, float | None]) -> pl.DataFrame:
    """Answers by (true label, said label, right, confidence)."""
    return pl.DataFrame(
        {
            "labels": [[r[0]] for r in rows],
            "said": [[r[1]] for r in rows],
            "first": [r[2] for r in rows],
            "three": [r[2] for r in rows],
            "confidence": [r[3] for r in rows],
            "kind": ["healthy" if r[1] == "healthy" else "causes" for r in rows],
            "onset_step": [100] * len(rows),
            "onset": [110] * len(rows),
            "steps": [1000] * len(rows),
            "family": ["f"] * len(rows),
            "writer": ["csv"] * len(rows),
        },
        schema_overrides={"confidence": pl.Float64},
    )


def test_truths_of_files_and_of_users_count(tmp_path: Path) -> None:
    """Files beside runs, with `labels` or `label` and `secondary`; what a user confirmed; ambiguous runs do not."""
    for name in ("one", "two", "three", "four"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "metrics.csv").write_text(
            "step,loss\n" + "".join(f"{i},{9 - i}\n" for i in range(9))
        )
    for name, text in {
        "one": "labels: [lr_too_high, divergence]\nfamily: f\nonset_step: 3",
        "two": "label: healthy\nsecondary: []",
        "three": "labels: [ambiguous]",
    }.items():
        (tmp_path / "runs" / f"{name}.truth.yaml").write_text(text)
    store = Store(tmp_path / "store")
    store.ingest([tmp_path / "runs" / "four"])
    confirm(tmp_path / "runs" / "four", "overfitting", store=store)
    found = labelled([tmp_path / "runs"], store)

    assert found.truths.select(
        name=pl.col("path").str.split("/").list.last(), labels="labels", family="family"
    ).rows() == [
        ("four", ["overfitting"], "confirmed"),
        ("one", ["lr_too_high", "divergence"], "f"),
        ("two", ["healthy"], ""),
    ]
    assert found.features["train_loss_points"].to_list() == [9, 9, 9]
    assert found.truths["onset_step"].to_list() == [None, 3, None]
    with pytest.raises(SourceError, match="holds no labelled runs"):
        labelled([tmp_path], store)


def test_of_a_log_a_table_may_keep_what_was_read_alone(tmp_path: Path) -> None:
    """Its rows join the runs of folders and stores; what is empty is not known; a column must be a feature."""
    table = tmp_path / "logs.csv"
    table.write_text(
        "source,family,labels,log_root_label,log_traceback_count,run_done_share\n"
        "a/b#1,one,cuda_oom;cuda_error,cuda_oom,0,\nc/d#2,two,healthy,,2,0.5\n"
    )
    found = labelled([table], Store(tmp_path / "store"))

    assert found.truths.select("path", "labels", "family").rows() == [
        ("a/b#1", ["cuda_oom", "cuda_error"], "one"),
        ("c/d#2", ["healthy"], "two"),
    ]
    assert found.features.select("log_root_label", "log_traceback_count", "run_done_share").rows() == [
        ("cuda_oom", 0, None),
        (None, 2, 0.5),
    ]
    assert found.truths.schema == TRUTH
    assert len(found.witnesses) == 2
    table.write_text("source,family,labels,log_rot_label\na,b,c,d\n")
    with pytest.raises(SourceError, match="column 'log_rot_label' is no feature"):
        recorded(table)


def test_the_scale_of_logs_is_fitted_on_the_table_of_public_ones(judged: Catalogue) -> None:
    """Every row has a cause that a line of its log carries; slope and offset of weights.yaml are those they give."""
    logs = recorded(PUBLIC_LOGS)
    answers = answered(judged, logs)
    fitted, shipped = platt(answers), pipeline.catalogue().calibration("logs")

    assert answers["kind"].unique().to_list() == ["logs"]
    assert (answers["first"].sum(), answers.height) == (116, 127)
    assert (round(fitted.slope, 3), round(fitted.offset, 3)) == (shipped.slope, shipped.offset)


def test_answers_at_first_sight_count_beside_the_labelled_runs(judged: Catalogue) -> None:
    """Each as much as the answer for a run; what no answer of a kind is known of stays as it is."""
    (said,) = answered(judged, nan_runs("any"))["said"].to_list()
    every, none = np.array([True] * 40), Calibration()

    def scales(right: bool, kind: str) -> Mapping[str, Calibration]:
        first_sight = pl.DataFrame({"confidence": [0.8] * 60, "first": [right] * 60, "kind": [kind] * 60})
        return Fitting(judged, nan_runs(*said[:1] * 40), items=False, first_sight=first_sight).weights(every).scales

    right, wrong, other = scales(True, "causes"), scales(False, "causes"), scales(True, "circumstantial")
    assert calibrate(0.8, right["causes"]) > calibrate(0.8, wrong["causes"]) + 0.1
    assert (right["circumstantial"], other["circumstantial"] == none, right["healthy"]) == (none, False, none)


def test_the_public_records_are_as_they_were_answered() -> None:
    """Of 38 causes that were named at first sight 27 were right."""
    told = firstsight.read(PUBLIC_RECORDS)

    assert (told.height, told["first"].sum()) == (38, 27)
    assert told["confidence"].is_between(0.5, 0.99).all()


def test_a_table_of_answers_is_told_from_one_of_features(tmp_path: Path) -> None:
    """By its column `said`; all the others must be there."""
    table = tmp_path / "answers.csv"
    table.write_text("source,labels,said,first\na,healthy,plateau,false\n")

    assert firstsight.is_table(PUBLIC_RECORDS)
    assert not firstsight.is_table(PUBLIC_LOGS)
    assert not firstsight.is_table(tmp_path)
    with pytest.raises(SourceError, match="it takes source, labels, said, kind, confidence, first"):
        firstsight.read(table)


def test_an_accepted_answer_counts_as_the_label_of_the_run() -> None:
    """A wrong one counts against the precision of what it said, and against the recall of what is true."""
    found = by_class(
        table(
            ("a", "a", True, 0.9),
            ("a", "x", True, 0.9),
            ("a", "b", False, 0.9),
            ("b", "b", True, 0.9),
            ("healthy", "healthy", True, 0.9),
        )
    )

    assert found["a"] == {"runs": 3, "recall": pytest.approx(2 / 3), "precision": 1.0, "f1": pytest.approx(0.8)}
    assert found["b"] == {"runs": 1, "recall": 1.0, "precision": 0.5, "f1": pytest.approx(2 / 3)}
    assert set(found) == {"a", "b", "healthy"}


def test_a_rival_that_the_report_names_is_one_of_three(judged: Catalogue) -> None:
    """It fills up to three, is never the first answer, and is told apart from the causes."""
    row = {"run_kind": "training", "train_loss_points": 400, "train_loss_metric": "loss"}
    row |= {"train_loss_drop_relative": 0.05, "train_loss_half_drop_relative": 0.03, "train_loss_tail_slope_z": -1.0}
    row |= {"train_loss_divergence_count": 0, "train_loss_noise_relative": 0.05, "train_loss_drop_error": 0.01}
    found = answered(judged, runs([(row, ["vanishing_gradients"], "f")])).row(0, named=True)

    assert (found["status"], found["said"], found["first"]) == ("cause_unknown", [], False)
    assert "vanishing_gradients" in found["rivals"]
    assert len(found["rivals"]) == 3
    assert found["three"]


def test_figures() -> None:
    """Shares among the runs they are of; a run of which nothing is said has no confidence and is wrong."""
    rows = [
        ("a", "a", True, 0.95),
        ("a", "b", False, 0.6),
        ("healthy", "healthy", True, 0.8),
        ("healthy", "a", False, 0.9),
    ]
    found = figures(table(*rows, ("a", "none", False, None)))

    assert (found["runs"], found["judged"]) == (5, 4)
    assert (found["first"]["value"], found["sick_first"]["of"]) == (pytest.approx(2 / 5), 3)
    assert (found["false_alarms"]["value"], found["false_alarms"]["of"]) == (0.5, 2)
    assert found["sure_right"]["value"] == 0.5
    assert found["brier"]["value"] == pytest.approx((0.05**2 + 0.6**2 + 0.2**2 + 0.9**2) / 4)
    assert found["groups"]["family"] == {"f": {"runs": 5, "first": pytest.approx(0.4), "three": pytest.approx(0.4)}}
    assert found["onset"] == {"runs": 2, "median": 10.0, "near": 1.0}


def test_calibration_error_is_the_mean_distance_of_the_bins() -> None:
    """Two bins: 0.55 stated and half right, 1.0 stated (which lies in the last bin) and all right."""
    sure, right = np.array([0.55, 0.55, 1.0, 1.0]), np.array([True, False, True, True])

    assert [(b["confidence"], b["right"], b["of"]) for b in bins(sure, right)] == [(0.55, 0.5, 2), (1.0, 1.0, 2)]
    assert calibration_error(sure, right) == pytest.approx(0.025)
    assert brier(sure, right) == pytest.approx((0.45**2 + 0.55**2) / 4)


def test_share_has_wilsons_interval() -> None:
    """The published value for 8 of 10; nothing is known of none."""
    found = share(pl.Series([True] * 8 + [False] * 2))

    assert (found["value"], found["of"]) == (0.8, 10)
    assert (found["low"], found["high"]) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert math.isnan(share(pl.Series([], dtype=pl.Boolean))["value"])


def test_platt_finds_the_truth() -> None:
    """Answers stated at 0.7 and 0.9 that are right in 90 and 99 of 100; without answers, the identity."""
    rows = [("a", "a", i < right, p) for p, right in ((0.7, 900), (0.9, 990)) for i in range(1000)]
    found = platt(table(*rows))

    for p, true in ((0.7, 0.9), (0.9, 0.99)):
        stated = found.slope * math.log(p / (1 - p)) + found.offset
        assert 1 / (1 + math.exp(-stated)) == pytest.approx(true, abs=0.01)
    assert platt(table().filter(pl.lit(value=False))) == Calibration()


def test_the_gradient_is_that_of_the_loss(judged: Catalogue) -> None:
    """Against finite differences, away from the weights where another item becomes the strongest."""
    labels = ["lr_too_high", "bad_data", "log_of_zero", "lr_too_high"]
    found = problem(judged, nan_runs(*labels))
    counted = np.array([True] * found.base.size)
    weights = found.judged + np.random.default_rng(0).normal(0, 0.01, found.judged.size)
    used = np.unique(found.weight)

    def loss(some: np.ndarray) -> float:
        whole = weights.copy()
        whole[used] = some
        return found.loss(whole, counted)[0]

    slope = found.loss(weights, counted)[1]
    assert np.allclose(slope[used], approx_fprime(weights[used], loss, 1e-7), atol=1e-4)
    assert np.abs(slope[used]).max() > 0.1
    assert (np.delete(slope, used) == 0).all()


def test_labels_move_weights_their_way_and_few_runs_move_none(judged: Catalogue) -> None:
    """The item that answered speaks louder where it was right and softer where it was wrong, and keeps its sign."""

    def weight(*labels: str) -> float:
        some = nan_runs(*labels)
        found = ratios(problem(judged, some), np.array([True] * len(labels)))
        return found.get("lr-too-high", {}).get("nonfinite-after-run-up", (before, 0.0))[0]

    before = next(i.if_true for i in judged.rules["lr-too-high"].evidence if i.id == "nonfinite-after-run-up")

    assert weight(*["lr_too_high"] * 40) > before
    assert 0 < weight(*["bad_data"] * 40) < before
    assert weight(*["bad_data"] * 5) == before


def test_a_family_is_judged_by_weights_of_the_others(judged: Catalogue) -> None:
    """Labels of a family do not change what is said of it."""
    labels = ["lr_too_high", "bad_data", "lr_too_high"] * 14
    turned = [label if i % 3 else "log_of_zero" for i, label in enumerate(labels)]  # all of family a
    said = [Fitting(judged, nan_runs(*some)).crossed().filter(family="a") for some in (labels, turned)]

    assert said[0]["confidence"].to_list() == said[1]["confidence"].to_list()
    assert said[0]["ids"].to_list() == said[1]["ids"].to_list()


def test_weights_that_were_written_are_read_again(judged: Catalogue, tmp_path: Path) -> None:
    """The file holds what was fitted, and the same catalogue comes of it."""
    some = nan_runs(*["bad_data"] * 40)
    fitted = Fitting(judged, some).weights(np.array([True] * 40))
    rules = tmp_path / "rules"
    shutil.copytree(rulefiles.rules_dir(), rules)
    (rules / "weights.yaml").write_text(weightsfile.text(fitted, some, [Path("made")]))
    read = load(features.declared(), (rules,))

    assert fitted.items
    assert answered(read, some)["confidence"].to_list() == pytest.approx(
        answered(judged.weighted(fitted), some)["confidence"].to_list(), abs=2e-3
    )
    assert {i.basis for i in read.rules["lr-too-high"].evidence} == {"measured", "judged"}
    assert judged.weighted(Weights()).rules == judged.rules

"""Results that a program printed, at the end of its log."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.patterns import closing, results
from loganalyst.sources.text.patterns.words import Words, either

START = "Loading data ...\nTraining 3 models\n"
SINGLE = {  # results of one number
    "test set error rate: 0.0698", "best_r2_score:    0.999997", "Kappa statistic                          0.0865",
    "mae_model    4201.444", "            Current function value: -238.4959083409546",
    "log-likelihood tensor([11373.5078], device='cuda:0')", "F1-score (spam): 0.9424",
    "The test correctness of k= 6 is 0.6158814031997651", "accuracy of appetency in this fold: 0.979",
    "Accuracy for tr=../pf_on.data te=../pf_off.data = 0.345833",
}  # fmt: skip
PREDICTIONS = "".join(f"Prediction: not_spam (Time: 0.00{i}3s)\n" for i in range(1, 10)) * 3


def found(folder: Path, log: str) -> list[tuple[int, str, str]]:
    """Line, pattern and part of what closes a log."""
    path = folder / "run.log"
    path.write_text(log, encoding="utf-8")
    lines = Tables.concat(reader.read(path)).lines
    return list(lines.filter(pl.col("pattern").str.starts_with("closing-")).select("line", "pattern", "part").rows())


def status(folder: Path, log: str) -> str:
    """The status of the diagnosis of a log."""
    path = folder / "run.log"
    path.write_text(log, encoding="utf-8")
    return pipeline.diagnose_paths([path])[0].status


@pytest.mark.parametrize("name", ["scores", "exact", "best", "headings", "values"])
def test_the_examples_of_a_kind(name: str) -> None:
    """Each kind accepts its examples, as a log prints them, and no counterexample."""
    words: Words = getattr(results.words(), name)
    accepted, refused = (closing.messages(pl.Series(texts)) for texts in (words.tests.match, words.tests.no_match))
    never = either(results.words().never) if name in ("scores", "exact") else "^$"

    assert (words.match(accepted) & ~accepted.str.contains(never)).to_list() == [True] * len(accepted)
    assert (words.match(refused) & ~refused.str.contains(never)).to_list() == [False] * len(refused)


@pytest.mark.parametrize(
    "result",
    [
        "final result: 0.6314 ± 0.1649",
        "test set error rate: 0.0698",
        "best_r2_score:    0.999997",
        "  Correct = 99.22%",
        "weighted avg       0.70      0.73      0.71        99",
        "Kappa statistic                          0.0865",
        "mae_model    4201.444",
        "            Current function value: -238.4959083409546",
        "log-likelihood tensor([11373.5078], device='cuda:0')",
        "Model 'a ~ b' with MAPE of 0.252 and r^2 of 0.157",
    ],
)
def test_results_at_the_end(tmp_path: Path, result: str) -> None:
    """The results of a test are work that was done. Of a single number, only an end mark shows that it was all work."""
    assert found(tmp_path, f"{START}{result}\n") == [(3, "closing-result", "work")]
    assert status(tmp_path, f"{START}{result}\n") == ("insufficient_data" if result in SINGLE else "healthy")
    assert status(tmp_path, f"{START}{result}\nDone.\n") == "healthy"


@pytest.mark.parametrize(
    "line", ["score_threshold: 0.5", "Accuracy: nan", "loss: 2.31", "min_accuracy = 0.9", "Epoch 3/9, accuracy: 0.9"]
)
def test_no_results(tmp_path: Path, line: str) -> None:
    """Settings, NaN and the values of one epoch are no results of a job."""
    assert found(tmp_path, f"{START}{line}\n") == []


def test_results_in_the_middle_of_a_plan(tmp_path: Path) -> None:
    """A third of the epochs has passed: their results are not those of the job."""
    assert found(tmp_path, f"{START}Epoch 3/9\nAccuracy: 0.91\n") == []
    assert found(tmp_path, f"{START}Epoch 9/9\nAccuracy: 0.91\n") == [(4, "closing-result", "work")]


@pytest.mark.parametrize(
    "result",
    [
        "The test correctness of k= 6 is 0.6158814031997651",
        "Accuracy for tr=../pf_on.data te=../pf_off.data = 0.345833",
        "accuracy of appetency in this fold: 0.979",
        "F1-score (spam): 0.9424",
        "Best parameters: {'alpha': 0.1, 'l1_ratio': 1}",
        "Total accuracy =\n \n\t 0.9085  \n ",
        "confusion =\n\n        1636          81\n         130         458",
        "...Accuracy Score...\n0.9360655737704918",
        "Average auc score:\nappetency: 0.499405",
        "model        accuracy  f1\nresnet-18    0.912     0.905",
    ],
)
def test_results_before_other_lines(tmp_path: Path, result: str) -> None:
    """An exact score, the best settings, and values behind their heading are results; what follows them is not work."""
    assert [row[1:] for row in found(tmp_path, f"{START}{result}\n{PREDICTIONS}")] == [("closing-result", "work")]
    assert status(tmp_path, f"{START}{result}\n{PREDICTIONS}") == (
        "insufficient_data" if result in SINGLE else "healthy"
    )


@pytest.mark.parametrize("line", ["iou: 0.7", "Accuracy: 0.9", "computing the accuracy\n3 of 4", "dropout = 0.12345"])
def test_short_numbers_far_from_the_end(tmp_path: Path, line: str) -> None:
    """A number of one digit before many other lines may be a setting."""
    assert found(tmp_path, f"{START}{line}\n{PREDICTIONS}") == []
    assert status(tmp_path, f"{START}{line}\n{PREDICTIONS}") == "insufficient_data"


def test_work_that_began_behind_a_result(tmp_path: Path) -> None:
    """The next experiment shows no end."""
    assert found(tmp_path, f"{START}Test accuracy: 0.9123\nTraining model 2 ...\n") == []


def test_an_error_behind_a_result(tmp_path: Path) -> None:
    """The program failed behind its first result."""
    fault = "usage: main.py [-h] {run,test}\nmain.py: error: unrecognized arguments: -ws 8\n"

    assert found(tmp_path, f"{START}Test accuracy: 0.9123\n{fault}") == []
    assert status(tmp_path, f"{START}Test accuracy: 0.9123\n{fault}") == "diagnosis_complete"

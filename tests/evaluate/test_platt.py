"""The calibration of one scale."""

import polars as pl
import pytest

from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.logodds import calibrate
from loganalyst.diagnosis.rule import Calibration
from loganalyst.evaluate.platt import calibration


def answers(*rows: tuple[float, int, int], **columns: list[object]) -> pl.DataFrame:
    """Answers by (stated probability, right of them, number), with a value of each further column for each row."""
    numbers = [n for _, _, n in rows]
    more = {
        name: [v for v, n in zip(values, numbers, strict=True) for _ in range(n)] for name, values in columns.items()
    }
    return pl.DataFrame(
        {
            "stated": [p for p, _, n in rows for _ in range(n)],
            "first": [i < right for _, right, n in rows for i in range(n)],
            **more,
        }
    )


def test_the_truth_is_found() -> None:
    """Answers stated at 0.7 and 0.9 that are right in 90 and 99 of 100; without answers, the identity."""
    found = calibration(answers((0.7, 900, 1000), (0.9, 990, 1000)))

    assert calibrate(0.7, found) == pytest.approx(0.90, abs=0.01)
    assert calibrate(0.9, found) == pytest.approx(0.99, abs=0.01)
    assert calibration(answers()) == Calibration()


def test_kinds_have_shifts_that_few_answers_hardly_move() -> None:
    """Half of the answers for language models are right, all others are. Three answers for jobs say little."""
    kinds = ["language", "supervised", "job"]
    found = calibration(answers((0.8, 100, 200), (0.8, 200, 200), (0.8, 0, 3), group=kinds))
    language, supervised = (Answers({"training_kind": kind}, {}, {}, {}, {}) for kind in ("pretraining", "detection"))

    assert calibrate(0.8, found, language) == pytest.approx(0.5, abs=0.05)
    assert calibrate(0.8, found, supervised) > 0.95
    assert -1 < found.kinds["job"] < 0
    assert calibrate(0.5, Calibration(kinds={"language": 1.0}), language) == pytest.approx(0.731, abs=0.001)


def test_the_share_of_a_cause_that_metrics_show_says_little() -> None:
    """Twenty answers move its slope by a tenth from the small prior."""
    rows = answers((0.6, 5, 10), (0.95, 10, 10))

    assert calibration(rows, "causes").slope == pytest.approx(0.20, abs=0.02)
    assert calibration(rows, "logs").slope > 0.8


def test_an_answer_may_count_in_part() -> None:
    """Ten answers that count a tenth each are like one."""
    ten, one = (calibration(answers((0.8, 0, n), count=[1 / n])) for n in (10, 1))

    assert (ten.slope, ten.offset) == (pytest.approx(one.slope), pytest.approx(one.offset))

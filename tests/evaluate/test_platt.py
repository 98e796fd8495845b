"""The calibration of one scale."""

import polars as pl
import pytest

from loganalyst.diagnosis.confidence import calibrate
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.rule import Calibration
from loganalyst.evaluate.platt import calibration


def answers(*rows: tuple[float, int, int], **columns: list[object]) -> pl.DataFrame:
    """Answers by (confidence, right of them, number), with a value of each further column for each row."""
    numbers = [n for _, _, n in rows]
    more = {name: [v for v, n in zip(values, numbers, strict=True) for _ in range(n)] for name, values in columns.items()}
    return pl.DataFrame(
        {
            "confidence": [p for p, _, n in rows for _ in range(n)],
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


def test_kinds_and_rules_have_shifts_that_few_answers_hardly_move() -> None:
    """Half of one rule's answers are right, all of the other's. Three answers of a kind say little."""
    rules, kinds = ["a", "b", None], ["language", "language", "job"]
    rows = answers((0.8, 100, 200), (0.8, 200, 200), (0.8, 0, 3), rule=rules, group=kinds)
    found = calibration(rows)
    of_kind = Answers({"training_kind": "diffusion"}, {}, {}, {}, {})

    assert calibrate(0.8, found, rule="a") == pytest.approx(0.5, abs=0.15)
    assert calibrate(0.8, found, rule="b") > 0.94
    assert calibrate(0.8, found, rule="unseen") == calibrate(0.8, found)
    assert -1 < found.kinds["job"] < 0
    assert calibrate(0.5, Calibration(kinds={"generative": 1.0}), of_kind) == pytest.approx(0.731, abs=0.001)


def test_an_answer_may_count_in_part() -> None:
    """Ten answers that count a tenth each are like one."""
    ten, one = (calibration(answers((0.8, 0, n), count=[1 / n])) for n in (10, 1))

    assert (ten.slope, ten.offset) == (pytest.approx(one.slope), pytest.approx(one.offset))

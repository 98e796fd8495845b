"""Counts behind an epoch: correct answers or a progress."""

import pytest

from loganalyst.sources.text.metrics import correctshares
from loganalyst.sources.text.metrics.linenumbers import Numbers
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame


def test_the_shares_are_exact() -> None:
    found = parse(frame("".join(f"Epoch {k}: {n} / 500\n" for k, n in enumerate((250, 400, 450, 440)))))

    assert found["metric"].unique().to_list() == [correctshares.NAME]
    assert found.select("epoch", "value").rows() == [(0.0, 0.5), (1.0, 0.8), (2.0, 0.9), (3.0, 0.88)]


@pytest.mark.parametrize(
    "counts",
    [
        [(1, 100, 500), (1, 250, 500), (1, 500, 500), (2, 100, 500), (2, 250, 500)],  # a progress within epochs
        [(1, 100, 500), (2, 200, 500), (3, 300, 500), (4, 400, 500)],  # samples so far
        [(1, 500, 500), (2, 500, 500), (3, 500, 500), (4, 500, 500)],  # each epoch at its end
        [(1, 100, 500), (2, 130, 400), (3, 150, 500), (4, 110, 500)],  # totals differ
        [(1, 3, 10), (2, 5, 10), (3, 4, 10), (4, 9, 10)],  # too few answers
        [(1, 100, 500), (2, 130, 500), (3, 150, 500)],  # too few epochs
    ],
)
def test_other_counts_are_no_results(counts: list[tuple[int, int, int]]) -> None:
    text = "".join(f"Epoch {epoch}: {n} / {total}\n" for epoch, n, total in counts)

    assert parse(frame(text)).height == 0


def test_no_records_have_no_counts() -> None:
    found = Numbers(lambda name: 0)
    found.count_answers()

    assert found.records == []

"""How sure a cause may be that stands on a weak line of a log."""

from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.diagnosis.logcap import limits

TRACE = "Traceback (most recent call last):\n  File \"train.py\", line 40, in <module>\n    main()\nKeyError: 'label'\n"
EPOCHS = "".join(f"Epoch {i}/100 train loss: {2 / (i + 1):.4f} val loss: {2.1 / (i + 1):.4f}\n" for i in range(1, 31))


def test_a_line_of_a_pattern_has_no_limit() -> None:
    assert limits({"log_root_basis": "pattern", "log_root_followed": None}) == []


def test_the_words_of_an_exception_do_not_matter_if_it_is_only_an_exception() -> None:
    known = {"log_root_basis": "words", "log_root_exception": "AttributeError"}

    assert limits({**known, "log_root_label": "code_exception"}) == []
    assert [limit.highest for limit in limits({**known, "log_root_label": "import_error"})] == [0.6]


def test_words_alone_and_an_unsure_order_have_limits() -> None:
    found = limits({"log_root_basis": "words", "log_root_followed": 30})

    assert [limit.highest for limit in found] == [0.6, 0.75]
    assert found[1].why == "30 lines with metrics follow the error, from a buffer or from a later start"


def test_a_cut_traceback_has_a_limit() -> None:
    (limit,) = limits({"log_root_basis": "cut", "log_root_label": "code_exception"})

    assert (limit.highest, limit.why) == (0.6, "the log ends within the traceback, before its exception")


@pytest.mark.parametrize(
    ("log", "confidence"),
    [
        (TRACE + EPOCHS, 0.75),
        (EPOCHS + TRACE.removesuffix("KeyError: 'label'\n"), 0.6),
        ("step 1 loss 2.0\nERROR: could not parse line 12 of annotations: label is missing\n", 0.6),
        ("step 1 loss 2.0\nFATAL: quota for the experiment tokens exceeded: connection lost\n", 0.6),
    ],
)
def test_the_confidence_of_a_diagnosis_is_limited(tmp_path: Path, log: str, confidence: float) -> None:
    (tmp_path / "job.log").write_text(log)
    found = diagnose(tmp_path / "job.log")

    assert found.confidence <= confidence
    assert found.causes[0].limits

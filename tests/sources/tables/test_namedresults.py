"""Results of named experiments in a list of JSON objects."""

import json
from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose_paths

MODELS = ("bert", "roberta", "albert", "rnn")
RESULTS = [{"model": name, "accuracy": 0.9 - 0.05 * i, "loss": 0.3 + 0.2 * i} for i, name in enumerate(MODELS)]


def test_a_row_for_each_model_is_no_course(tmp_path: Path) -> None:
    """The losses of other models do not diverge: nothing of the file is judged, and the error says why."""
    path = tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS))

    (found,) = diagnose_paths([path])

    assert (found.status, found.curves) == ("unreadable", ())
    assert "each row has a name and no step, epoch or time" in found.summary["why"]


@pytest.mark.parametrize(
    "more",
    [
        lambda i: {"epoch": i},
        lambda i: {"model": "bert"},
        lambda i: {"model": f"epoch {i}"},
        lambda i: {"model": f"0:0{i}:12"},
    ],
)
def test_a_course(tmp_path: Path, more) -> None:
    """A counter, one name, numbered names or times: the rows follow one another."""
    path = tmp_path / "results.json"
    path.write_text(json.dumps([row | more(i) for i, row in enumerate(RESULTS)]))
    (found,) = diagnose_paths([path])

    assert {curve.values.size for curve in found.curves} == {4}

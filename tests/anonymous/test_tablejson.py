"""Tables as JSON keep every digit."""

import math
from pathlib import Path

import loganalyst as la
from loganalyst import anonymous
from loganalyst.anonymous import tablejson
from loganalyst.model import table as table_of
from tests.anonymous.planted import ROOT


def test_curves_are_the_same_to_the_last_digit(tmp_path: Path) -> None:
    """Steps and values are those of the run, NaN and infinities too; times keep their distances."""
    run = tmp_path / "metrics.csv"
    values = [0.1, 1 / 3, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -0.0, *[0.5] * 30]
    run.write_text("step,loss\n" + "".join(f"{i},{value!r}\n" for i, value in enumerate(values)))
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(la.diagnose(run)))
    again = la.read_run(file).points

    assert again["step"].to_list() == list(range(len(values)))
    assert list(map(repr, again["value"])) == list(map(repr, values))
    timed = la.read_run(ROOT / "fixtures/runs/nan-lr")
    file.write_text(anonymous.render(la.diagnose(timed)))
    back = la.read_run(file)
    assert back.started is not None
    assert back.started.year == 2000
    assert timed.ended is not None
    assert timed.started is not None
    assert back.ended - back.started == timed.ended - timed.started
    for metric in timed.points["metric"].unique():
        ours, theirs = (run.points.filter(metric=metric)["time"].diff() for run in (back, timed))
        assert ours.equals(theirs)


def test_constant_columns_are_one_value_and_empty_ones_are_left_out() -> None:
    rows = table_of("points", {"metric": ["loss"] * 3, "value": [0.5, math.nan, -math.inf], "step": [1, 2, 3]})
    packed = tablejson.pack(rows)

    assert packed == {"rows": 3, "metric": "loss", "value": [0.5, "NaN", "-Infinity"], "step": [1, 2, 3]}
    assert tablejson.unpack("points", packed).equals(rows)

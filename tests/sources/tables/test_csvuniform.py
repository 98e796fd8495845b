"""Tables that pandas and the csv module write come back value for value, read at once or cell by cell."""

import csv as csv_module
import io
import math
import struct
from collections.abc import Sequence
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.files.lineblocks import Block
from loganalyst.sources.tables import cells, csv_reader, csvuniform

SLOW = [HealthCheck.function_scoped_fixture]
FLOATS = st.floats(allow_nan=True, allow_infinity=True)
NUMBERS = st.none() | FLOATS | st.integers(-(2**70), 2**70) | st.sampled_from([1e308, -0.0, 5e-324, 2**53 + 1])
# no word that is an axis, none that polars or csv take for a number
NAMES = st.lists(
    st.text("xyz é,;|\t'\"/ -_", min_size=1, max_size=8).map(lambda n: "m" + n.rstrip()), min_size=1, max_size=4
)


def bits(value: float) -> object:
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def found(tables: Tables) -> dict[str, list[tuple[int, object]]]:
    groups = tables.points.group_by("metric", maintain_order=True)
    return {str(n): [(s, bits(v)) for s, v in g.select("step", "value").rows()] for (n,), g in groups}


def expected(names: Sequence[str], rows: Sequence[Sequence[float | None]]) -> dict[str, list[tuple[int, object]]]:
    columns = {n: [(i, bits(float(r[k]))) for i, r in enumerate(rows) if r[k] is not None] for k, n in enumerate(names)}
    return {name: points for name, points in columns.items() if points}


@st.composite
def tables_of_numbers(draw: st.DrawFn) -> tuple[list[str], list[list[float | None]]]:
    names = draw(NAMES.map(lambda found: list(dict.fromkeys(found))))
    rows = st.lists(NUMBERS, min_size=len(names), max_size=len(names))
    return names, draw(st.lists(rows, min_size=1, max_size=12))


@settings(max_examples=120, suppress_health_check=SLOW, deadline=None)
@given(
    table=tables_of_numbers(),
    quoting=st.sampled_from([csv_module.QUOTE_MINIMAL, csv_module.QUOTE_ALL, csv_module.QUOTE_NONNUMERIC]),
    sep=st.sampled_from(",;\t|"),
)
@example(table=(["m"], [[None], [math.nan], [math.inf]]), quoting=csv_module.QUOTE_MINIMAL, sep=",")
def test_csv_module(tmp_path, table, quoting, sep):
    """Whatever the delimiter, the quotes and what stands in names and cells."""
    names, rows = table
    out = io.StringIO()
    writer = csv_module.writer(out, delimiter=sep, quoting=quoting)
    writer.writerows([["step", *names], *([i, *row] for i, row in enumerate(rows))])
    path = tmp_path / "values.csv"
    path.write_text(out.getvalue(), newline="")

    assert found(Tables.concat(csv_reader.read(path))) == expected(names, rows)


@settings(max_examples=60, suppress_health_check=SLOW, deadline=None)
@given(table=tables_of_numbers(), absent=st.sampled_from(["", "NULL", "None", "N/A"]))
def test_pandas(tmp_path, table, absent):
    """Numbers as pandas spells them, and its words for no value; it does not tell NaN from None."""
    pd = pytest.importorskip("pandas")
    names, rows = table
    known = [[None if v is None or math.isnan(v) else float(v) for v in row] for row in rows]
    pd.DataFrame(known, columns=names).to_csv(tmp_path / "values.csv", na_rep=absent, index_label="step")

    assert found(Tables.concat(csv_reader.read(tmp_path / "values.csv"))) == expected(names, known)


CELL = st.one_of(
    st.floats().map(repr), st.integers().map(str), st.sampled_from(["", "nan", "NaN", "inf", "-Infinity", "None", "1."])
)
DIGITS = st.sampled_from(["", *"0123"])


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12), sep=st.sampled_from(",;\t|"))
def test_both_ways_agree(rows, sep):
    """What is read at once is what is read cell by cell."""
    block = Block("".join(sep.join(row) + "\n" for row in rows).encode(), 2, 0)
    plain = csvuniform.rows(block, sep, "abc", ())
    if plain is None:
        return
    careful = cells.columns(cells.rows(block, sep)[0], "abc", decimal_comma=sep == ";")

    assert plain.lines.to_list() == careful.lines.to_list()
    for name in "abc":
        assert [None if v is None else bits(v) for v in plain.values[name]] == [
            None if v is None else bits(v) for v in careful.values[name]
        ]


@settings(max_examples=100, deadline=None)
@example(rows=[["", "", ""], ["", ""], ["", "", "0", ""]], ended=False)
@given(rows=st.lists(st.lists(DIGITS, min_size=1, max_size=4), min_size=1, max_size=6), ended=st.booleans())
def test_ragged_rows_are_told_both_ways(rows, ended, tmp_path_factory):
    """Rows with more and fewer cells than the header give the same points and gaps as read cell by cell; of a table
    without any number one way says so, the other tells its short rows.
    """
    path = tmp_path_factory.mktemp("ragged") / "metrics.csv"
    path.write_text("\n".join(["step,loss,lr", *map(",".join, rows)]) + "\n" * ended)
    quick = Tables.concat(csv_reader.read(path))
    with mock.patch.object(csvuniform, "rows", return_value=None):
        careful = Tables.concat(csv_reader.read(path))

    assert quick.points.equals(careful.points)
    assert quick.gaps.equals(careful.gaps) or not any(map(any, rows))

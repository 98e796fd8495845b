"""Lines of JSON read by column: the same tables as the parser's, whatever stands between."""

import json as json_module
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.tables import json_reader, jsonlines

FIXTURE = [HealthCheck.function_scoped_fixture]


def both(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[Tables, Tables]:
    """The tables of a file as the parser gives them, and by column."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(content)
    found = []
    monkeypatch.setattr(jsonlines, "_CHUNK", 3)
    for fewest in (10**9, 1):
        monkeypatch.setattr(jsonlines, "FEWEST", fewest)
        found.append(Tables.concat(json_reader.read(path)))
    return found[0], found[1]


def told(tables: Tables) -> list[list[str]]:
    """The rows as texts (so that NaN equals NaN and -0.0 is not 0.0), points sorted by metric."""
    points = tables.points.sort("metric", maintain_order=True)
    return [list(map(repr, frame.iter_rows())) for frame in (points, tables.gaps, tables.config)]


NUMBERS = st.one_of(
    st.floats().map(json_module.dumps),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-9, 9).map(str),
    st.sampled_from(["NaN", "Infinity", "-Infinity", "null", "true", "false", "-0", "-0.0", "1E+400", "0e1", "1.5e-7"]),
)
ODD = st.sampled_from(
    ["nan", "inf", "-NaN", "Inf", "+1", ".5", "1.", "01", "-01", "-.5", "1.e5", "1_0", "", " ", "-", "0x1", "1 2",
     "[1]", "[]", "{}", '{"q": 1.5}', '"a\\"b"', "1,", "9" * 1200, '"\t"', "Nan", "NAN", "Infinitx", "1, 2",
     '1, "k": 2', '"w"', "7e9", '"x: NaN, y"', "null", "[0.5, null]", '["1.5", "_type"]', '[{"q": 1}, {"r": NaN}]',
     '{"_type": "t"}', '{"q": {"r": [1, [2, -Infinity]]}}', "[" + "1, " * 64 + "1]", '"\\ud800"', "true"]
)  # fmt: skip
TEXTS = st.sampled_from(["train", "val", "", "1.5", "NaN", "é", "a, b", "null", "{x}", "-inf"]).map(
    lambda text: json_module.dumps(text, ensure_ascii=False)
)
NAMES = [
    "step",
    "epoch",
    "loss",
    "val loss",
    "größe",
    "timestamp",
    "mode",
    "a_rather_long_name/of_a_metric",
    "value",
    "metric",
]
NAMES += ["loss/in", "config"]


@st.composite
def blocks(draw: st.DrawFn) -> bytes:
    """Lines of up to three shapes, some of them damaged."""
    shapes = draw(
        st.lists(
            st.lists(
                st.tuples(st.sampled_from(NAMES), st.sampled_from("nnnt"), st.booleans()),
                min_size=1, max_size=5, unique_by=lambda column: column[0],
            ),
            min_size=1, max_size=3,
        )
    )  # fmt: skip
    lines = []
    for _ in range(draw(st.integers(1, 12))):
        shape = draw(st.sampled_from(shapes))
        cells = []
        for name, kind, nested in shape:
            odd = draw(st.integers(0, 30)) == 0
            value = draw(ODD if odd else NUMBERS if kind == "n" else TEXTS)
            cells.append(f'"{name}": ' + (f'{{"in": {value}}}' if nested else value))
        lines.append("{" + ", ".join(cells) + "}" + draw(st.sampled_from(["", "", "", "", " ", "x", "\r", "{}"])))
    return ("\n".join(lines) + draw(st.sampled_from(["\n", "", "\n\n"]))).encode()


@settings(max_examples=100, suppress_health_check=FIXTURE, deadline=None)
@given(blocks())
def test_by_column_as_by_line(tmp_path, monkeypatch, content):
    """Points, gaps and config are those of the parser: values to the bit, each metric's points in order."""
    by_line, by_column = both(tmp_path, content, monkeypatch)

    assert told(by_column) == told(by_line)


@settings(max_examples=60, suppress_health_check=FIXTURE, deadline=None)
@given(blocks(), st.data())
def test_damaged_bytes(tmp_path, monkeypatch, content, data):
    """Bytes that were overwritten or lost change nothing between the two."""
    raw = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(len(raw) - 1, 0)))
        raw[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b"\0", b'"', b",", b" ", b"\x1f", b"}"])
        )
    by_line, by_column = both(tmp_path, bytes(raw), monkeypatch)

    assert told(by_column) == told(by_line)


KEYS = st.sampled_from(["a", "b/c", "größe", "d e", "", 'f"g', "h\\i", "\u2028"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["x", "NaN: NaN, NaN", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def numbers(value: object, name: str) -> Iterator[tuple[str, float]]:
    """Every number in a value with its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, f"{name}/{key}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value)


@settings(max_examples=100, suppress_health_check=FIXTURE, deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=4), min_size=1, max_size=4), st.data())
def test_any_records(tmp_path, monkeypatch, shapes, data):
    """What json.dumps writes of any objects, in any turn, is read as json.loads tells it: to the bit, by line."""
    monkeypatch.setattr(jsonlines, "FEWEST", 1)
    monkeypatch.setattr(jsonlines, "_CHUNK", data.draw(st.integers(1, 9)))
    turns = data.draw(st.lists(st.sampled_from(shapes), min_size=1, max_size=20))
    path = tmp_path / "metrics.jsonl"
    rows = [json_module.dumps({"step": i, **shape}) for i, shape in enumerate(turns)]
    path.write_text("\n".join(rows) + "\n")
    told = [
        (name[1:], line, repr(value))
        for line, row in enumerate(rows, 1)
        for name, value in numbers(json_module.loads(row), "")
        if name != "/step"
    ]
    found = Tables.concat(json_reader.read(path)).points.select("metric", "line", "value").rows()

    assert sorted(told, key=itemgetter(0, 1)) == sorted([(m, n, repr(v)) for m, n, v in found], key=itemgetter(0, 1))


def test_usual_lines_are_read_by_column():
    """Numbers, texts and nested objects of one shape, and of two in turn, leave no line to the parser."""
    train = b'{"mode": "train", "step": %d, "loss": {"a": NaN, "b": -0.5}}\n'
    val = b'{"mode": "val", "epoch": %d, "acc": null}\n'
    content = b"".join(line % i for i in range(100) for line in (train, val))
    wide, left = jsonlines.read(jsonlines.Lines.of(content))

    assert wide is not None
    assert (len(wide.rows), len(left)) == (200, 0)
    assert list(wide.columns) == ["mode", "step", "loss/a", "loss/b", "epoch"]
    assert wide.columns["mode"].to_list() == ["train", "val"] * 100
    assert wide.columns["epoch"].to_list()[:4] == [None, 0.0, None, 1.0]


def test_the_lines_that_differ_are_left():
    """A number that is none for msgspec is left alone; the values of the others are Python's floats."""
    texts = ["0.1", "9007199254740993", "123456789012345678901234567890", "5e-324", "-Infinity", "-0", "-0.0"] * 20
    content = "".join(f'{{"step": {i}, "x": {text}}}\n' for i, text in enumerate(texts)) + '{"step":7, "x": 1e400}\n'
    wide, left = jsonlines.read(jsonlines.Lines.of(content.encode()))

    assert wide is not None
    assert left.tolist() == [140]
    assert list(map(repr, wide.columns["x"])) == [repr(float(json_module.loads(text))) for text in texts]


def test_words_in_texts_and_numbers_that_stand_for_words():
    """Where a word stands in a text, or a number that took a word's place was there before, all lines are left."""
    rows = [f'{{"step": {i}, "x": NaN, "mode": "train"}}' for i in range(100)]
    for odd in ('{"step": 7, "x": 7000000000, "mode": "train"}', '{"step": 7, "x": 1, "mode": "to: NaN, or"}'):
        lines = jsonlines.Lines.of("\n".join([*rows, odd]).encode())

        assert jsonlines.read(lines)[0] is None


def test_shapes_in_turn_are_read_by_column():
    """Twelve shapes, lists of any length and nulls in place of objects leave no line to the parser."""
    shapes = [
        *({f"train/metric_{i}": 0.1234567890123, "step": 1} for i in range(10)),
        {"step": 2, "rewards": [0.5, 1.5], "val": None},
        {"step": 3, "rewards": [0.5] * 7, "val": {"acc": 1.5}},
    ]
    content = "".join(json_module.dumps(shape) + "\n" for _ in range(50) for shape in shapes)
    wide, left = jsonlines.read(jsonlines.Lines.of(content.encode()))

    assert wide is not None
    assert len(left) == 0
    assert wide.columns["rewards/6"].drop_nulls().to_list() == [0.5] * 50
    assert wide.columns["val/acc"].count() == 50


def test_settings_in_every_line_are_told_once_and_not_looked_at():
    """Lines that repeat their settings are read by column; the first settings are kept as the parser has them."""
    rows = [f'{{"step": {i}, "config": {{"lr": {i}.5, "x": [NaN, {{}}]}}, "loss": 1.5}}' for i in range(40)]
    wide, left = jsonlines.read(jsonlines.Lines.of("\n".join(rows).replace("NaN", "1e5").encode()))

    assert wide is not None
    assert (list(wide.columns), len(left)) == (["step", "loss"], 0)
    assert wide.settings == (0, {"lr": 0.5, "x": [1e5, {}]})


def test_damaged_lines_are_left_alone():
    """Of lines of which every fifth breaks off only these are left."""
    rows = [f'{{"step": {i}, "loss": {i}.5}}'[: 12 if i % 5 == 0 else None] for i in range(5000)]
    wide, left = jsonlines.read(jsonlines.Lines.of("\n".join(rows).encode()))

    assert wide is not None
    assert left.tolist() == list(range(0, 5000, 5))
    assert wide.columns["loss"].to_list() == [i + 0.5 for i in range(5000) if i % 5]

"""JSON lines decoded in bulk give the same tables as the parser, whatever the lines contain."""

import json as json_module
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.tables import json_reader, jsonlines

FIXTURE = [HealthCheck.function_scoped_fixture]


def both(tmp_path: Path, content: bytes) -> tuple[Tables, Tables]:
    """The tables of a file from the parser, and from bulk decoding."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(content)
    by_parser = Tables.concat(json_reader.read(path, min_lines=10**9))
    return by_parser, Tables.concat(json_reader.read(path, min_lines=1, chunk_lines=3))


def row_texts(tables: Tables) -> list[list[str]]:
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
def test_bulk_decoding_gives_the_tables_of_the_parser(tmp_path, content):
    """Points, gaps and config are equal: values to the bit, and each metric's points in order."""
    by_line, by_column = both(tmp_path, content)

    assert row_texts(by_column) == row_texts(by_line)


@settings(max_examples=60, suppress_health_check=FIXTURE, deadline=None)
@given(blocks(), st.data())
def test_damaged_bytes(tmp_path, content, data):
    """The two also agree where bytes were overwritten or lost."""
    raw = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(len(raw) - 1, 0)))
        raw[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b"\0", b'"', b",", b" ", b"\x1f", b"}"])
        )
    by_line, by_column = both(tmp_path, bytes(raw))

    assert row_texts(by_column) == row_texts(by_line)


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
def test_any_records(tmp_path, shapes, data):
    """Objects of any shapes, in any order, give the same values per line as json.loads, to the bit."""
    chunk_lines = data.draw(st.integers(1, 9))
    turns = data.draw(st.lists(st.sampled_from(shapes), min_size=1, max_size=20))
    path = tmp_path / "metrics.jsonl"
    rows = [json_module.dumps({"step": i, **shape}) for i, shape in enumerate(turns)]
    path.write_text("\n".join(rows) + "\n")
    expected = [
        (name[1:], line, repr(value))
        for line, row in enumerate(rows, 1)
        for name, value in numbers(json_module.loads(row), "")
        if name != "/step"
    ]
    tables = Tables.concat(json_reader.read(path, min_lines=1, chunk_lines=chunk_lines))
    found = tables.points.select("metric", "line", "value").rows()
    found = [(metric, line, repr(value)) for metric, line, value in found]

    assert sorted(expected, key=itemgetter(0, 1)) == sorted(found, key=itemgetter(0, 1))


def test_usual_lines_are_decoded_in_bulk():
    """Numbers, texts and nested objects of two alternating shapes leave no line to the parser."""
    train = b'{"mode": "train", "step": %d, "loss": {"a": NaN, "b": -0.5}}\n'
    val = b'{"mode": "val", "epoch": %d, "acc": null}\n'
    content = b"".join(line % i for i in range(100) for line in (train, val))
    wide, left = jsonlines.read(jsonlines.Lines.split(content))

    assert wide is not None
    assert (len(wide.rows), len(left)) == (200, 0)
    assert list(wide.columns) == ["mode", "step", "loss/a", "loss/b", "epoch"]
    assert wide.columns["mode"].to_list() == ["train", "val"] * 100
    assert wide.columns["epoch"].to_list()[:4] == [None, 0.0, None, 1.0]


def test_lines_that_do_not_fit_are_left():
    """A number that msgspec rejects is left to the parser; the values of the others are Python's floats."""
    texts = ["0.1", "9007199254740993", "123456789012345678901234567890", "5e-324", "-Infinity", "-0", "-0.0"] * 20
    content = "".join(f'{{"step": {i}, "x": {text}}}\n' for i, text in enumerate(texts)) + '{"step":7, "x": 1e400}\n'
    wide, left = jsonlines.read(jsonlines.Lines.split(content.encode()))

    assert wide is not None
    assert left.tolist() == [140]
    assert list(map(repr, wide.columns["x"])) == [repr(float(json_module.loads(text))) for text in texts]


def test_placeholders_that_were_in_the_data_before():
    """A NaN inside a text, or a number that equals a placeholder, leaves all lines to the parser."""
    rows = [f'{{"step": {i}, "x": NaN, "mode": "train"}}' for i in range(100)]
    for odd in ('{"step": 7, "x": 7000000000, "mode": "train"}', '{"step": 7, "x": 1, "mode": "to: NaN, or"}'):
        lines = jsonlines.Lines.split("\n".join([*rows, odd]).encode())

        assert jsonlines.read(lines)[0] is None


def test_alternating_shapes_are_decoded_in_bulk():
    """Twelve shapes, lists of any length and nulls in place of objects leave no line to the parser."""
    shapes = [
        *({f"train/metric_{i}": 0.1234567890123, "step": 1} for i in range(10)),
        {"step": 2, "rewards": [0.5, 1.5], "val": None},
        {"step": 3, "rewards": [0.5] * 7, "val": {"acc": 1.5}},
    ]
    content = "".join(json_module.dumps(shape) + "\n" for _ in range(50) for shape in shapes)
    wide, left = jsonlines.read(jsonlines.Lines.split(content.encode()))

    assert wide is not None
    assert len(left) == 0
    assert wide.columns["rewards/6"].drop_nulls().to_list() == [0.5] * 50
    assert wide.columns["val/acc"].count() == 50


def test_repeated_settings_are_kept_once():
    """Lines that repeat their settings are decoded in bulk; the first settings equal the parser's."""
    rows = [f'{{"step": {i}, "config": {{"lr": {i}.5, "x": [NaN, {{}}]}}, "loss": 1.5}}' for i in range(40)]
    wide, left = jsonlines.read(jsonlines.Lines.split("\n".join(rows).replace("NaN", "1e5").encode()))

    assert wide is not None
    assert (list(wide.columns), len(left)) == (["step", "loss"], 0)
    assert wide.settings == (0, {"lr": 0.5, "x": [1e5, {}]})


def test_damaged_lines_alone_are_left():
    """Where every fifth line breaks off, only these are left to the parser."""
    rows = [f'{{"step": {i}, "loss": {i}.5}}'[: 12 if i % 5 == 0 else None] for i in range(5000)]
    wide, left = jsonlines.read(jsonlines.Lines.split("\n".join(rows).encode()))

    assert wide is not None
    assert left.tolist() == list(range(0, 5000, 5))
    assert wide.columns["loss"].to_list() == [i + 0.5 for i in range(5000) if i % 5]
